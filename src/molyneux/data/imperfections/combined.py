"""Corruptions made of others: one after the other, one of several, and all modalities of a sample together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, final, get_args

import torch
from torch import Tensor

from molyneux.core import ConfigError, Kind, Modality, Spec, instances_problems
from molyneux.data.imperfections.corruption import Corruption, ModalityBatch
from molyneux.data.imperfections.signals import Dropout, GaussianNoise


@dataclass(frozen=True, kw_only=True)
class Combined(Corruption):
    """A corruption made of others. It applies to what one of these applies to, each of them to its own modalities."""

    kinds: ClassVar[tuple[Kind, ...]] = get_args(Kind)

    corruptions: tuple[Corruption, ...] = (GaussianNoise(), Dropout())

    def __post_init__(self) -> None:
        super().__post_init__()
        if problems := instances_problems(Corruption, corruptions=self.corruptions):
            raise ConfigError([f"{self.name}: {problem}" for problem in problems])
        self._require({f"at least one of the corruptions, got {self.corruptions}": bool(self.corruptions)})

    @property
    def title(self) -> str:
        """Its name, and the titles of its parts."""
        return f"{self.name} of {', '.join(corruption.title for corruption in self.corruptions)}"

    def fits(self, modality: Modality) -> bool:
        """Whether one of its corruptions applies to a modality."""
        return any(True for _ in self._parts(modality))

    def applicable(self, spec: Spec, strength: float) -> tuple[Modality, ...]:
        """See `Corruption.applicable`; names that its parts are given are checked too."""
        for corruption in self.corruptions:
            if corruption.modalities is not None:
                corruption.applicable(spec, strength)
        return super().applicable(spec, strength)

    def _parts(self, modality: Modality) -> Iterator[tuple[str, Corruption]]:
        """Those of its corruptions that apply to a modality, each with the name of its random numbers."""
        for number, corruption in enumerate(self.corruptions):
            named = corruption.modalities is None or modality.name in corruption.modalities
            if named and corruption.fits(modality):
                yield f"{number} {corruption.name}", corruption

    def _all(self, part: ModalityBatch, strength: float) -> ModalityBatch:
        """One modality after all corruptions that apply to it, one after the other."""
        found = part
        for name, corruption in self._parts(part.modality):
            own = replace(part.with_draws_of(name), view=found.view, lengths=found.lengths)
            view, lengths = corruption.change(own, strength)
            found = replace(found, view=view, lengths=found.lengths if lengths is None else lengths)
        return found


@final
@dataclass(frozen=True, kw_only=True)
class Chain(Combined):
    """Several corruptions one after the other, each of the same strength.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        corruptions: in their order.

    Raises:
        ConfigError: no corruptions.
    """

    name: ClassVar[str] = "chain"

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        found = self._all(part, strength)
        return found.view, found.lengths


@final
@dataclass(frozen=True, kw_only=True)
class Mixture(Combined):
    """One of several corruptions, drawn for each sample and modality with equal probability from those that fit.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        corruptions: one of these.

    Raises:
        ConfigError: no corruptions.
    """

    name: ClassVar[str] = "mixture"

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        parts = list(self._parts(part.modality))
        chosen = (part.uniforms(1)[:, 0] * len(parts)).long()
        found = part
        for number, (name, corruption) in enumerate(parts):
            rows = chosen == number
            if bool(rows.any()):
                found = _put(found, rows, *corruption.change(part.with_draws_of(name)[rows], strength))
        return found.view, found.lengths


@final
@dataclass(frozen=True, kw_only=True)
class Correlated(Combined):
    """All modalities of a sample are hit together, each sample with the strength as its probability.

    Correlated noise and correlated drop of MultiBench (Liang et al., NeurIPS 2021), appendix D.3.2: where a sample is hit, each
    modality gets the corruptions that fit it, one after the other.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        corruptions: what hits the samples.
        severity: strength of these in a sample that is hit.

    Raises:
        ConfigError: no corruptions, or a severity that is not above 0, up to 1.
    """

    name: ClassVar[str] = "correlated"

    severity: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require({f"a severity above 0, up to 1, got {self.severity}": 0.0 < self.severity <= 1.0})

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        hit = part.shared_uniforms(1)[:, 0] < strength
        if not bool(hit.any()):
            return part.view, part.lengths
        changed = self._all(part[hit], self.severity)
        found = _put(part, hit, changed.view, changed.lengths)
        return found.view, found.lengths


def _put(part: ModalityBatch, rows: Tensor, view: Tensor, lengths: Tensor | None) -> ModalityBatch:
    """A modality with the samples of a mask (B,) replaced."""
    views = part.view.clone()
    views[rows] = view
    if lengths is None:
        return replace(part, view=views)
    whole = torch.full((len(views),), part.modality.max_length) if part.lengths is None else part.lengths.clone()
    whole[rows] = lengths
    return replace(part, view=views, lengths=whole)
