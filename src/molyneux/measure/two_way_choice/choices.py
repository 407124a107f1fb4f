"""Choices between two things, by distances: how often the right one is nearer, for each pair of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from molyneux.core.intervals import resampled_values
from molyneux.measure.scores import mean_interval, percentiles

Distance = Literal["cosine", "euclidean"]


@dataclass(frozen=True)
class Side:
    """Things in one sense: those that are given, or those to choose from.

    Args:
        values: (n,) codes of the factor that is asked about.
        kin: (n,) codes of the factor in which pairs of values agree; empty where there is none.
        numbers: (n,) of the samples in their source.
        codes: by whose they are, (n, D) each: of the model, and of its controls.
    """

    values: np.ndarray
    kin: np.ndarray
    numbers: np.ndarray
    codes: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: slice | np.ndarray) -> Side:
        """The things at `index`."""
        kin = self.kin[index] if len(self.kin) else self.kin
        return Side(self.values[index], kin, self.numbers[index], {name: part[index] for name, part in self.codes.items()})


def distances(one: np.ndarray, other: np.ndarray, kind: Distance = "euclidean") -> np.ndarray:
    """Distances (n, m) of codes (n, D) and (m, D), in an unknown unit: Euclidean, squared, or 1 minus the cosine.

    They are rounded to 9 digits: the others depend on the processor.
    """
    if kind == "cosine":
        one, other = (codes / np.maximum(np.linalg.norm(codes, axis=1, keepdims=True), 1e-12) for codes in (one, other))
        return np.asarray((1.0 - one @ other.T).round(9))
    squares = (one**2).sum(1)[:, None] + (other**2).sum(1) - 2.0 * one @ other.T
    largest = float(squares.max(initial=0.0))
    return np.asarray((squares / largest).round(9) if largest > 0 else squares)


def two_way_choices(
    away: np.ndarray, given: np.ndarray, choices: np.ndarray, *, same: np.ndarray | None = None
) -> np.ndarray | None:
    """How often the right one of two things is chosen, for each pair of values, (K, K) of 0..1; None without two values.

    Row and column are the value that is given and that of the wrong thing, in the order of the values; NaN where there is no
    such choice, as on the diagonal.

    Args:
        away: (n, m) distances of things that are given and things to choose from.
        given: (n,) codes of the values of the things that are given.
        choices: (m,) of those to choose from.
        same: (n, m) bool, what is the same sample in both senses, and so no right choice.
    """
    values = np.unique(np.concatenate([given, choices]))
    found = np.full((len(values), len(values)), np.nan)
    for row, value in enumerate(values):
        own, right = np.flatnonzero(given == value), choices == value
        parts = [
            _share(away[place, right if same is None else right & ~same[place]], away[place], choices, values) for place in own
        ]
        kept = [part for part in parts if part is not None]
        if kept:
            found[row] = np.mean(kept, 0)
            found[row, row] = np.nan
    return found if np.isfinite(found).any() else None


def _share(right: np.ndarray, away: np.ndarray, choices: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """Of one thing, by the value of the wrong one, (K,): how often a right one is nearer, ties half; None without a right one."""
    if not len(right):
        return None
    ordered = np.sort(right)
    nearer, not_farther = (np.searchsorted(ordered, away, side) for side in ("left", "right"))
    wins = (nearer + not_farther) / (2.0 * len(right))
    place, counts = np.searchsorted(values, choices), np.bincount(np.searchsorted(values, choices), minlength=len(values))
    total = np.bincount(place, wins, minlength=len(values))
    return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)


def pairs_interval(right: np.ndarray, rng: np.random.Generator) -> tuple[float, float] | None:
    """The 95 % interval, in %, of the mean of shares (K, K) of pairs of values, for new values and new samples of them."""
    known = np.isfinite(right)
    if known.any(1).sum() and known.sum(1).max() <= 1:  # each value is asked with one other: pairs are resampled as wholes
        both = np.where(known, right, 0.0) + np.where(known.T, right.T, 0.0)
        pairs = known.astype(int) + known.T
        return mean_interval(100.0 * (both[np.triu(pairs > 0)] / pairs[np.triu(pairs > 0)]), rng, (0.0, 100.0))
    means = 100.0 * resampled_values(np.where(known, right, 0.0), known, rng)
    found = percentiles(means) if len(means) else None
    each = 100.0 * np.array([row[np.isfinite(row)].mean() for row in right if np.isfinite(row).any()])
    return mean_interval(each, rng, (0.0, 100.0)) if found is None else found


def among(right: np.ndarray, kin: np.ndarray) -> np.ndarray | None:
    """Shares (K, K) of pairs of values that are alike, NaN for all others; None where there is none."""
    found = np.where(kin, right, np.nan)
    return found if np.isfinite(found).any() else None


def percent_right(right: np.ndarray | None) -> float | None:
    """The mean of shares (K, K) over the pairs of values that were asked, in %; None where none was."""
    return None if right is None else 100.0 * float(right[np.isfinite(right)].mean())
