"""Corruptions of signals in time, sets and tables: noise, lost steps, lost stretches of time, exchanged values.

MultiBench (Liang et al., NeurIPS 2021), appendix D.3. Optical flow, forces and proprioception are series too; sensors that
record at a higher frequency lose steps at a higher `rate`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Kind, seeds
from molyneux.data.imperfections.corruption import Corruption, ModalityBatch
from molyneux.data.imperfections.pixel_kernels import noisy
from molyneux.data.imperfections.texts import without_symbols

_IN_CACHE = 1 << 17
"""Random numbers that are drawn and used before the next, so that they stay in the processor's cache."""

_STEPS = "a whole number of steps, at least one step, got {}"


@final
@dataclass(frozen=True, kw_only=True)
class GaussianNoise(Corruption):
    """Independent normal noise on every value; images and videos are clamped to their range.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        scale: standard deviation at strength 1, in the units of the modality (images and videos: of their range 0 to 1); at
            strength s it is s times as large.

    Raises:
        ConfigError: a scale that is not above 0.
    """

    name: ClassVar[str] = "gaussian-noise"
    kinds: ClassVar[tuple[Kind, ...]] = ("audio", "image", "series", "set", "tabular", "video")

    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require({f"a scale above 0, got {self.scale}": 0.0 < self.scale < math.inf})

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        if part.is_bytes:
            count = math.prod(part.modality.shape)
            view, found, chunk = part.view.reshape(-1, count).numpy(), [], max(1, _IN_CACHE // count)
            for start in range(0, len(view), chunk):
                uniforms = seeds.uniforms(part.stream, part.indices[start : start + chunk], count + count % 2)
                found.append(noisy(view[start : start + chunk], uniforms, self.scale * strength))
            whole = np.concatenate(found) if found else np.empty_like(view)
            return torch.from_numpy(whole).reshape(part.view.shape), None
        noise = part.normals(*part.modality.shape).mul_(self.scale * strength)
        return part.restored(noise.add_(part.unit())), None


@final
@dataclass(frozen=True, kw_only=True)
class Dropout(Corruption):
    """Steps, symbols, elements and values are lost, each with the strength as its probability, independently of the others.

    A lost step of a series, of audio or of a video, and a lost value of a table hold zeros. A lost symbol of a text leaves no
    gap: the symbols after it follow the ones before, lengths shrink, and what comes free is filled with padding, or with `end`
    where a text has no padding. So does a lost element of a set that has lengths; of one without, it holds zeros.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        rate: the probability is the strength times this, at most 1.

    Raises:
        ConfigError: a rate that is not above 0.
    """

    name: ClassVar[str] = "dropout"
    kinds: ClassVar[tuple[Kind, ...]] = ("audio", "series", "set", "tabular", "text", "video")

    rate: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require({f"a rate above 0, got {self.rate}": 0.0 < self.rate < math.inf})

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        modality, axis = part.modality, part.modality.length_axis or 0
        lost = part.uniforms(modality.shape[axis]) < min(1.0, self.rate * strength)
        if modality.kind == "text":
            return without_symbols(self.name, part, lost)
        if modality.kind == "set" and part.lengths is not None:
            lost &= torch.arange(lost.shape[1]) < part.lengths.unsqueeze(1)
            order = lost.byte().argsort(dim=1, stable=True)
            return part.view.gather(1, order.unsqueeze(2).expand_as(part.view)), part.lengths - lost.sum(1)
        return _zeroed(part, lost), None


@final
@dataclass(frozen=True, kw_only=True)
class StructuredDropout(Corruption):
    """Stretches of steps are lost and hold zeros: time is cut into blocks, each lost with the strength as its probability.

    Where the first block begins is drawn for each sample. The expected share of lost steps is the strength; the published code
    begins a hole at every step with that probability, and loses several times as much.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        steps: length of a block.
        rate: the probability is the strength times this, at most 1.

    Raises:
        ConfigError: fewer than one step, or a rate that is not above 0.
    """

    name: ClassVar[str] = "structured-dropout"
    kinds: ClassVar[tuple[Kind, ...]] = ("audio", "series", "video")

    steps: int = 10
    rate: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        finite = 0.0 < self.rate < math.inf
        whole = isinstance(self.steps, int) and self.steps >= 1
        self._require({_STEPS.format(self.steps): whole, f"a finite rate above 0, got {self.rate}": finite})

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        length = part.modality.max_length
        drawn = part.uniforms(_blocks(length, self.steps) + 1)
        return _zeroed(part, _lost_blocks(drawn, length, self.steps, min(1.0, self.rate * strength))), None


@final
@dataclass(frozen=True, kw_only=True)
class TemporalDropout(Corruption):
    """The same moments are lost in all modalities that were recorded in parallel, and hold zeros.

    Time is cut into as many moments as has the modality with the fewest steps of those that are corrupted; a moment of another
    modality is its share of the steps. `steps` of them are one block, which is lost with the strength as its probability:
    temporal drop of appendix D.3.2 with one, structured temporal drop with more.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        steps: moments in a block.

    Raises:
        ConfigError: fewer than one step.
    """

    name: ClassVar[str] = "temporal-dropout"
    kinds: ClassVar[tuple[Kind, ...]] = ("audio", "series", "video")

    steps: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require({_STEPS.format(self.steps): isinstance(self.steps, int) and self.steps >= 1})

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        parallel = [one for one in part.spec.modalities if self.modalities is None or one.name in self.modalities]
        moments = min(one.max_length for one in parallel if self.fits(one))
        lost = _lost_blocks(part.shared_uniforms(_blocks(moments, self.steps) + 1), moments, self.steps, strength)
        return _zeroed(part, lost[:, torch.arange(part.modality.max_length) * moments // part.modality.max_length]), None


@final
@dataclass(frozen=True, kw_only=True)
class ValueSwap(Corruption):
    """Values of a table stand in the wrong columns: those hit, each with the strength as its probability, change places.

    They move round in a ring, in a random order; a single value that is hit in a sample stays where it is.
    """

    name: ClassVar[str] = "value-swap"
    kinds: ClassVar[tuple[Kind, ...]] = ("tabular",)

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        hit, order = part.uniforms(2, part.modality.shape[0]).unbind(1)
        chosen = hit < strength
        ring = torch.where(chosen, order, 2.0).argsort(dim=1)  # the columns that are hit in a random order, then the others
        count, places = chosen.sum(1, keepdim=True), torch.arange(ring.shape[1])
        following = torch.where(places < count - 1, places + 1, torch.where(places < count, 0, places))
        return part.view.scatter(1, ring, part.view.gather(1, ring.gather(1, following))), None


def _zeroed(part: ModalityBatch, lost: Tensor) -> Tensor:
    """The views with zeros at the lost steps (B, L) of their longest axis, or at the lost values of a table."""
    axis = part.modality.length_axis or 0
    shape = (len(lost), *(size if place == axis else 1 for place, size in enumerate(part.modality.shape)))
    return part.view.masked_fill(lost.reshape(shape), 0)


def _blocks(length: int, steps: int) -> int:
    """Blocks that steps may fall into, wherever the first begins."""
    return (length + steps - 2) // steps + 1


def _lost_blocks(drawn: Tensor, length: int, steps: int, probability: float) -> Tensor:
    """Which steps are lost, (B, length) bool, from one random number for the first block and one for each."""
    offset = (drawn[:, :1] * steps).long()
    return (drawn[:, 1:] < probability).gather(1, (torch.arange(length) + offset) // steps)
