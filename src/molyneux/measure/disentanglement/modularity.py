"""Modularity: does each dimension know one factor only?

Ridgeway and Mozer, "Learning deep disentangled embeddings with the F-statistic loss" (NeurIPS 2018), section 3.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from molyneux.measure.disentanglement.bins import BINS
from molyneux.measure.disentanglement.information import knowledge
from molyneux.measure.disentanglement.mig import library_information, published_information
from molyneux.measure.disentanglement.outcome import Outcome, nothing_live
from molyneux.measure.disentanglement.table import Table


def published(table: Table, rng: np.random.Generator, *, bins: int = BINS, samples: int = 10_000) -> Mapping[str, Outcome]:
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
    return {"modularity": Outcome(float((1 - spread).mean()), dimensions=1 - spread, matrix=matrix, note=note)}


def dlib(table: Table, rng: np.random.Generator, *, bins: int = BINS, samples: int = 10_000) -> Mapping[str, Outcome]:
    """disentanglement_lib's settings: un-normalised information of one draw of 10,000 samples; dimensions without any score 0.

    Raises:
        NotApplicableError: one factor, or absent factors.
    """
    table.require("modularity", factors=2)
    matrix, _ = library_information(table, rng, metric="modularity dlib", bins=bins, samples=samples)
    found = one_factor_only(matrix)
    return {"modularity": Outcome(float(found.mean()), dimensions=found, matrix=matrix)}


def recommended(table: Table, rng: np.random.Generator | None = None) -> Mapping[str, Outcome]:
    """Modularity of what live dimensions know beyond chance (`knowledge`), each weighted by the most that it knows.

    Information is a share of each factor's own entropy, so that a factor of many values is not heard louder, and chance counts
    for nothing, so that dimensions of noise do not score. 0 where no dimension knows anything. Nothing is drawn.

    Raises:
        NotApplicableError: one factor, or too few samples that carry a factor.
    """
    table.require("modularity", factors=2)
    table = table.live
    if not table.dimensions:
        return nothing_live(("modularity",), len(table.names))
    matrix = knowledge(table)
    weights, found = matrix.max(1), one_factor_only(matrix)
    value = float(weights @ found / weights.sum()) if weights.any() else 0.0
    note = "" if weights.any() else "no dimension knows anything beyond chance"
    return {"modularity": Outcome(value, dimensions=found, matrix=matrix, note=note)}


def one_factor_only(matrix: np.ndarray) -> np.ndarray:
    """1 - (sum of squares beside the largest) / ((F - 1) largest squared) of each row of (D, F), (D,); 0 for rows of zeros."""
    squares = matrix**2
    peak = squares.max(1)
    spread = (squares.sum(1) - peak) / np.where(peak > 0, peak * (matrix.shape[1] - 1), 1.0)
    return np.where(peak > 0, 1 - spread, 0.0)
