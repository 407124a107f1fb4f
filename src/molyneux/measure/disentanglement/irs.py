"""The interventional robustness score (IRS): how little a dimension changes while all factors but one change.

Suter et al., "Robustly disentangled causal mechanisms" (ICML 2019), section 4. For each dimension and factor: the largest
deviation from the mean among samples of one value, averaged over values, relative to the largest of all; a dimension's score is
one minus the smallest of these over factors, weighted by its largest deviation.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from molyneux.measure.disentanglement.information import require_carriers
from molyneux.measure.disentanglement.metric import MetricResult, nothing_live
from molyneux.measure.disentanglement.table import CheckedCodes

_SAMPLES = 20_000
_PERMUTATIONS = 5


def dlib(
    table: CheckedCodes, rng: np.random.Generator, *, quantile: float = 0.99, samples: int = 10_000
) -> Mapping[str, MetricResult]:
    """disentanglement_lib's `scalable_disentanglement_score` on 10,000 samples: the 99 % quantile over the plain maximum.

    Raises:
        NotApplicableError: absent factors.
    """
    table.require_complete("irs dlib")
    table = _some(table, samples, rng)
    codes = table.codes[:, np.ptp(table.codes, axis=0) > 0]
    if not codes.shape[1]:
        return nothing_live(("irs",), len(table.names))
    largest = np.abs(codes - codes.mean(0)).max(0)
    deviations = np.stack([_deviations(codes, column, quantile) for column in table.factors.T], 1)
    return _score(1 - deviations / largest[:, None], largest)


paper = partial(dlib, quantile=1.0)
"""As printed: the maximum on both sides."""


def recommended(table: CheckedCodes, rng: np.random.Generator, *, quantile: float = 0.99) -> Mapping[str, MetricResult]:
    """The 99 % quantile on both sides, of ranks of live dimensions among the carriers of each factor, less what chance gives.

    1 - deviation / chance by dimension and factor; chance is the mean over 5 permutations of the values among carriers, because
    few samples of a value deviate less than many do. The largest over factors is above 0 by chance alone, so a dimension's score
    is (largest - chance) / (1 - chance), at least -1, where chance is the mean of what each permutation gives against the others.
    Up to 20,000 samples; dimensions count alike. A dimension that is another number than usual in about one sample of a hundred
    has its quantile on a cliff: its score, and with it the mean, may be anything from draw to draw, which the interval shows.

    Raises:
        NotApplicableError: too few samples carry a factor.
    """
    table = _some(table.live, _SAMPLES, rng)
    if not table.dimensions:
        return nothing_live(("irs",), len(table.names))
    ranks, matrix = table.sorted.ranks, np.zeros((1 + _PERMUTATIONS, table.dimensions, len(table.names)))
    for factor in range(len(table.names)):
        require_carriers(table, factor)
        rows = table.carriers(factor)
        values, carried = table.factors[rows, factor], ranks[rows]
        varies = _deviations(carried, np.zeros(len(rows), np.int32), quantile) > 0
        drawn = np.stack([_deviations(carried, rng.permutation(values), quantile) for _ in range(_PERMUTATIONS)])
        others = (drawn.sum(0) - drawn) / (_PERMUTATIONS - 1)
        matrix[0, :, factor] = _stability(_deviations(carried, values, quantile), drawn.mean(0), varies)
        matrix[1:, :, factor] = _stability(drawn, others, varies)
    found, chance = matrix[0].max(1), matrix[1:].max(2).mean(0)
    by_dimension = np.where(chance < 1, (found - chance) / np.where(chance < 1, 1 - chance, 1.0), 0.0)
    by_dimension = np.maximum(by_dimension, -1.0)
    return {"irs": MetricResult(float(by_dimension.mean()), dimensions=by_dimension, matrix=matrix[0])}


def _stability(found: np.ndarray, chance: np.ndarray, varies: np.ndarray) -> np.ndarray:
    """How much less a dimension deviates than by chance, as a share; 0 where it does not vary among the carriers."""
    defined = varies & (chance > 0)
    return np.asarray(np.where(defined, 1 - found / np.where(defined, chance, 1.0), 0.0))


def _some(table: CheckedCodes, samples: int, rng: np.random.Generator) -> CheckedCodes:
    return table if len(table) <= samples else table.rows(rng.choice(len(table), samples, replace=False))


def _deviations(codes: np.ndarray, values: np.ndarray, quantile: float) -> np.ndarray:
    """A quantile of the deviations from the mean among samples of each value, averaged over values, (D,)."""
    order = np.argsort(values, kind="stable")
    counts = np.bincount(values)
    counts = counts[counts > 0]
    parts = np.split(codes[order], np.cumsum(counts)[:-1])
    return np.asarray(np.mean([np.quantile(np.abs(part - part.mean(0)), quantile, axis=0) for part in parts], axis=0))


def _score(matrix: np.ndarray, weights: np.ndarray) -> dict[str, MetricResult]:
    found = matrix.max(1)
    return {"irs": MetricResult(float(weights @ found / weights.sum()), dimensions=found, matrix=matrix)}
