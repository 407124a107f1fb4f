"""Batches of samples, and the sources that yield them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from molyneux.core.errors import SpecError
from molyneux.core.spec import Spec

_TORCH = {"float32": torch.float32, "int64": torch.int64, "uint8": torch.uint8}


@dataclass(frozen=True)
class Batch:
    """Samples, whole batches at once.

    Args:
        views: one tensor per modality, (B, *modality.shape), as stored (images uint8 0..255, text ids).
        present: per modality a boolean mask (B,); a modality without a mask is present in every sample. What lies in
            `views` where the mask is False means nothing and is never read.
        factors: (B, F) int64 codes in the order of `Spec.factors`; -1 means absent.
        target: (B, ...) what a predictor has to say.
    """

    views: Mapping[str, Tensor]
    present: Mapping[str, Tensor] = field(default_factory=dict)
    factors: Tensor | None = None
    target: Tensor | None = None

    def __len__(self) -> int:
        return len(next(iter(self.views.values())))

    def __getitem__(self, index: slice | Tensor) -> Batch:
        """The samples at `index` (a slice, integer positions or a boolean mask)."""
        return Batch(
            {name: view[index] for name, view in self.views.items()},
            {name: mask[index] for name, mask in self.present.items()},
            None if self.factors is None else self.factors[index],
            None if self.target is None else self.target[index],
        )

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on a device."""
        return Batch(
            {name: view.to(device, non_blocking=True) for name, view in self.views.items()},
            {name: mask.to(device, non_blocking=True) for name, mask in self.present.items()},
            None if self.factors is None else self.factors.to(device, non_blocking=True),
            None if self.target is None else self.target.to(device, non_blocking=True),
        )

    def mask(self, name: str) -> Tensor:
        """Presence of a modality, (B,) bool."""
        if name in self.present:
            return self.present[name]
        view = self.views[name]
        return torch.ones(len(view), dtype=torch.bool, device=view.device)

    def observe(self, names: Collection[str]) -> Batch:
        """The same samples with only the modalities `names` observed; the others are masked, not removed."""
        masked = {name: torch.zeros_like(self.mask(name)) for name in self.views if name not in names}
        return replace(self, present={**self.present, **masked})

    def check(self, spec: Spec) -> Batch:
        """Return self if it fits `spec`; raise SpecError naming both sides otherwise."""
        size = len(self)
        for modality in spec.modalities:
            if modality.name not in self.views:
                raise SpecError(f"expected modality {modality.name}, got only {', '.join(self.views)}")
            view = self.views[modality.name]
            expected = (size, *modality.shape)
            if tuple(view.shape) != expected or view.dtype != _TORCH[modality.dtype]:
                got = f"{view.dtype} {tuple(view.shape)}"
                raise SpecError(f"modality {modality.name}: expected {modality.dtype} {expected}, got {got}")
        if self.factors is not None and tuple(self.factors.shape) != (size, len(spec.factors)):
            raise SpecError(f"expected factors {(size, len(spec.factors))}, got {tuple(self.factors.shape)}")
        return self


@runtime_checkable
class Source(Protocol):
    """Anything that yields batches. Whole batches are fetched at once; there is no per-sample path."""

    @property
    def spec(self) -> Spec:
        """What a batch looks like."""
        ...

    def __len__(self) -> int:
        """Number of samples."""
        ...

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions, (B,) integers in [0, len), any order, repeats allowed."""
        ...
