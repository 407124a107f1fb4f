"""The contract of a corruption, and the source of corrupted samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, ConfigError, Kind, Modality, Source, Spec, nearest, seeds, text_problems
from molyneux.core.elementary import normals
from molyneux.core.sources import DerivedSource, check_positions


@dataclass(frozen=True, kw_only=True)
class Corruption(ABC):
    """A change of samples for the worse, of a strength from 0 (none) to 1.

    What becomes of a sample is a function of the sample, its number, the strength and the seed alone: any slice, in any order, is
    corrupted in the same way. At strength 0 no byte changes. Presence, targets and causes are never touched; what a sample
    holds where a modality is missing, or beyond its length, means nothing and may change.

    Args:
        modalities: which ones are corrupted; by default all that the corruption applies to.

    Raises:
        ConfigError: an empty list of modalities: nothing would be corrupted.
    """

    name: ClassVar[str]
    """Of the corruption, as in `Score.about`."""

    kinds: ClassVar[tuple[Kind, ...]]
    """Kinds of modality that it applies to."""

    modalities: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if problems := text_problems(modalities=self.modalities):
            raise ConfigError([f"{self.name}: {problem}" for problem in problems])
        if self.modalities is not None and not self.modalities:
            raise ConfigError(f"{self.name}: expected at least one of the modalities, got none: leave the setting out for all")

    @property
    def title(self) -> str:
        """What tells it from others in `Score.about`: its name, and those of its parts where it has some."""
        return self.name

    @abstractmethod
    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """The views (B, *shape) of one modality as they are stored, corrupted, and their lengths (B,) if they have any.

        Args:
            part: one modality of the samples; its tensors must not be changed in place.
            strength: above 0, up to 1.
        """

    def fits(self, modality: Modality) -> bool:
        """Whether it applies to a modality: to one of its `kinds`, unless a corruption says more."""
        return modality.kind in self.kinds

    def corrupt(self, batch: Batch, spec: Spec, strength: float, indices: np.ndarray, seed: int) -> Batch:
        """The corrupted samples.

        What is drawn for each is decided by `seed` and by the `indices` (B,), the numbers of the samples; errors as `applicable`.
        """
        chosen = self.applicable(spec, strength)
        if strength == 0.0:
            return batch
        views, lengths = dict(batch.views), dict(batch.lengths)
        shared = seeds.key(seed, "corruption", self.name)
        for modality in chosen:
            stream = seeds.key(seed, "corruption", self.name, modality.name)
            view, length = views[modality.name], lengths.get(modality.name)
            part = ModalityBatch(modality, view, length, stream, np.asarray(indices), spec, shared)
            views[modality.name], changed = self.change(part, strength)
            if changed is not None:
                lengths[modality.name] = changed
        return replace(batch, views=views, lengths=lengths)

    def applicable(self, spec: Spec, strength: float) -> tuple[Modality, ...]:
        """The modalities that are corrupted.

        Raises:
            ConfigError: a strength outside 0 to 1, a modality is named that is not there or does not fit, or none fits.
        """
        if not (isinstance(strength, Real) and 0.0 <= strength <= 1.0):
            raise ConfigError(f"{self.name}: expected a strength from 0 to 1, got {strength!r}")
        fitting = tuple(modality for modality in spec.modalities if self.fits(modality))
        if self.modalities is None:
            if not fitting:
                kinds = ", ".join(f"{modality.name} ({modality.kind})" for modality in spec.modalities)
                raise ConfigError(f"{self.name}: expected a modality of kind {' or '.join(self.kinds)} that fits, got {kinds}")
            return fitting
        names = [modality.name for modality in fitting]
        if problems := [
            f"{self.name}: no modality {name!r} of kind {' or '.join(self.kinds)} that fits; {nearest(name, names)}"
            for name in self.modalities
            if name not in names
        ]:
            raise ConfigError(problems)
        return tuple(modality for modality in fitting if modality.name in self.modalities)

    @property
    def record(self) -> Mapping[str, Any]:
        """Name and settings as plain data, for the origin of samples."""
        return {"name": self.name, **{item.name: _plain(getattr(self, item.name)) for item in fields(self)}}

    def _require(self, problems: Mapping[str, bool]) -> None:
        """Raise ConfigError with the sentences whose condition is not met."""
        if found := [f"{self.name}: expected {sentence}" for sentence, met in problems.items() if not met]:
            raise ConfigError(found)


def _plain(value: Any) -> Any:
    if isinstance(value, Corruption):
        return value.record
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


@dataclass(frozen=True)
class ModalityBatch:
    """One modality of a batch, and the random numbers for it.

    Args:
        modality: which one.
        view: (B, *shape) as stored.
        lengths: (B,) int64 where samples have them.
        stream: key of the random numbers of this modality.
        indices: (B,) the numbers of the samples.
        spec: of the whole samples.
        shared: key of the random numbers that all modalities of a sample share.
    """

    modality: Modality
    view: Tensor
    lengths: Tensor | None
    stream: np.ndarray
    indices: np.ndarray
    spec: Spec
    shared: np.ndarray

    def uniforms(self, *shape: int) -> Tensor:
        """Numbers of [0, 1) for each sample, (B, *shape) float64; those of a sample depend on its number and the stream alone."""
        drawn = seeds.uniforms(self.stream, self.indices, int(np.prod(shape)))
        return torch.from_numpy(drawn).reshape(-1, *shape)

    def shared_uniforms(self, *shape: int) -> Tensor:
        """As `uniforms`, the same for all modalities of a sample."""
        drawn = seeds.uniforms(self.shared, self.indices, int(np.prod(shape)))
        return torch.from_numpy(drawn).reshape(-1, *shape)

    def normals(self, *shape: int) -> Tensor:
        """Standard normal numbers for each sample, (B, *shape) float64 (Box and Muller, 1958)."""
        count = int(np.prod(shape))
        drawn = seeds.uniforms(self.stream, self.indices, count + count % 2)
        return torch.from_numpy(normals(drawn)[:, :count]).reshape(-1, *shape)

    def with_draws_of(self, name: str) -> ModalityBatch:
        """The same with random numbers of their own, for a part of a corruption; `name` tells the parts apart."""
        stream, shared = (seeds.key(int(key[0]), name) for key in (self.stream, self.shared))
        return replace(self, stream=stream, shared=shared)

    def __getitem__(self, rows: Tensor) -> ModalityBatch:
        """The samples where the mask `rows` (B,) is True."""
        lengths = None if self.lengths is None else self.lengths[rows]
        return replace(self, view=self.view[rows], lengths=lengths, indices=self.indices[rows.numpy()])

    def unit(self) -> Tensor:
        """The views as float64, those of images and videos that are stored as bytes in 0..1."""
        return self.view.double() / 255.0 if self.is_bytes else self.view.double()

    def restored(self, values: Tensor) -> Tensor:
        """Values of `unit` as they are stored, (B, *shape).

        Images and videos are clamped to their range. One whose stored values leave 0..1, such as an optical flow or a depth, has
        no range and is not clamped.
        """
        modality = self.modality
        if self._is_picture and modality.dtype == "uint8":
            values = values.clamp(0.0, 1.0) * 255.0
        elif self._is_picture:
            low, high = self.view.flatten(1).aminmax(dim=1)
            inside = ((low >= 0.0) & (high <= 1.0)).reshape(-1, *[1] * len(modality.shape))
            values = torch.where(inside, values.clamp(0.0, 1.0), values)
        if modality.dtype == "uint8":
            return values.clamp(0.0, 255.0).round().to(torch.uint8)
        return values.round().long() if modality.dtype == "int64" else values.float()

    @property
    def is_bytes(self) -> bool:
        """Whether these are images or videos stored as bytes."""
        return self._is_picture and self.view.dtype == torch.uint8

    @property
    def _is_picture(self) -> bool:
        return self.modality.kind in ("image", "video")


class Corrupted(DerivedSource):
    """The samples of a source under a corruption of a strength from 0 to 1; errors as `Corruption.applicable`."""

    def __init__(self, source: Source, corruption: Corruption, strength: float, *, seed: int) -> None:
        corruption.applicable(source.spec, strength)
        super().__init__(source, corruption=corruption.record, strength=strength, seed=seed)
        self.corruption, self.strength, self.seed = corruption, strength, seed

    @property
    def fetch_size(self) -> None:
        """None: corruptions compute in 64 bits, and large batches of pictures would take much memory."""

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        rows = check_positions(indices, len(self))
        return self.corruption.corrupt(self.source.batch(rows), self.spec, self.strength, rows, self.seed)
