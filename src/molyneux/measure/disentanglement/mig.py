"""Metrics from mutual information: the mutual information gap (MIG) and modularity.

MIG: Chen et al., "Isolating sources of disentanglement" (NeurIPS 2018), section 4.1. Modularity: Ridgeway and Mozer, "Learning
deep disentangled embeddings with the F-statistic loss" (NeurIPS 2018), section 3.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from molyneux.measure.disentanglement.groups import group
from molyneux.measure.disentanglement.information import (
    BINS,
    adjusted_information,
    count_pairs,
    entropy,
    library_bins,
    mutual_information,
    published_bins,
)
from molyneux.measure.disentanglement.metric import MetricResult, nothing_live
from molyneux.measure.disentanglement.table import CheckedCodes


def mig_published(
    table: CheckedCodes, rng: np.random.Generator, *, bins: int = BINS, samples: int = 10_000
) -> Mapping[str, MetricResult]:
    """As the text study runs it: H(z) of all samples less H(z | value) of a stratified draw of 10,000 carriers, over H(factor).

    With absent factors this is no mutual information: it can exceed 1 and be negative (`published_information`).

    Raises:
        NotApplicableError: one dimension, or fewer than 10,000 samples that carry a factor.
    """
    table.require("mig", dimensions=2)
    heights = [float(entropy(group(table, factor).counts)) for factor in range(len(table.names))]
    return _gap(published_information(table, rng, metric="mig", bins=bins, samples=samples) / np.array(heights))


def mig_dlib(
    table: CheckedCodes, rng: np.random.Generator, *, bins: int = BINS, samples: int = 10_000
) -> Mapping[str, MetricResult]:
    """disentanglement_lib's settings: mutual information of one draw of 10,000 samples in 20 bins of equal width.

    Raises:
        NotApplicableError: one dimension, or absent factors.
    """
    table.require("mig", dimensions=2)
    information, heights = library_information(table, rng, metric="mig dlib", bins=bins, samples=samples)
    return _gap(information / heights)


def mig_recommended(table: CheckedCodes, rng: np.random.Generator | None = None) -> Mapping[str, MetricResult]:
    """The gap in information beyond chance (`adjusted_information`) of live dimensions: 1 where one determines the value.

    Nothing is drawn; `rng` is not used. Of a single live dimension the second best has no information.
    """
    table = table.live
    return _gap(adjusted_information(table)) if table.dimensions else nothing_live(("mig",), len(table.names))


def published_information(
    table: CheckedCodes, rng: np.random.Generator, *, metric: str, bins: int = BINS, samples: int = 10_000
) -> np.ndarray:
    """What the text study takes for mutual information, (D, F) nats.

    H(z) is that of all samples, H(z | value) that of a stratified draw of the samples that carry the factor. Codes that
    `published_bins` loses count nowhere; a value whose codes are all lost has an entropy of 0.
    """
    places = published_bins(table.codes, bins)
    everything = count_pairs(places, np.zeros(len(table), np.int64), width=bins, height=1)[:, 0]
    found = np.empty((table.dimensions, len(table.names)))
    for factor in range(len(table.names)):
        groups = group(table, factor)
        rows, values = groups.stratified(samples, rng, metric=metric)
        counts = count_pairs(places[rows], values, width=bins, height=table.values[factor])
        found[:, factor] = entropy(everything) - entropy(counts) @ (groups.counts / groups.counts.sum())
    return found


def library_information(
    table: CheckedCodes, rng: np.random.Generator, *, metric: str, bins: int, samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Mutual information (D, F) and entropies of the factors (F,) as disentanglement_lib computes them, in nats."""
    table.require_complete(metric)
    rows = rng.choice(len(table), min(samples, len(table)), replace=False)
    places, factors = library_bins(table.codes[rows], bins), table.factors[rows]
    counts = [
        count_pairs(places, column, width=bins, height=values) for column, values in zip(factors.T, table.values, strict=True)
    ]
    return np.stack([mutual_information(pairs) for pairs in counts], 1), np.array([entropy(pairs[0].sum(1)) for pairs in counts])


def gaps(matrix: np.ndarray) -> np.ndarray:
    """The largest less the second largest of each column of (D, F); of a single row itself, (F,)."""
    ordered = np.sort(matrix, axis=0)
    return np.asarray(ordered[-1] - (ordered[-2] if len(matrix) > 1 else 0.0))


def _gap(matrix: np.ndarray) -> dict[str, MetricResult]:
    by_factor = gaps(matrix)
    return {"mig": MetricResult(float(by_factor.mean()), by_factor, matrix=matrix)}


def modularity_published(
    table: CheckedCodes, rng: np.random.Generator, *, bins: int = BINS, samples: int = 10_000
) -> Mapping[str, MetricResult]:
    """As the text study runs it: its un-normalised information (`published_information`); a constant dimension makes it NaN.

    Raises:
        NotApplicableError: one factor, or fewer than 10,000 samples that carry a factor.
    """
    table.require("modularity", factors=2)
    matrix = published_information(table, rng, metric="modularity", bins=bins, samples=samples)
    peak = matrix.argmax(1)[:, None]
    others = matrix.copy()
    np.put_along_axis(others, peak, 0.0, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (others**2).sum(1) / (np.take_along_axis(matrix, peak, 1)[:, 0] ** 2 * (len(table.names) - 1))
    note = "a dimension without information makes the published formula 0/0" if np.isnan(spread).any() else ""
    return {"modularity": MetricResult(float((1 - spread).mean()), dimensions=1 - spread, matrix=matrix, note=note)}


def modularity_dlib(
    table: CheckedCodes, rng: np.random.Generator, *, bins: int = BINS, samples: int = 10_000
) -> Mapping[str, MetricResult]:
    """disentanglement_lib's settings: un-normalised information of one draw of 10,000 samples; dimensions without any score 0.

    Raises:
        NotApplicableError: one factor, or absent factors.
    """
    table.require("modularity", factors=2)
    matrix, _ = library_information(table, rng, metric="modularity dlib", bins=bins, samples=samples)
    found = one_factor_only(matrix)
    return {"modularity": MetricResult(float(found.mean()), dimensions=found, matrix=matrix)}


def modularity_recommended(table: CheckedCodes, rng: np.random.Generator | None = None) -> Mapping[str, MetricResult]:
    """Modularity from information beyond chance (`adjusted_information`); dimensions weigh as much as their largest.

    Information is a share of each factor's own entropy, so that a factor of many values does not weigh more, and information by
    chance does not count, so that dimensions of noise do not score. 0 where no dimension has information. Nothing is drawn.

    Raises:
        NotApplicableError: one factor, or too few samples that carry a factor.
    """
    table.require("modularity", factors=2)
    table = table.live
    if not table.dimensions:
        return nothing_live(("modularity",), len(table.names))
    matrix = adjusted_information(table)
    weights, found = matrix.max(1), one_factor_only(matrix)
    value = float(weights @ found / weights.sum()) if weights.any() else 0.0
    note = "" if weights.any() else "no dimension has information beyond chance"
    return {"modularity": MetricResult(value, dimensions=found, matrix=matrix, note=note)}


def one_factor_only(matrix: np.ndarray) -> np.ndarray:
    """1 - (sum of squares beside the largest) / ((F - 1) largest squared) of each row of (D, F), (D,); 0 for rows of zeros."""
    squares = matrix**2
    peak = squares.max(1)
    spread = (squares.sum(1) - peak) / np.where(peak > 0, peak * (matrix.shape[1] - 1), 1.0)
    return np.where(peak > 0, 1 - spread, 0.0)
