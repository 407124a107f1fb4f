"""Means of the terms of several losses, counted for all trainings at once."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from molyneux.learn.training.steps import Meter

__all__ = ["StackedMeters"]


class StackedMeters:
    """Adds to the meters of N trainings what they would add themselves; their sums are parts of one tensor until `close`."""

    def __init__(self, meters: Sequence[Meter]) -> None:
        self._meters = meters
        self._wholes: dict[tuple[str, ...], tuple[Tensor, list[Tensor]]] = {}

    def add(self, names: tuple[str, ...], values: Tensor, samples: int) -> None:
        """Count the terms `values` (N, T) of batches of so many samples."""
        found = [meter.counted(names) for meter in self._meters]
        whole, parts = self._wholes.get(names, (None, []))
        if whole is None or any(item is None or item[0] is not part for item, part in zip(found, parts, strict=True)):
            zero = torch.zeros_like(values[0])
            whole = torch.stack([zero if item is None else item[0] for item in found])
            parts = list(whole)
            self._wholes[names] = whole, parts
        whole += values * samples
        for meter, item, part in zip(self._meters, found, parts, strict=True):
            meter.set(names, part, samples + (0 if item is None else item[1]))

    def close(self) -> None:
        """Give every meter sums of its own."""
        for meter in self._meters:
            meter.own()
        self._wholes = {}
