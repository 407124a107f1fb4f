"""Samples by the value they carry, and draws from them without search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from molyneux.core import NotApplicableError
from molyneux.core.tooling.compiled import compiled
from molyneux.measure.disentanglement.table import CheckedCodes

_STILL = 1e-12
"""Spread of ranks (0..1) below which they are all alike."""


@dataclass(frozen=True)
class Groups:
    """The carriers of one factor, sorted by value.

    Args:
        name: of the factor.
        order: (n,) row numbers, those of value 0 first.
        counts: (V,) how many samples carry each value.
    """

    name: str
    order: np.ndarray
    counts: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """Where each value begins in `order`, (V,)."""
        return np.asarray(np.cumsum(self.counts) - self.counts)

    def values(self, count: int, rng: np.random.Generator, *, least: int = 1) -> np.ndarray:
        """Values of carriers drawn at random, (count,); only values that at least `least` samples carry."""
        weights = np.where(self.counts >= least, self.counts, 0)
        return np.asarray(rng.choice(len(weights), count, p=weights / weights.sum()))

    def sample(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Up to `count` distinct rows of any value, (n,)."""
        return rng.choice(self.order, min(len(self.order), count), replace=False)

    def batches(self, values: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
        """For each value up to `size` distinct rows that carry it, in random order: (M, size) int64, -1 where there are no more.

        Floyd's sampling (Bentley and Floyd 1987) and a shuffle.
        """
        rows = np.full((len(values), size), -1)
        _draw(self.order, self.starts, self.counts, values, rng.random((len(values), 2 * size)), rows)
        return rows

    def partners(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """For each value of an array of any shape one row that carries it."""
        picked = (rng.random(values.shape) * self.counts[values]).astype(np.int64)
        return np.asarray(self.order[self.starts[values] + picked])

    def stratified(self, samples: int, rng: np.random.Generator, *, metric: str) -> tuple[np.ndarray, np.ndarray]:
        """Rows and values of round(samples x share of the value) distinct samples of each value, sorted by value.

        As the text study draws "10,000 samples": in random order within a value.

        Raises:
            NotApplicableError: fewer samples than that carry the factor.
        """
        carried = int(self.counts.sum())
        wanted = np.round(samples * self.counts / carried).astype(np.int64)
        if (wanted > self.counts).any():
            raise NotApplicableError(
                f"{metric} draws {samples:,} samples that have the factor {self.name}, got {carried:,}: "
                f"give more samples or use the recommended variant"
            )
        values = np.repeat(np.arange(len(self.counts)), wanted)
        kept = [self.batches(np.array([value]), int(count), rng)[0] for value, count in enumerate(wanted) if count]
        return np.concatenate(kept), values


def group(table: CheckedCodes, factor: int, half: np.ndarray | None = None) -> Groups:
    """The carriers of a factor by value, of all samples or those where `half` (N,) is True."""
    # Few values are sorted by radix, ten times as fast, if they come as small integers.
    labels: np.ndarray = table.factors[:, factor].astype(np.int16 if max(table.values) < 2**15 else np.int32)
    if half is not None:
        labels[~half] = -1
    order = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    counts = np.bincount(labels[order], minlength=table.values[factor])
    return Groups(table.names[factor], order, counts)


def ratios(drawn: np.ndarray, usual: np.ndarray, anywhere: Callable[[], np.ndarray]) -> np.ndarray:
    """What was found in batches over what is usual among carriers, (M, D).

    Where the carriers of a factor all have the same code, the dimension tells nothing of the value: the ratio in batches of any
    samples stands in.

    Args:
        drawn: (M, D) in batches that share a value.
        usual: (D,) among carriers.
        anywhere: gives (M, D), the ratio in batches of any samples over what is usual among all.
    """
    varies = usual > _STILL
    return relative(drawn, usual) if varies.all() else np.where(varies, relative(drawn, usual), anywhere())


def relative(found: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """What was found (M, D) over what is usual (D,), 1 where nothing varies."""
    varies = usual > _STILL
    return np.asarray(np.where(varies, found / np.where(varies, usual, 1.0), 1.0))


def halves(count: int, rng: np.random.Generator) -> np.ndarray:
    """A random half of the samples, (count,) bool: what is fitted on one half is scored on the other."""
    half = np.zeros(count, bool)
    half[rng.permutation(count)[: count // 2]] = True
    return half


@compiled
def _draw(
    order: np.ndarray, starts: np.ndarray, counts: np.ndarray, values: np.ndarray, uniforms: np.ndarray, rows: np.ndarray
) -> None:
    size = rows.shape[1]
    for row in range(len(values)):
        start, count = starts[values[row]], counts[values[row]]
        some = min(size, count)
        for place in range(some):
            last = count - some + place
            pick = int(uniforms[row, place] * (last + 1))
            for before in range(place):
                if rows[row, before] == pick:
                    pick = last
                    break
            rows[row, place] = pick
        for place in range(some - 1, 0, -1):
            other = int(uniforms[row, size + place] * (place + 1))
            kept = rows[row, place]
            rows[row, place] = rows[row, other]
            rows[row, other] = kept
        for place in range(some):
            rows[row, place] = order[start + rows[row, place]]
