"""One number from the runs of several seeds: mean, spread, and two intervals that answer different questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from molyneux.core import DataError, Score
from molyneux.report.published import Figure

Interval = tuple[float, float]


@dataclass(frozen=True)
class OverSeeds:
    """The same score of several runs.

    Args:
        first: the score of the first run, which carries name, unit, bounds and direction.
        values: the value of each run that has one.
        failed: how many runs have none.
        chance: mean chance; None where it has no meaning.
        controls: mean controls.
        pooled: interval of the mean given these very runs: what the finite number of samples leaves open.
    """

    first: Score
    values: tuple[float, ...]
    failed: int
    chance: float | None
    controls: dict[str, float]
    pooled: Interval | None

    @property
    def mean(self) -> float | None:
        """Mean over runs; None where no run has a value."""
        return float(np.mean(self.values)) if self.values else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over runs (n - 1); None below two."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else None

    @property
    def interval(self) -> Interval | None:
        """95 % interval for the mean over all seeds (Student's t), cut at the bounds; of one run its own."""
        if len(self.values) < 2:
            return self.pooled
        return student(float(np.mean(self.values)), self.sd or 0.0, len(self.values), self.first.bounds)


def over_seeds(scores: Sequence[Score]) -> OverSeeds:
    """Gather the same score of several runs.

    The pooled interval adds the runs' own half-widths as independent errors: half = sqrt(sum half_i^2) / runs.

    Raises:
        DataError: there is no score.
    """
    if not scores:
        raise DataError("expected the scores of at least one run, got none")
    known = [score for score in scores if score.value is not None]
    values = tuple(float(score.value) for score in known if score.value is not None)
    names = dict.fromkeys(name for score in known for name in score.controls)
    controls = {name: _mean([score.controls[name] for score in known if name in score.controls]) for name in names}
    chances = [score.chance for score in scores if score.chance is not None]
    chance = _mean(chances) if chances else None
    return OverSeeds((known or list(scores))[0], values, len(scores) - len(known), chance, controls, _pooled(known))


def student(mean: float, sd: float, count: int, bounds: tuple[float | None, float | None] = (None, None)) -> Interval:
    """The 95 % t-interval of a mean from the standard deviation of `count` at least two runs, cut at the bounds."""
    half = float(stats.t.ppf(0.975, count - 1)) * sd / math.sqrt(count)
    low, high = bounds
    return max(mean - half, -math.inf if low is None else low), min(mean + half, math.inf if high is None else high)


def published_interval(figure: Figure, seeds: int, score: Score) -> Interval:
    """The t-interval of a number published where `score` stands; the number itself where no deviation was given."""
    return (figure.mean, figure.mean) if figure.sd is None else student(figure.mean, figure.sd, seeds, score.bounds)


def above(over: OverSeeds, interval: Interval) -> bool | None:
    """Whether a mean lies above (True) or below (False) another with the intervals apart; None where they touch."""
    own = over.interval
    if own is None:
        return None
    return True if own[0] > interval[1] else False if own[1] < interval[0] else None


def _pooled(scores: Sequence[Score]) -> Interval | None:
    pairs = [(score.value, score.interval) for score in scores if score.value is not None and score.interval is not None]
    if not pairs or len(pairs) < len(scores):
        return None
    mean = _mean([value for value, _ in pairs])
    low = math.sqrt(sum((value - interval[0]) ** 2 for value, interval in pairs)) / len(pairs)
    high = math.sqrt(sum((interval[1] - value) ** 2 for value, interval in pairs)) / len(pairs)
    return mean - low, mean + high


def _mean(numbers: Sequence[float]) -> float:
    return float(np.mean(numbers))
