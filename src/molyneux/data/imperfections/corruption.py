"""The contract of a corruption, and the source of corrupted samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, ConfigError, Kind, Modality, Source, Spec, nearest, seeds
from molyneux.data.dataset import check_positions
from molyneux.data.sources import DerivedSource


@dataclass(frozen=True, kw_only=True)
class Corruption(ABC):
    """A change of samples for the worse, of a strength from 0 (none) to 1.

    What becomes of a sample is a function of the sample, its number, the strength and the seed alone: any slice, in any order, is
    corrupted in the same way. At strength 0 no byte changes. Presence, targets and causes are never touched; what a sample
    holds where a modality is missing, or beyond its length, means nothing and may change.

    Args:
        modalities: which ones are corrupted; by default all whose kind the corruption applies to.

    Raises:
        ConfigError: an empty list of modalities: nothing would be corrupted.
    """

    name: ClassVar[str]
    """Of the corruption, as in `Score.about`."""

    kinds: ClassVar[tuple[Kind, ...]]
    """Kinds of modality that it applies to."""

    modalities: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.modalities is not None and not self.modalities:
            raise ConfigError(f"{self.name}: expected at least one of the modalities, got none: leave the setting out for all")

    @abstractmethod
    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """The views (B, *shape) of one modality as they are stored, corrupted, and their lengths (B,) if they have any.

        Args:
            part: one modality of the samples; its tensors must not be changed in place.
            strength: above 0, up to 1.
        """

    def corrupt(self, batch: Batch, spec: Spec, strength: float, indices: np.ndarray, seed: int) -> Batch:
        """The corrupted samples.

        What is drawn for each is decided by `seed` and by the `indices` (B,), the numbers of the samples; errors as `applicable`.
        """
        chosen = self.applicable(spec, strength)
        if strength == 0.0:
            return batch
        views, lengths = dict(batch.views), dict(batch.lengths)
        for modality in chosen:
            stream = seeds.key(seed, "corruption", self.name, modality.name)
            part = ModalityBatch(modality, views[modality.name], lengths.get(modality.name), stream, np.asarray(indices))
            views[modality.name], changed = self.change(part, strength)
            if changed is not None:
                lengths[modality.name] = changed
        return replace(batch, views=views, lengths=lengths)

    def applicable(self, spec: Spec, strength: float) -> tuple[Modality, ...]:
        """The modalities that are corrupted.

        Raises:
            ConfigError: a strength outside 0 to 1, a modality is named that is not there or is of another kind, or none fits.
        """
        if not 0.0 <= strength <= 1.0:
            raise ConfigError(f"{self.name}: expected a strength from 0 to 1, got {strength}")
        fitting = tuple(modality for modality in spec.modalities if modality.kind in self.kinds)
        if self.modalities is None:
            if not fitting:
                kinds = ", ".join(f"{modality.name} ({modality.kind})" for modality in spec.modalities)
                raise ConfigError(f"{self.name}: expected a modality of kind {' or '.join(self.kinds)}, got {kinds}")
            return fitting
        names = [modality.name for modality in fitting]
        if problems := [
            f"{self.name}: no modality {name!r} of kind {' or '.join(self.kinds)}; {nearest(name, names)}"
            for name in self.modalities
            if name not in names
        ]:
            raise ConfigError(problems)
        return tuple(modality for modality in fitting if modality.name in self.modalities)


@dataclass(frozen=True)
class ModalityBatch:
    """One modality of a batch, and the random numbers for it, of the key `stream`.

    `view` is (B, *shape) as stored, `lengths` (B,) int64 where samples have them, and `indices` (B,) the numbers of the samples.
    """

    modality: Modality
    view: Tensor
    lengths: Tensor | None
    stream: np.ndarray
    indices: np.ndarray

    def uniforms(self, *shape: int) -> Tensor:
        """Numbers of [0, 1) for each sample, (B, *shape) float64; those of a sample depend on its number and the stream alone."""
        drawn = seeds.uniforms(self.stream, self.indices, int(np.prod(shape)))
        return torch.from_numpy(drawn).reshape(-1, *shape)

    def normals(self, *shape: int) -> Tensor:
        """Standard normal numbers for each sample, (B, *shape) float64 (Box and Muller, 1958)."""
        count = int(np.prod(shape))
        drawn = self.uniforms((count + 1) // 2, 2)
        radius, angle = torch.sqrt(-2.0 * torch.log1p(-drawn[..., 0])), 2.0 * torch.pi * drawn[..., 1]
        pairs = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], -1).flatten(1)
        return pairs[:, :count].reshape(-1, *shape)


class Corrupted(DerivedSource):
    """The samples of a source under a corruption of a strength from 0 to 1; errors as `Corruption.applicable`."""

    def __init__(self, source: Source, corruption: Corruption, strength: float, *, seed: int) -> None:
        corruption.applicable(source.spec, strength)
        record = {"name": corruption.name, **asdict(corruption)}
        record["modalities"] = None if corruption.modalities is None else list(corruption.modalities)
        super().__init__(source, corruption=record, strength=strength, seed=seed)
        self.corruption, self.strength, self.seed = corruption, strength, seed

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        rows = check_positions(indices, len(self))
        return self.corruption.corrupt(self.source.batch(rows), self.spec, self.strength, rows, self.seed)
