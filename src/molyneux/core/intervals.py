"""95 % confidence intervals: of a share of samples, and of the mean of the same score over several runs.

Several rooms need them, so they have one home.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from molyneux.core.errors import ConfigError, DataError
from molyneux.core.score import Score

CONFIDENCE = 0.95

Bounds = tuple[float | None, float | None]
Interval = tuple[float, float]


def share_interval(right: int, n: int) -> Interval:
    """The exact interval of a binomial proportion (Clopper and Pearson, Biometrika 26, 1934), both ends in 0..1.

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


def student(mean: float, sd: float, count: int, bounds: Bounds = (None, None)) -> Interval:
    """Student's t-interval of a mean over `count` >= 2 runs from their standard deviation (n - 1), cut at the bounds."""
    if count < 2:
        raise ConfigError(f"expected at least two runs for an interval over seeds, got {count}: run more seeds")
    from scipy.special import stdtrit

    half = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * sd / math.sqrt(count)
    low, high = bounds
    return max(mean - half, -math.inf if low is None else low), min(mean + half, math.inf if high is None else high)


def pooled(scores: Sequence[Score]) -> Interval | None:
    """The interval of the mean over the given runs that is due to their finite number of samples.

    Shares of samples are counted together, exactly (`share_interval`). Other numbers combine the runs' own intervals as
    independent errors: a distance from the mean to each end of sqrt(sum d_i^2) / runs (the MOVER of Zou and Donner,
    Statistics in Medicine 27, 2008, equation 2). None where a run has no interval.
    """
    known = [(score.value, score.interval) for score in scores if score.value is not None and score.interval is not None]
    if not known or len(known) < len(scores):
        return None
    if len(known) == 1:
        return known[0][1]
    if (counts := _counts(scores)) is not None:
        low, high = share_interval(*counts)
        return 100 * low, 100 * high
    mean = float(np.mean([value for value, _ in known]))
    low = math.sqrt(sum((value - interval[0]) ** 2 for value, interval in known)) / len(known)
    high = math.sqrt(sum((interval[1] - value) ** 2 for value, interval in known)) / len(known)
    return mean - low, mean + high


def difference_interval(first: Score, second: Score) -> Interval | None:
    """The interval of `first.value - second.value` of two scores from different samples; None where one has no interval.

    The two intervals combine as independent errors (Newcombe, Statistics in Medicine 17, 1998, method 10,
    and Zou and Donner, Statistics in Medicine 27, 2008, for any intervals).
    Two exact intervals of shares give one that is a little too wide rather than too narrow.
    """
    if first.value is None or second.value is None or first.interval is None or second.interval is None:
        return None
    gap, (low, high), (other_low, other_high) = first.value - second.value, first.interval, second.interval
    down = math.hypot(first.value - low, other_high - second.value)
    up = math.hypot(high - first.value, second.value - other_low)
    return gap - down, gap + up


def across_seeds(scores: Sequence[Score]) -> Interval | None:
    """The interval of the mean over all possible seeds, from the same score of several runs; for one run, its own interval.

    The smallest interval that holds both Student's t-interval over the runs and the `pooled` one. The first alone claims
    certainty where all runs agree, as at 100 %: what no run shows may still be what few samples cannot show.

    Args:
        scores: at least one, each with a value.

    Returns:
        None where nothing is known: a single run without an interval, or runs that agree and have none.
    """
    own = pooled(scores)
    if len(scores) < 2:
        return own
    values = [float(score.value) for score in scores if score.value is not None]
    between = student(float(np.mean(values)), float(np.std(values, ddof=1)), len(values), scores[0].bounds)
    if own is None:
        return between if between[0] < between[1] else None
    return min(between[0], own[0]), max(between[1], own[1])


def _counts(scores: Sequence[Score]) -> tuple[int, int] | None:
    """Number of right samples and of all samples in runs of equal size; None unless the scores are shares of samples, in %."""
    if any(score.unit != "%" or score.bounds != (0.0, 100.0) or score.n < 1 for score in scores):
        return None
    right = [(score.value or 0.0) * score.n / 100 for score in scores]
    if len({score.n for score in scores}) > 1 or any(abs(count - round(count)) > 1e-6 for count in right):
        return None
    return sum(round(count) for count in right), sum(score.n for score in scores)
