"""The mutual information gap: how much more the best dimension knows of a factor than the second best.

Chen et al., "Isolating sources of disentanglement" (NeurIPS 2018), section 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from molyneux.measure.disentanglement.bins import BINS, library_bins, published_bins
from molyneux.measure.disentanglement.groups import group
from molyneux.measure.disentanglement.information import count_pairs, entropy, knowledge, mutual_information
from molyneux.measure.disentanglement.outcome import Outcome, nothing_live
from molyneux.measure.disentanglement.table import Table


def published(table: Table, rng: np.random.Generator, *, bins: int = BINS, samples: int = 10_000) -> Mapping[str, Outcome]:
    """As the text study runs it: H(z) of all samples less H(z | value) of a stratified draw of 10,000 carriers, over H(factor).

    With absent factors this is no mutual information: it can exceed 1 and be negative (`published_information`).

    Raises:
        NotApplicableError: one dimension, or fewer than 10,000 samples that carry a factor.
    """
    table.require("mig", dimensions=2)
    heights = [float(entropy(group(table, factor).counts)) for factor in range(len(table.names))]
    return _gap(published_information(table, rng, metric="mig", bins=bins, samples=samples) / np.array(heights))


def dlib(table: Table, rng: np.random.Generator, *, bins: int = BINS, samples: int = 10_000) -> Mapping[str, Outcome]:
    """disentanglement_lib's settings: mutual information of one draw of 10,000 samples in 20 bins of equal width.

    Raises:
        NotApplicableError: one dimension, or absent factors.
    """
    table.require("mig", dimensions=2)
    information, heights = library_information(table, rng, metric="mig dlib", bins=bins, samples=samples)
    return _gap(information / heights)


def recommended(table: Table, rng: np.random.Generator | None = None) -> Mapping[str, Outcome]:
    """The gap of what live dimensions know beyond chance (`knowledge`): 1 where one dimension knows the value, 0 for chance.

    Nothing is drawn; `rng` is not used. Of a single live dimension the second best is one that knows nothing.
    """
    table = table.live
    return _gap(knowledge(table)) if table.dimensions else nothing_live(("mig",), len(table.names))


def published_information(
    table: Table, rng: np.random.Generator, *, metric: str, bins: int = BINS, samples: int = 10_000
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
    table: Table, rng: np.random.Generator, *, metric: str, bins: int, samples: int
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
    found: np.ndarray = ordered[-1] - (ordered[-2] if len(matrix) > 1 else 0.0)
    return found


def _gap(matrix: np.ndarray) -> dict[str, Outcome]:
    by_factor = gaps(matrix)
    return {"mig": Outcome(float(by_factor.mean()), by_factor, matrix=matrix)}
