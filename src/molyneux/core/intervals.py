"""95 % confidence intervals: of a share of samples, and of the mean of the same score over several runs.

They are here because `learn`, `measure` and `report` use them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from molyneux.core.errors import ConfigError, DataError
from molyneux.core.score import Score

CONFIDENCE = 0.95

OF_SHARED_VALUES = ("two_way_choice",)
"""Families of scores whose intervals hold for new values of a factor, such as new shapes. All seeds of a study are asked about
the same values, so what these make uncertain does not shrink with the number of seeds."""

_RESAMPLES = 1000

Bounds = tuple[float | None, float | None]
Interval = tuple[float, float]


def share_interval(right: float, n: float) -> Interval:
    """The exact interval of a binomial proportion (Clopper and Pearson, Biometrika 26, 1934), both ends in 0..1.

    The numbers need not be whole, as effective numbers of samples are not.

    >>> low, high = share_interval(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    if not 0 <= right <= n or n < 1:
        raise DataError(f"expected 0 <= right <= n and n >= 1, got right={right} and n={n}")
    from scipy.special import betaincinv  # takes a third of a second to import, which nothing else here needs

    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if right == 0 else float(betaincinv(right, n - right + 1, tail))
    high = 1.0 if right == n else float(betaincinv(right + 1, n - right, 1 - tail))
    return low, high


def wilson_interval(share: float, n: float) -> Interval:
    """The score interval of a proportion (Wilson, Journal of the American Statistical Association 22, 1927), ends in 0..1.

    Unlike the exact one it needs no whole number of right samples: the share may be a mean of numbers in 0..1, whose variance is
    that of a proportion at most.

    >>> low, high = wilson_interval(1.0, 40)
    >>> round(low, 4), high
    (0.9124, 1.0)
    """
    if not (0 <= share <= 1 and n > 0):
        raise DataError(f"expected a share in 0..1 and n above 0, got share={share} and n={n}")
    from scipy.special import ndtri

    square = float(ndtri((1 + CONFIDENCE) / 2)) ** 2
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = math.sqrt(square * share * (1 - share) / n + (square / (2 * n)) ** 2) / (1 + square / n)
    low = 0.0 if share == 0 else max(0.0, centre - half)  # both are exact at the edges, up to rounding
    return low, 1.0 if share == 1 else min(1.0, centre + half)


def weighted_interval(
    values: Sequence[float] | np.ndarray,
    intervals: Sequence[Interval],
    weights: Sequence[float] | np.ndarray,
    *,
    shared: float = 1.0,
) -> Interval:
    """The interval of a weighted sum from those of its parts: the MOVER of Zou and Donner (Statistics in Medicine 27, 2008).

    Args:
        values: of the parts.
        intervals: of the parts, around their values.
        weights: of the parts.
        shared: how many parts have the same error; 1 where the parts are independent. Parts that share errors have a variance
            that many times as large, but never more than if they went wholly together.
    """
    middle = sum(weight * value for value, weight in zip(values, weights, strict=True))
    sides = []
    for end in (0, 1):
        halves = [weight * abs(value - ends[end]) for value, ends, weight in zip(values, intervals, weights, strict=True)]
        sides.append(min(sum(halves), math.sqrt(shared * sum(half**2 for half in halves))))
    return middle - sides[0], middle + sides[1]


def resampled_values(total: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Means of what was asked about pairs of values, on resamples of the values; those without a pair are left out.

    Each value is drawn with all its questions (Owen, "The pigeonhole bootstrap", Annals of Applied Statistics, 2007): what
    questions about one value have in common makes the mean as uncertain as it is.

    Args:
        total: (K, K) sums of points by the two values that a question is about.
        counts: (K, K) how many points were added.
        rng: the stream that resamples.
    """
    values = len(total)
    weights = rng.multinomial(values, np.full(values, 1 / values), _RESAMPLES).astype(np.float64)
    sums, asked = (((weights @ part) * weights).sum(1) for part in (total, counts.astype(np.float64)))
    return np.asarray(sums[asked > 0] / asked[asked > 0])


def questions_interval(points: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> Interval:
    """The interval of the mean of points of questions, for new questions about new values, both ends in 0..1.

    Questions about the same value are not independent, so values are resampled (`resampled_values`); where each value is only
    ever asked with one other, pairs of values are, and Student's interval over the pairs is contained too. Where all questions
    have the same points, it is the exact interval of as many questions as there are values, or pairs.

    Args:
        points: (N,) in 0..1.
        values: (N, 2) of the two things that each question is about.
        rng: the stream that resamples.
    """
    if not len(points):
        raise DataError("expected at least one question, got none")
    known, codes = np.unique(values, return_inverse=True)
    codes = codes.reshape(values.shape)
    total, counts = np.zeros((2, len(known), len(known)))
    for table, part in ((total, points), (counts, np.ones(len(points)))):
        np.add.at(table, (codes[:, 0], codes[:, 1]), part)
    mean, units, means = float(points.mean()), len(known), np.empty(0)
    both = counts + counts.T
    if paired := bool(((both > 0).sum(1) == 1).all()):
        places = np.triu(both) > 0
        sums, sizes, units = (total + total.T)[places], both[places], int(places.sum())
        weights = rng.multinomial(units, np.full(units, 1 / units), _RESAMPLES).astype(np.float64)
        means = (weights @ sums) / (weights @ sizes)
    else:
        means = resampled_values(total, counts, rng)
    if len(np.unique(points)) < 2 or units < 2 or not len(means) or not np.ptp(means):
        return share_interval(mean * units, units) if mean in (0.0, 1.0) else wilson_interval(mean, units)
    found = tuple(map(float, np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])))
    over = student(mean, float(np.std((sums - mean * sizes) / sizes.mean(), ddof=1)), units, (0.0, 1.0)) if paired else None
    low, high = joined((found[0], found[1]), over, (mean, mean)) or (mean, mean)
    return low, high


def joined(*intervals: Interval | None) -> Interval | None:
    """The smallest interval that holds all that are given; None where there is none."""
    known = [interval for interval in intervals if interval is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def student(mean: float, sd: float, count: int, bounds: Bounds = (None, None)) -> Interval:
    """Student's t-interval of a mean over `count` >= 2 runs from their standard deviation (n - 1), cut at the bounds."""
    if count < 2:
        raise ConfigError(f"expected at least two runs for an interval over seeds, got {count}: run more seeds")
    from scipy.special import stdtrit

    half = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * sd / math.sqrt(count)
    low, high = bounds
    return max(mean - half, -math.inf if low is None else low), min(mean + half, math.inf if high is None else high)


def pooled(scores: Sequence[Score], *, shared: bool = True) -> Interval | None:
    """The interval of the mean over the given runs that is due to their finite number of samples.

    Shares of samples are counted together, exactly (`share_interval`). Other numbers combine the runs' own intervals as
    independent errors (`weighted_interval`), but for those of `OF_SHARED_VALUES`, which have the mean of the runs' intervals
    where the runs were asked about the same values (`shared`). None where a run has no interval.
    """
    known = [(score.value, score.interval) for score in scores if score.value is not None and score.interval is not None]
    if not known or len(known) < len(scores):
        return None
    if len(known) == 1:
        return known[0][1]
    if shared and _shares_values(scores):
        low, high = np.mean([interval for _, interval in known], 0)
        return float(low), float(high)
    if (counts := _counts(scores)) is not None:
        low, high = share_interval(*counts)
        return 100 * low, 100 * high
    values, intervals = zip(*known, strict=True)
    return weighted_interval(values, intervals, [1 / len(known)] * len(known))


def difference_interval(first: Score, second: Score) -> Interval | None:
    """The interval of `first.value - second.value` of two scores from different samples; None where one has no interval.

    The two intervals combine as independent errors (Newcombe, Statistics in Medicine 17, 1998, method 10,
    and Zou and Donner, Statistics in Medicine 27, 2008, for any intervals).
    Two exact intervals of shares give an interval that is slightly too wide, not too narrow.
    """
    if first.value is None or second.value is None or first.interval is None or second.interval is None:
        return None
    gap, (low, high), (other_low, other_high) = first.value - second.value, first.interval, second.interval
    down = math.hypot(first.value - low, other_high - second.value)
    up = math.hypot(high - first.value, second.value - other_low)
    return gap - down, gap + up


def across_seeds(scores: Sequence[Score], *, shared: bool = True) -> Interval | None:
    """The interval of the mean over all possible seeds, from the same score of several runs; for one run, its own interval.

    The smallest interval that holds both Student's t-interval over the runs and the `pooled` one. The first alone claims
    certainty where all runs agree, as at 100 %: what no run shows may still be what few samples cannot show. Of scores of
    `OF_SHARED_VALUES` both are independent errors, and their half-widths add in squares, unless the runs were asked about
    different values: these then differ from run to run as all else does.

    Args:
        scores: at least one, each with a value.
        shared: whether all runs were asked about the same values; it counts for scores of `OF_SHARED_VALUES` alone.

    Returns:
        None where nothing is known: a single run without an interval, or runs that agree and have none.
    """
    shared = shared and _shares_values(scores)
    own = pooled(scores, shared=shared)
    if len(scores) < 2:
        return own
    values = [float(score.value) for score in scores if score.value is not None]
    between = student(float(np.mean(values)), float(np.std(values, ddof=1)), len(values), scores[0].bounds)
    if own is None:
        return between if between[0] < between[1] else None
    if shared:
        mean, (low, high) = float(np.mean(values)), scores[0].bounds
        down, up = math.hypot(mean - own[0], mean - between[0]), math.hypot(own[1] - mean, between[1] - mean)
        return max(mean - down, -math.inf if low is None else low), min(mean + up, math.inf if high is None else high)
    return min(between[0], own[0]), max(between[1], own[1])


def _shares_values(scores: Sequence[Score]) -> bool:
    return scores[0].name.partition(".")[0] in OF_SHARED_VALUES


def _counts(scores: Sequence[Score]) -> tuple[int, int] | None:
    """Number of right samples and of all samples in runs of equal size; None unless the scores are shares of samples, in %.

    A share of samples has the exact interval. Other scores in %, such as balanced accuracy, have others, and are no counts even
    where they are whole, as at 100 %.
    """
    if any(score.unit != "%" or score.bounds != (0.0, 100.0) or score.n < 1 for score in scores):
        return None
    right = [(score.value or 0.0) * score.n / 100 for score in scores]
    if len({score.n for score in scores}) > 1 or any(abs(count - round(count)) > 1e-6 for count in right):
        return None
    for score, count in zip(scores, right, strict=True):
        exact = [100 * end for end in share_interval(round(count), score.n)]
        if score.interval is None or max(abs(one - end) for one, end in zip(score.interval, exact, strict=True)) > 1e-6:
            return None
    return sum(round(count) for count in right), sum(score.n for score in scores)
