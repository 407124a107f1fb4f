"""Blends: means of views with labels that say which factors they still show, to train judges to abstain.

A model that does not know a factor generates the mean of the views it might have to generate. Such a mean shows no value of
the factor, but a classifier that must choose often chooses "correctly": the mean of a square over all rotations is a disc,
which looks least like a heart. Judges are trained on such means, with the label `UNREADABLE` for what they do not show and
the true label for what they show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from molyneux.core import SAMPLE, Batch, Factor, NuisanceWindow, Source, Spec, seeds, views
from molyneux.core.compiled import compiled
from molyneux.learn.judges.labels import Components, codes_of, labels, with_unreadable

FEWEST, MOST = 2, 64
"""Components of one mean."""

_CANDIDATES = 768
"""Drawn samples of a group, of which the nearest become components."""

_ROWS = 512
_NEAR = 2.0

_CHUNK = 4096
_TRIES = 4


class Blends:
    """Weighted means of a source's views, a `Source` with the factors that judges read.

    Args:
        source: whose views are averaged.
        modality: name of the modality.
        components: (N, K) positions in the source.
        weights: (N, K), rows add up to 1; a component of weight 0 is not read.
        factors: what a mean shows, with `UNREADABLE` among the values.
        codes: (N, F) of these factors; -1 = no label.
    """

    def __init__(
        self,
        source: Source,
        modality: str,
        *,
        components: np.ndarray,
        weights: np.ndarray,
        factors: Sequence[Factor],
        codes: np.ndarray,
    ) -> None:
        self._source, self._modality = source, source.spec.modality(modality)
        self.components, self.weights, self.codes = components, weights, codes
        self._factors = tuple(factors)

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that are read."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        return len(self.components)

    def batch(self, indices: np.ndarray) -> Batch:
        """The means at these positions."""
        row, place = np.nonzero(self.weights[indices])
        batch = self._source.batch(self.components[indices][row, place])
        view = batch.views[self._modality.name]
        mean = weighted_sums(view, row, self.weights[indices][row, place], count=len(indices))
        mean = mean / 255 if view.dtype == torch.uint8 else mean
        codes = torch.from_numpy(self.codes[indices])
        return Batch({self._modality.name: views.to_stored(self._modality, mean)}, factors=codes)


def make_blends(
    source: Source,
    modality: str,
    factors: Sequence[str],
    *,
    recipe: Recipe,
    count: int,
    windows: Mapping[str, Sequence[NuisanceWindow]],
    seed: int = 0,
    ignored: Sequence[str] = (),
    codes: Mapping[str, np.ndarray] | None = None,
) -> Blends:
    """Means of one recipe; in each some factor is unreadable, or all are labelled.

    Args:
        source: of true views.
        modality: name of the modality.
        factors: names of the factors a judge reads; those that the source lacks are left out.
        recipe: how the components are drawn.
        count: how many are wanted; fewer come where the source does not give them.
        windows: by factor, the nuisances over which its mean does not show it (a shape, over rotations).
        seed: of the draws.
        ignored: factors that components may differ in freely, and that have no label.
        codes: what `codes_by_name` gives for the source, where it is known already.
    """
    read = with_unreadable(source, [name for name in factors if name not in ignored])
    table = {name: column for name, column in (codes or codes_by_name(source)).items() if name not in ignored}
    rng = seeds.generator(seed, "judge", "blends", recipe.name)
    kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for _ in range(_TRIES):
        components, weights = draw_components(table, [factor.name for factor in read], recipe=recipe, count=count, rng=rng)
        drawn = {SAMPLE: components, **{name: column[components] for name, column in table.items()}}
        means = Components(drawn, weights, source.spec.factors)
        label = np.stack([labels(means, factor.name, windows.get(factor.name, ())) for factor in read], 1)
        unreadable = label == np.array([len(factor.values) - 1 for factor in read])
        useful = unreadable.any(1) | (label >= 0).all(1)
        kept.append((components[useful], weights[useful], label[useful]))
        if sum(len(part[0]) for part in kept) >= count:
            break
    components, weights, label = (np.concatenate(parts)[:count] for parts in zip(*kept, strict=True))
    return Blends(source, modality, components=components, weights=weights, factors=read, codes=label)


def codes_by_name(source: Source) -> dict[str, np.ndarray]:
    """The codes (N,) of every factor of a source."""
    chunks = (np.arange(start, min(start + _CHUNK, len(source))) for start in range(0, len(source), _CHUNK))
    codes: Tensor = torch.cat([codes_of(source.batch(chunk)) for chunk in chunks])
    return {factor.name: codes[:, i].numpy() for i, factor in enumerate(source.spec.factors)}


def weighted_sums(views: Tensor, rows: np.ndarray, weights: np.ndarray, *, count: int) -> Tensor:
    """Sums (count, ...) float32 of views with weights, on the CPU.

    Args:
        views: (M, ...) uint8 or float32.
        rows: (M,) to which sum each view belongs.
        weights: (M,).
        count: how many sums.
    """
    flat = views.flatten(1).numpy()
    sums = np.zeros((count, flat.shape[1]), np.float32)
    _add(flat, rows, weights.astype(np.float32), sums)
    return torch.from_numpy(sums).view(count, *views.shape[1:])


@compiled
def _add(views: np.ndarray, rows: np.ndarray, weights: np.ndarray, sums: np.ndarray) -> None:
    for view in range(len(views)):
        row, weight = rows[view], weights[view]
        for i in range(views.shape[1]):
            sums[row, i] += weight * views[view, i]


@dataclass(frozen=True)
class Recipe:
    """How the components of means are drawn.

    Args:
        name: as in a judge's record.
        mixed: how many factors the components may differ in, from and to.
        wide: probability that a nuisance has a drawn window; else the components are as near in it as can be found.
    """

    name: str
    mixed: tuple[int, int]
    wide: float


OVER_NUISANCES = Recipe("blended over nuisances", (0, 0), 0.8)
RECIPES = (
    OVER_NUISANCES,
    Recipe("blended over one factor", (1, 1), 0.3),
    Recipe("blended over several factors", (1, 9), 0.6),
)


def draw_components(
    codes: Mapping[str, np.ndarray], factors: Sequence[str], *, recipe: Recipe, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Components of means: positions in the source (count, 64), and their weights (count, 64), which add up to 1.

    Unused places have weight 0 and stand at the end.

    Args:
        codes: by factor, (N,) codes of the source.
        factors: the names that judges read; all others are nuisances.
        recipe: how they are drawn.
        count: how many means.
        rng: draws them.
    """
    free = _free(len(factors), recipe, count, rng)
    nuisances = [name for name in codes if name not in factors]
    widths = _widths([np.ptp(codes[name]) + 1 for name in nuisances], recipe, count, rng)
    components = np.empty((count, MOST), np.int64)
    for pattern in np.unique(free, axis=0):
        rows = np.flatnonzero((free == pattern).all(1))
        agree = [codes[name] for name, differs in zip(factors, pattern, strict=True) if not differs]
        differ = [codes[name] for name, differs in zip(factors, pattern, strict=True) if differs]
        carried = [any(_carries(codes[name], column) for column in differ) for name in nuisances]
        windows = np.where(carried, np.inf, widths[rows])
        groups = _Groups(agree, len(next(iter(codes.values()))))
        places = np.stack([codes[name] for name in nuisances], 1) if nuisances else np.zeros((groups.count, 0))
        for start in range(0, len(rows), _ROWS):
            part = slice(start, start + _ROWS)
            components[rows[part]] = _nearest(groups, places, windows[part], rng)
    return components, _weights(count, rng)


class _Groups:
    """Groups of samples that agree in all of some factors."""

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
    """(count, factors) whether the components may differ in a factor."""
    low, high = (min(number, factors) for number in recipe.mixed)
    many = rng.integers(low, high + 1, count)
    return rng.random((count, factors)).argsort(1).argsort(1) < many[:, None]


def _widths(ranges: Sequence[int], recipe: Recipe, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, nuisances) windows, half of them the whole range or wider, which leaves it free."""
    drawn = _NEAR * (2 * np.array(ranges) / _NEAR) ** rng.random((count, len(ranges)))
    return np.where(rng.random(drawn.shape) < recipe.wide, drawn, _NEAR)


def _weights(count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, 64): 2 to 64 components, half of the time at most 5; equal weights, or drawn ones (Dirichlet)."""
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
    occurs = (table[table.any(1)] > 0).astype(np.int64)
    return bool((occurs @ occurs.T == 0).any())
