"""Measures compared with each other, and models by all of them: functions of a table of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from molyneux.core import ConfigError, DataError, nearest
from molyneux.measure.disentanglement.ranks import sort_columns

Kind = Literal["pearson", "spearman"]


def correlation_matrix(table: np.ndarray, *, kind: Kind = "pearson") -> np.ndarray:
    """Correlation of every two measures over the runs that have both, (K, K); NaN where one does not vary.

    Args:
        table: (runs, K) values, NaN where a run has none.
        kind: `pearson` as in the text study's Figure 2; `spearman` that of ranks.

    Raises:
        DataError: fewer than three runs. ConfigError: unknown kind.
    """
    if kind not in get_args(Kind):
        raise ConfigError(f"unknown kind {kind!r}; {nearest(str(kind), get_args(Kind))}")
    values = _checked(table, 3)
    count = values.shape[1]
    found = np.full((count, count), np.nan)
    for first in range(count):
        for second in range(first, count):
            pair = values[:, [first, second]]
            pair = pair[np.isfinite(pair).all(1)]
            if len(pair) < 3 or (np.ptp(pair, axis=0) == 0).any():
                continue
            pair = sort_columns(pair).ranks if kind == "spearman" else pair
            found[first, second] = found[second, first] = np.corrcoef(pair, rowvar=False)[0, 1]
    return found


def top_counts(table: np.ndarray, *, higher_is_better: Sequence[bool] | None = None, top: int = 3) -> np.ndarray:
    """In how many measures each model is among the best three, (models,); the sum is top x K.

    Models that tie for the last places share them. A model without a value is never among the best, and the sum is
    less where fewer than `top` have one.

    Args:
        table: (models, K) values, NaN where there is none.
        higher_is_better: of each measure; True by default.
        top: how many are counted as best.

    Raises:
        DataError: fewer models than places, or not one direction a measure. ConfigError: no place is counted.
    """
    if top < 1:
        raise ConfigError(f"top: expected at least 1 place, got {top}")
    values = _checked(table, top)
    better = np.ones(values.shape[1], bool) if higher_is_better is None else np.asarray(higher_is_better)
    if better.shape != values.shape[1:]:
        raise DataError(f"higher_is_better: expected one answer for each of {values.shape[1]} measures, got {better.tolist()}")
    values = np.where(np.isfinite(values), np.where(better, values, -values), -np.inf)
    above = (values[None] > values[:, None]).sum(1)
    level = (values[None] == values[:, None]).sum(1)
    share = np.clip((top - above) / level, 0.0, 1.0)
    counts: np.ndarray = np.where(np.isfinite(values), share, 0.0).sum(1)
    return counts


def _checked(table: np.ndarray, least: int) -> np.ndarray:
    try:
        values = np.asarray(table, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"expected a table (runs, measures) of numbers, got what makes none: {error}") from error
    if values.ndim != 2 or len(values) < least:
        raise DataError(f"expected a table (runs, measures) of at least {least} runs, got shape {values.shape}")
    return values
