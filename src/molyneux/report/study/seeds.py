"""Summarise the same score over the seeds of a group: mean, standard deviation, and intervals over seeds and over samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from molyneux.core import DataError, Score
from molyneux.core.intervals import Interval, across_seeds, pooled, student
from molyneux.core.reader import require_one_reader
from molyneux.report.published import Figure
from molyneux.report.wording import places, write


@dataclass(frozen=True)
class OverSeeds:
    """Summary of the same score of several runs.

    Args:
        first: the score of the first run, which carries name, unit, bounds and direction.
        values: the value of each run that has one.
        chance: mean chance; None where it has no meaning.
        controls: mean controls.
        pooled: interval of the mean of these runs that is due to the finite number of samples.
        interval: 95 % interval of the mean over all seeds, never narrower than `pooled`; for one run, that of its score.
    """

    first: Score
    values: tuple[float, ...]
    chance: float | None
    controls: dict[str, float]
    pooled: Interval | None
    interval: Interval | None

    @property
    def mean(self) -> float | None:
        """Mean over runs; None where no run has a value."""
        return float(np.mean(self.values)) if self.values else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over runs (n - 1); None below two."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else None

    @property
    def score(self) -> Score:
        """The mean as a score, with its interval, chance and controls."""
        return replace(self.first, value=self.mean, interval=self.interval, chance=self.chance, controls=self.controls)

    @property
    def decimals(self) -> int:
        """Number of decimals that the mean is written with."""
        return places(replace(self.first, value=self.mean, interval=None))

    @property
    def written(self) -> str:
        """The mean as text."""
        return write(self.mean, self.decimals)


def over_seeds(scores: Sequence[Score]) -> OverSeeds:
    """Summarise the same score of several runs, with the intervals of `core.intervals`.

    Raises:
        DataError: there is no score, or they rest on readings of different readers.
    """
    if not scores:
        raise DataError("expected the scores of at least one run, got none")
    require_one_reader(scores)
    known = [score for score in scores if score.value is not None]
    values = tuple(float(score.value) for score in known if score.value is not None)
    names = dict.fromkeys(name for score in known for name in score.controls)
    controls = {name: float(np.mean([score.controls[name] for score in known if name in score.controls])) for name in names}
    chances = [score.chance for score in scores if score.chance is not None]
    chance = float(np.mean(chances)) if chances else None
    between = across_seeds(known) if known else None
    return OverSeeds((known or list(scores))[0], values, chance, controls, pooled(known), between)


def published_interval(figure: Figure, seeds: int, score: Score) -> Interval:
    """Student's t-interval of a published number, widened by its rounding; without a standard deviation, the rounding alone."""
    half = figure.step / 2
    if figure.sd is None:
        return figure.mean - half, figure.mean + half
    low, high = student(figure.mean, figure.sd + half, seeds, score.bounds)
    return low - half, high + half


def above(over: OverSeeds, interval: Interval) -> bool | None:
    """Whether a mean lies above (True) or below (False) another with the intervals apart; None where they touch."""
    own = over.interval
    if own is None:
        return None
    return True if own[0] > interval[1] else False if own[1] < interval[0] else None


def best_of(cells: Sequence[OverSeeds | None]) -> list[OverSeeds]:
    """The best mean and all that are not apart from it, best first; none where no direction is better.

    Two means are apart if they are written differently and their intervals do not touch.
    """
    known = [cell for cell in cells if cell is not None and cell.mean is not None]
    if not known or known[0].first.higher_is_better is None:
        return []
    ordered = sorted(known, key=lambda cell: cell.mean or 0.0, reverse=known[0].first.higher_is_better)
    return [cell for cell in ordered if not _apart(cell, ordered[0])]


def _apart(one: OverSeeds, other: OverSeeds) -> bool:
    (low, high), (lower, higher) = (over.interval or (over.mean or 0.0,) * 2 for over in (one, other))
    return one.written != other.written and (low > higher or high < lower)
