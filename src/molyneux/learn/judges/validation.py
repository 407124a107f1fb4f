"""Validation of judges: accuracy on fresh views, and how often they abstain on views that should and should not be read.

Some negatives here are of kinds that no judge is trained on: they show whether abstaining generalises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import Batch, JudgeMaterial, Source, Spec, views
from molyneux.learn.judges.blends import OVER_NUISANCES, RECIPES, Blends, codes_by_name, make_blends
from molyneux.learn.judges.judge import Judge
from molyneux.learn.judges.labels import NO_LABEL, codes_of, recode, with_unreadable
from molyneux.learn.judges.negatives import Composites, composite_kinds, make_sharpened

_BATCH = 500

_NEGATIVES = 1000
"""Negatives of each kind that are read, at most."""

_FEW = 20
"""Fewer labelled views than this give no rate."""

_SIGMA = 8
"""Pixels of standard deviation of what is out of focus: a third of a big object."""


def validate_accuracy(judge: Judge, source: Source, samples: int | None = None) -> dict[str, float]:
    """Accuracy per factor that the source has, on its first `samples` (all of them by default), 0..1."""
    counts = confusion(judge, source, samples)
    return {name: int(table.diag().sum()) / int(table.sum()) for name, table in counts.items()}


def validate_abstention(
    judge: Judge, material: JudgeMaterial, *, seed: int = 0, samples: int = 10_000
) -> dict[str, dict[str, dict[str, float]]]:
    """How often a judge abstains where it should and should not, on fresh views: see `Record.abstention`.

    Read are true views, blends of every recipe, composed pictures of every kind, sharpened blends, and three kinds that no judge
    is trained on: `median` of views (sharp where a mean is soft), `defocused` (soft without being a mean) and `unknown shape`.
    A kind is left out where it cannot be made, a factor where fewer than 20 views have a label for it.
    """
    tables = confusion(judge, material.views, samples)
    rates = {"true": {"abstained": {name: int(table[:, -1].sum()) / int(table.sum()) for name, table in tables.items()}}}
    count = min(_NEGATIVES, samples)
    for kind, source, unreadable_only in _negatives(judge, material, count=count, seed=seed):
        rates[kind] = _rates(judge, source, count=count, unreadable_only=unreadable_only)
    return {kind: found for kind, found in rates.items() if any(found.values())}


def _negatives(judge: Judge, material: JudgeMaterial, *, count: int, seed: int) -> Iterator[tuple[str, Source, bool]]:
    """The kinds of negatives that can be made, by name; and whether only their unreadable factors are looked at."""
    name, factors = judge.record.modality.name, [factor.name for factor in judge.record.factors]
    codes = codes_by_name(material.silhouette or material.views)
    for recipe in RECIPES:
        blends = make_blends(
            material.views, name, factors, recipe=recipe, count=count, windows=material.windows, seed=seed, codes=codes
        )
        yield recipe.name, blends, False
        if recipe is OVER_NUISANCES:
            yield "median", Medians(blends, material.views, name), True
    for kind in composite_kinds(material):
        yield kind, Composites(material, name, factors, kind=kind, seed=seed), False
    if material.silhouette is not None:
        yield "sharpened", make_sharpened(material, name, factors, count=count, seed=seed, codes=codes), False
    if material.unknown_shapes is not None:
        yield "unknown shape", UnknownShapes(material, name, factors), False
    if judge.record.modality.kind == "image":
        yield "defocused", Defocused(material, name, factors), True


def _rates(judge: Judge, source: Source, *, count: int, unreadable_only: bool) -> dict[str, dict[str, float]]:
    """By factor, the share of unreadable views for which the judge abstains, and of readable ones that it reads correctly."""
    rates: dict[str, dict[str, float]] = {"abstained": {}, "correct": {}}
    if not len(source):
        return rates
    for factor, table in confusion(judge, source, count).items():
        readable, unreadable = table[:-1], table[-1]
        if unreadable.sum() >= _FEW:
            rates["abstained"][factor] = int(unreadable[-1]) / int(unreadable.sum())
        if readable.sum() >= _FEW and not unreadable_only:
            rates["correct"][factor] = int(readable.diag().sum()) / int(readable.sum())
    return rates


def confusion(judge: Judge, source: Source, samples: int | None = None) -> dict[str, Tensor]:
    """Per factor that the source has, how often value i was read as value j, (values, values) in the order of the judge's values.

    Args:
        judge: who reads; "unreadable" is among its values where it can abstain.
        source: true views.
        samples: how many of them are read, the first ones; all by default.
    """
    spec, modality = source.spec, judge.record.modality.name
    known = [factor for factor in judge.record.factors if factor.name in {own.name for own in spec.factors}]
    readable = Spec((spec.modality(modality),), tuple(known))
    reader = judge.reader(readable, modality, [factor.name for factor in known], abstain=False)
    tables = {factor.name: torch.zeros(len(factor.values) ** 2, dtype=torch.long) for factor in known}
    total = min(samples or len(source), len(source))
    for start in range(0, total, _BATCH):
        batch = source.batch(np.arange(start, min(start + _BATCH, total)))
        truth, read = recode(codes_of(batch), spec, known), reader.read(batch.views[modality]).codes
        for i, (factor, table) in enumerate(zip(known, tables.values(), strict=True)):
            pairs = truth[:, i] * len(factor.values) + read[:, i]
            table += pairs[truth[:, i] >= 0].bincount(minlength=len(table))
    return {factor.name: tables[factor.name].view(len(factor.values), -1) for factor in known}


class Medians:
    """Medians instead of means, a `Source`: of the blends with at least five components of equal weight. Their edges are sharp.

    Args:
        blends: whose components are taken.
        source: whose views the components are.
        modality: name of the modality.
    """

    def __init__(self, blends: Blends, source: Source, modality: str) -> None:
        counts = (blends.weights > 0).sum(1)
        self._rows = np.flatnonzero((counts >= 5) & np.isclose(blends.weights[:, 0] * counts, 1))
        self._blends, self._source, self._modality = blends, source, source.spec.modality(modality)

    @property
    def spec(self) -> Spec:
        """That of the blends."""
        return self._blends.spec

    def __len__(self) -> int:
        return len(self._rows)

    def batch(self, indices: np.ndarray) -> Batch:
        """The medians at these positions."""
        rows = self._rows[indices]
        medians = [self._median(self._blends.components[row, self._blends.weights[row] > 0]) for row in rows]
        stored = views.to_stored(self._modality, torch.stack(medians))
        return Batch({self._modality.name: stored}, factors=torch.from_numpy(self._blends.codes[rows]))

    def _median(self, components: np.ndarray) -> Tensor:
        view = self._source.batch(components).views[self._modality.name]
        return views.to_model(self._modality, view).median(0).values


class Defocused:
    """Pictures out of focus, a `Source`: the shape of an object cannot be read in them.

    Args:
        material: whose views are blurred.
        modality: name of the modality, of kind image.
        factors: names of the factors that a judge reads.
    """

    def __init__(self, material: JudgeMaterial, modality: str, factors: Sequence[str]) -> None:
        self._material, self._modality = material, material.views.spec.modality(modality)
        self._factors = with_unreadable(material.views, factors)

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that are read."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        return len(self._material.views)

    def batch(self, indices: np.ndarray) -> Batch:
        """The pictures at these positions."""
        batch = self._material.views.batch(indices)
        view = _blur(views.to_model(self._modality, batch.views[self._modality.name]), _SIGMA)
        codes = torch.full((len(codes_of(batch)), len(self._factors)), NO_LABEL)
        for column, factor in enumerate(self._factors):
            if factor.name in self._material.shape_factors:
                codes[:, column] = len(factor.values) - 1
        return Batch({self._modality.name: views.to_stored(self._modality, view)}, factors=codes)


class UnknownShapes:
    """Pictures of objects of shapes that a world does not have, a `Source`: their shape is unreadable, the rest is not.

    Args:
        material: with such pictures.
        modality: name of the modality.
        factors: names of the factors that a judge reads.
    """

    def __init__(self, material: JudgeMaterial, modality: str, factors: Sequence[str]) -> None:
        assert material.unknown_shapes is not None  # callers make only what the material allows
        self._source, self._modality = material.unknown_shapes, material.views.spec.modality(modality)
        self._material, self._factors = material, with_unreadable(material.views, factors)

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that are read."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        return len(self._source)

    def batch(self, indices: np.ndarray) -> Batch:
        """The pictures at these positions."""
        batch = self._source.batch(indices)
        codes = recode(codes_of(batch), self._source.spec, self._factors)
        for column, factor in enumerate(self._factors):
            if factor.name in self._material.shape_factors:
                codes[:, column] = len(factor.values) - 1
            elif factor.name in self._material.extent_factors:
                codes[:, column] = NO_LABEL
        return Batch({self._modality.name: batch.views[self._modality.name]}, factors=codes)


def _blur(view: Tensor, sigma: float) -> Tensor:
    """Pictures (B, C, H, W) blurred by a Gaussian of so many pixels; the border is replicated."""
    reach = round(3 * sigma)
    steps = torch.arange(-reach, reach + 1, dtype=view.dtype)
    kernel = torch.softmax(-(steps**2) / (2 * sigma**2), 0)
    channels = view.shape[1]
    for shape, padding in (((1, 1, -1, 1), (0, 0, reach, reach)), ((1, 1, 1, -1), (reach, reach, 0, 0))):
        padded = functional.pad(view, padding, mode="replicate")
        view = functional.conv2d(padded, kernel.view(shape).expand(channels, 1, *kernel.view(shape).shape[2:]), groups=channels)
    return view
