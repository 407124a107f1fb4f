"""Bins of continuous codes, entropies and mutual information in nats, and information beyond chance.

| function | bins | the maximum | monotone rescaling |
|---|---|---|---|
| `equal_width` | equal width over the range, exact edges | in the last bin | changes bins |
| `published_bins` | the same edges as the text study computes them | lost where the last edge falls below it | changes bins |
| `library_bins` | disentanglement_lib: `np.digitize` at the edges of `np.histogram` | in the last bin | changes bins |
| `equal_mass` | equal mass among all samples, equal codes together | in the last bin | changes nothing |
| `joint_counts` | equal mass among the samples that carry the factor | in the last bin | changes nothing |
"""

from __future__ import annotations

import math

import numpy as np

from molyneux.core import DataError, NotApplicableError
from molyneux.core.tooling.compiled import compiled
from molyneux.measure.disentanglement.table import CheckedCodes, sort_columns

BINS = 20


def equal_width(codes: np.ndarray, bins: int = BINS) -> np.ndarray:
    """Bin numbers 0..bins-1 of each dimension between its smallest and largest code, (N, D); constant dimensions are in bin 0."""
    low, spread = codes.min(0), np.ptp(codes, axis=0)
    share = (codes - low) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.minimum((share * bins).astype(np.int64), bins - 1))


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


SIGNIFICANCE = 1e-3
"""Probability that any pair of a dimension and a factor gets information above 0 when codes and factors are independent."""

PER_VALUE = 5
"""Samples that a factor needs for each of its values, on average, for an estimate of information about it."""

_PER_CELL = 20


def entropy(counts: np.ndarray, axis: int = -1) -> np.ndarray:
    """Plug-in entropy of counts (or shares) along an axis; 0 where there are none."""
    total = counts.sum(axis, keepdims=True)
    shares = counts / np.where(total > 0, total, 1)
    return np.asarray(-(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis))


def mutual_information(counts: np.ndarray) -> np.ndarray:
    """Plug-in mutual information of joint counts (..., V, B)."""
    joint = counts.reshape(*counts.shape[:-2], -1)
    return np.asarray(np.maximum(entropy(counts.sum(-1)) + entropy(counts.sum(-2)) - entropy(joint), 0.0))


def count_pairs(bins: np.ndarray, labels: np.ndarray, *, width: int, height: int) -> np.ndarray:
    """Joint counts of labels and the bins of every dimension, (D, height, width); rows with a -1 are left out.

    Args:
        bins: (n, D) numbers.
        labels: (n,) numbers.
        width: how many bins.
        height: how many labels.
    """
    counts = np.zeros((bins.shape[1], height, width), np.int64)
    for column, places in enumerate(bins.T):
        known = (places >= 0) & (labels >= 0)
        cells = labels[known] * width + places[known]
        counts[column] = np.bincount(cells, minlength=height * width).reshape(height, width)
    return counts


def expected_information(rows: np.ndarray, columns: np.ndarray) -> float:
    """The mean of plug-in mutual information over all permutations, given the counts of both sides; exact.

    Vinh, Epps and Bailey, "Information theoretic measures for clusterings comparison" (JMLR 11, 2010), equation 24a.
    scikit-learn's `expected_mutual_information` gives the same numbers in 20 to 400 times the time.

    Args:
        rows: (V,) counts.
        columns: (B,) counts with the same sum.

    Raises:
        DataError: the sums differ.
    """
    rows, columns = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
    if rows.sum() != columns.sum():
        raise DataError(f"expected counts of the same samples, got {rows.sum()} in rows and {columns.sum()} in columns")
    sizes, repeats = np.unique(rows[rows > 0], return_counts=True)
    widths, times = np.unique(columns[columns > 0], return_counts=True)
    return float(_expected(sizes, repeats, widths, times, int(rows.sum())))


def bins_for(counts: np.ndarray) -> int:
    """How many bins tell a factor whose values occur so often, (V,) counts.

    Two for each value, at least 20, at most a fifth of the carriers (and as many as values). A value rarer than its two bins
    would drown among others: then so many that its share fills two, as long as 20 samples are expected for each value and bin.
    What is rare follows from its count and three standard errors, so that even values have two bins each in every draw. (Noise of
    few samples a cell costs codes with partial information more than finer bins bring to those that determine it.)
    """
    carriers, values = int(counts.sum()), len(counts)
    fewest = int(counts.min())
    rarest = (fewest + 3 * math.sqrt(fewest)) / carriers
    finer = min(math.ceil(2 / rarest), carriers // (_PER_CELL * values))
    return max(values, min(max(2 * values, BINS), carriers // 5), finer)


def require_carriers(table: CheckedCodes, factor: int) -> int:
    """How many samples carry a factor; raises NotApplicableError if they are too few to say anything (`PER_VALUE`)."""
    carriers, values = int(np.count_nonzero(table.factors[:, factor] >= 0)), table.values[factor]
    if carriers < PER_VALUE * values:
        raise NotApplicableError(
            f"{table.names[factor]} has {values} values and needs at least {PER_VALUE * values} samples that carry it, "
            f"got {carriers}: give more samples or leave it out"
        )
    return carriers


def joint_counts(table: CheckedCodes, factor: int, half: np.ndarray | None = None) -> np.ndarray:
    """Joint counts of a factor and of each dimension's codes, on the samples that carry the factor: (D, 2, V, B) int64.

    Bins (`bins_for`) hold equal shares of the carriers, by middle rank, so that equal codes share a bin; where there are no more
    distinct codes than bins, each has its own. A code of intervals, one for each value, loses what bins on their edges mix: a few
    percent of even values, up to a fifth of a value of a few percent. Only the order of codes counts: strictly rising rescaling
    changes nothing, and a change of sign at most the bin of samples that lie on an edge.

    Args:
        table: codes and factors.
        factor: column.
        half: (N,) bool; samples where it is True are counted in the second part.

    Raises:
        NotApplicableError: too few samples carry the factor.
    """
    carriers, values = require_carriers(table, factor), table.values[factor]
    labels = np.ascontiguousarray(table.factors[:, factor])
    parts = np.zeros(len(table), np.int8) if half is None else half.astype(np.int8)
    bins = bins_for(np.bincount(labels[labels >= 0], minlength=values))
    counts = np.zeros((table.dimensions, 2, values, bins), np.int64)
    for column in range(table.dimensions):
        order = table.sorted.order[column]
        _count(table.sorted.level[column], labels[order], parts[order], carriers, counts[column])
    return counts


def adjusted_information(table: CheckedCodes) -> np.ndarray:
    """Information of each dimension about each factor beyond chance, (D, F): 0 none, 1 where it determines the value.

    (I - E) / (H - E): mutual information on the carriers of the factor (`joint_counts`), less its mean E over permutations, as a
    share of what it would be if the value were known. Where I does not exceed E by more than chance explains (the likelihood-
    ratio test at `SIGNIFICANCE` for all pairs together) it is 0. The correction is that of the adjusted mutual information of
    Vinh, Epps and Bailey (2010) with the factor's entropy as upper bound.

    Raises:
        NotApplicableError: too few samples carry a factor.
    """
    found = np.zeros((table.dimensions, len(table.names)))
    for factor in range(len(table.names)):
        for column, counts in enumerate(joint_counts(table, factor).sum(1)):
            found[column, factor] = _beyond_chance(counts, SIGNIFICANCE / found.size)
    return found


def _beyond_chance(counts: np.ndarray, level: float) -> float:
    from scipy.special import chdtri  # takes a third of a second to import, which commands that measure nothing need not wait for

    rows, columns = counts.sum(1), counts.sum(0)
    freedom = (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1)
    chance, best = expected_information(rows, columns), float(entropy(rows))
    surplus = float(mutual_information(counts)) - chance
    if freedom < 1 or best <= chance or surplus <= (chdtri(freedom, level) - freedom) / (2 * rows.sum()):
        return 0.0
    return surplus / (best - chance)


@compiled
def _count(level: np.ndarray, labels: np.ndarray, parts: np.ndarray, carriers: int, counts: np.ndarray) -> None:
    """Add samples, which come in the order of their codes, to counts (2, V, B)."""
    size, bins = len(level), counts.shape[2]
    distinct, last = 0, -1
    for place in range(size):
        if labels[place] >= 0 and level[place] != last:
            distinct += 1
            last = level[place]
            if distinct > bins:
                break
    counted, number, begin = 0, 0, 0
    while begin < size:
        end, inside = begin, 0
        while end < size and level[end] == level[begin]:
            inside += labels[end] >= 0
            end += 1
        if inside > 0:
            target = number if distinct <= bins else int((counted + 0.5 * inside) * bins / carriers)
            for place in range(begin, end):
                if labels[place] >= 0:
                    counts[parts[place], labels[place], target] += 1
            counted += inside
            number += 1
        begin = end


@compiled
def _expected(rows: np.ndarray, repeats: np.ndarray, columns: np.ndarray, times: np.ndarray, total: int) -> float:
    """Sum over cells of the mean of n/N log(N n / (a b)) for hypergeometric n, outward from its mode."""
    found = 0.0
    for i in range(len(rows)):
        for j in range(len(columns)):
            a, b = rows[i], columns[j]
            low, high = max(0, a + b - total), min(a, b)
            mode = min(high, max(low, int((a + 1.0) * (b + 1.0) / (total + 2.0))))
            weight = math.exp(
                math.lgamma(a + 1.0) + math.lgamma(b + 1.0) + math.lgamma(total - a + 1.0) + math.lgamma(total - b + 1.0)
                - math.lgamma(total + 1.0) - math.lgamma(mode + 1.0) - math.lgamma(a - mode + 1.0)
                - math.lgamma(b - mode + 1.0) - math.lgamma(total - a - b + mode + 1.0)
            )  # fmt: skip
            scale = float(total) / (float(a) * float(b))
            cell, mass, p, n = 0.0, 0.0, weight, mode
            while n <= high and p > 1e-17 * weight:
                if n > 0:
                    cell += p * n * math.log(scale * n)
                mass += p
                p *= (a - n) * float(b - n) / ((n + 1.0) * (total - a - b + n + 1.0))
                n += 1
            p, n = weight, mode
            while n > low and p > 1e-17 * weight:
                p *= n * float(total - a - b + n) / ((a - n + 1.0) * (b - n + 1.0))
                n -= 1
                if n > 0:
                    cell += p * n * math.log(scale * n)
                mass += p
            found += repeats[i] * times[j] * cell / mass / total
    return found
