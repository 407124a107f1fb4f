"""Running means of the terms of a loss, and the guard against numbers that are none."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from molyneux.core import Loss


class Meter:
    """Means over the samples seen since the last `reset`, without waiting for the device."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._sums: dict[tuple[str, ...], Tensor] = {}
        self._counts: dict[tuple[str, ...], int] = {}

    def add(self, names: tuple[str, ...], values: Tensor, samples: int) -> None:
        """Count the terms `values` (T,) of a batch, which may have other terms than the batches before."""
        weighted = values * samples
        self._sums[names] = self._sums[names] + weighted if names in self._sums else weighted
        self._counts[names] = self._counts.get(names, 0) + samples

    @property
    def samples(self) -> int:
        """Samples seen."""
        return sum(self._counts.values())

    def means(self) -> dict[str, float]:
        """Mean of every term over the samples whose batch had it."""
        totals: dict[str, float] = {}
        counts: dict[str, int] = {}
        for names, sums in self._sums.items():
            for name, value in zip(names, sums.tolist(), strict=True):
                totals[name] = totals.get(name, 0.0) + value
                counts[name] = counts.get(name, 0) + self._counts[names]
        return {name: totals[name] / counts[name] for name in totals}


def flatten(loss: Loss) -> tuple[tuple[str, ...], Tensor]:
    """Names and detached values (T,) of a loss: its terms, after the total, which is called `loss`."""
    values = torch.stack([value.detach().double() for value in (loss.total, *loss.terms.values())])
    return ("loss", *loss.terms), values


def broken_term(names: tuple[str, ...], values: Tensor) -> str | None:
    """The term that is NaN or infinite, None where all are numbers. Terms are named before the total they spoil."""
    if bool(values.isfinite().all()):
        return None
    broken = [name for name, value in zip(names, values.tolist(), strict=True) if not math.isfinite(value)]
    return broken[-1] if broken[0] == "loss" and len(broken) > 1 else broken[0]
