"""Who is averaged in a ghost: drawn groups of samples that agree in some factors and lie within drawn windows of nuisances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

FEWEST, MOST = 2, 64
"""Members of one mean."""

_CANDIDATES = 768
"""Drawn members of a group, of which the nearest are taken."""

_ROWS = 512
_NEAR = 2.0


@dataclass(frozen=True)
class Recipe:
    """How members are drawn.

    Args:
        name: as it stands in a judge's record.
        mixed: how many factors the members may differ in, from and to.
        wide: probability that a nuisance has a drawn window; else its members are as near as can be found.
    """

    name: str
    mixed: tuple[int, int]
    wide: float


RECAST = Recipe("recast", (0, 1), 0.7)
RECIPES = (Recipe("smeared", (0, 0), 0.8), Recipe("mixed", (1, 1), 0.3), Recipe("several", (1, 9), 0.6))


def draw_members(
    codes: Mapping[str, np.ndarray], factors: Sequence[str], *, recipe: Recipe, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Members (count, 64), positions in the source, and their weights (count, 64), which add up to 1.

    Unused places have weight 0 and stand at the end.

    Args:
        codes: by factor, (N,) codes of the source.
        factors: the names that judges read; all others are nuisances.
        recipe: how members are drawn.
        count: how many means.
        rng: draws them.
    """
    free = _free(len(factors), recipe, count, rng)
    nuisances = [name for name in codes if name not in factors]
    widths = _widths([np.ptp(codes[name]) + 1 for name in nuisances], recipe, count, rng)
    members = np.empty((count, MOST), np.int64)
    for pattern in np.unique(free, axis=0):
        rows = np.flatnonzero((free == pattern).all(1))
        agree = [codes[name] for name, loose in zip(factors, pattern, strict=True) if not loose]
        loose = [codes[name] for name, loose in zip(factors, pattern, strict=True) if loose]
        carried = [any(_carries(codes[name], column) for column in loose) for name in nuisances]
        here = np.where(carried, np.inf, widths[rows])
        groups = _Groups(agree, len(next(iter(codes.values()))))
        places = np.stack([codes[name] for name in nuisances], 1) if nuisances else np.zeros((groups.count, 0))
        for start in range(0, len(rows), _ROWS):
            part = slice(start, start + _ROWS)
            members[rows[part]] = _nearest(groups, places, here[part], rng)
    return members, _weights(count, rng)


class _Groups:
    """Samples that agree."""

    def __init__(self, agree: Sequence[np.ndarray], count: int) -> None:
        self.count = count
        self.order = np.lexsort(agree) if agree else np.arange(count)
        changes = [column[self.order][1:] != column[self.order][:-1] for column in agree]
        starts = np.flatnonzero(np.r_[True, np.logical_or.reduce(changes)]) if changes else np.array([0])
        sizes = np.diff(np.r_[starts, count])
        self.start, self.size = np.repeat(starts, sizes), np.repeat(sizes, sizes)

    def draw(self, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Anchors (rows,), others of their groups (rows, 768), and whether these are repeated, because a group is small."""
        place = rng.integers(self.count, size=rows)
        start, size = self.start[place, None], self.size[place, None]
        steps = place[:, None] - start + rng.integers(self.count, size=(rows, 1)) + np.arange(_CANDIDATES)
        others = self.order[start + steps % size]
        return self.order[place], others, (np.arange(_CANDIDATES) >= size) | (others == self.order[place][:, None])


def _nearest(groups: _Groups, places: np.ndarray, widths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An anchor and 63 others of its group, those inside of the windows around it first, (rows, 64)."""
    anchor, others, repeated = groups.draw(len(widths), rng)
    apart = np.zeros(others.shape)
    for column in range(places.shape[1]):
        away = np.abs(places[others, column] - places[anchor, column][:, None])
        apart = np.maximum(apart, 2 * away / widths[:, column, None])
    apart = np.where(apart > 1, apart, rng.random(others.shape))  # inside of all windows any is as good
    apart[repeated] = np.inf
    chosen = np.argpartition(apart, MOST - 1, axis=1)[:, : MOST - 1]
    ordered = np.take_along_axis(chosen, np.take_along_axis(apart, chosen, 1).argsort(1), 1)
    return np.concatenate([anchor[:, None], np.take_along_axis(others, ordered, 1)], 1)


def _free(factors: int, recipe: Recipe, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, factors) whether the members may differ in a factor."""
    low, high = (min(number, factors) for number in recipe.mixed)
    many = rng.integers(low, high + 1, count)
    return rng.random((count, factors)).argsort(1).argsort(1) < many[:, None]


def _widths(ranges: Sequence[int], recipe: Recipe, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, nuisances) windows, half of them the whole range or wider, which leaves it free."""
    drawn = _NEAR * (2 * np.array(ranges) / _NEAR) ** rng.random((count, len(ranges)))
    return np.where(rng.random(drawn.shape) < recipe.wide, drawn, _NEAR)


def _weights(count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, 64): 2 to 64 members, half of the time at most 5; equal weights, or drawn ones (Dirichlet)."""
    sizes = (FEWEST * (MOST / FEWEST) ** rng.random(count) ** 2 + 0.5).astype(np.int64)
    alike = rng.random(count) < 0.5
    drawn = np.where(alike[:, None], 1.0, rng.gamma(rng.choice([0.5, 1.0, 4.0], count)[:, None], size=(count, MOST)) + 1e-6)
    drawn *= np.arange(MOST) < sizes[:, None]
    weights: np.ndarray = drawn / drawn.sum(1, keepdims=True)
    return weights


def _carries(nuisance: np.ndarray, factor: np.ndarray) -> bool:
    """Whether some values of the factor share no code of the nuisance: then it has to vary with the factor."""
    table = np.zeros((factor.max() + 1, nuisance.max() + 1), np.int64)
    np.add.at(table, (factor, nuisance), 1)
    seen = (table[table.any(1)] > 0).astype(np.int64)
    return bool((seen @ seen.T == 0).any())
