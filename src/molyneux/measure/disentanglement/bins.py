"""Continuous codes in bins, in each of the ways that metrics use.

| function | bins | the maximum | monotone rescaling |
|---|---|---|---|
| `equal_width` | equal width over the range, exact edges | in the last bin | changes bins |
| `published_bins` | the same edges as the text study computes them | lost where the last edge falls below it | changes bins |
| `library_bins` | disentanglement_lib: `np.digitize` at the edges of `np.histogram` | in the last bin | changes bins |
| `equal_mass` | equal mass among all samples, equal codes together | in the last bin | changes nothing |
| `information.joint` | equal mass among the samples that carry the factor | in the last bin | changes nothing |
"""

from __future__ import annotations

import numpy as np

from molyneux.measure.disentanglement.ranks import sort_columns

BINS = 20


def equal_width(codes: np.ndarray, bins: int = BINS) -> np.ndarray:
    """Bin numbers 0..bins-1 of each dimension between its smallest and largest code, (N, D); constant dimensions are in bin 0."""
    low, spread = codes.min(0), np.ptp(codes, axis=0)
    share = (codes - low) / np.where(spread > 0, spread, 1.0)
    found: np.ndarray = np.minimum((share * bins).astype(np.int64), bins - 1)
    return found


def published_bins(codes: np.ndarray, bins: int = BINS) -> np.ndarray:
    """Bin numbers as the text study finds them, (N, D); -1 for codes in no bin.

    Its edges are min + k (max - min) / bins in floating point. Where the last one falls below the maximum, every sample at the
    maximum is in no bin (`mutual_information_estimation` of its `disentanglement.py`).
    """
    low, high = codes.min(0), codes.max(0)
    found, guess = np.empty(codes.shape, np.int64), equal_width(codes, bins)
    for column in range(codes.shape[1]):
        edges = low[column] + np.arange(bins + 1) * (high[column] - low[column]) / bins
        values, places = codes[:, column], guess[:, column]
        places = places - (values < edges[places])
        places = places + ((values >= edges[places + 1]) & (places < bins - 1))
        found[:, column] = np.where(values > edges[-1], -1, places)
    return found


def library_bins(codes: np.ndarray, bins: int = BINS) -> np.ndarray:
    """Bin numbers 0..bins-1 as disentanglement_lib's `_histogram_discretize` finds them, (N, D)."""
    columns = [np.digitize(column, np.histogram(column, bins)[1][:-1]) - 1 for column in codes.T]
    return np.stack(columns, 1)


def equal_mass(codes: np.ndarray, bins: int = BINS) -> np.ndarray:
    """Bin numbers 0..bins-1 of each dimension by middle rank, (N, D); a dimension of at most `bins` values has a bin for each."""
    found = sort_columns(codes)
    numbers: np.ndarray = np.minimum((found.ranks * bins).astype(np.int64), bins - 1)
    for column, (order, level) in enumerate(zip(found.order, found.level, strict=True)):
        if level[-1] < bins:
            numbers[order, column] = level
    return numbers
