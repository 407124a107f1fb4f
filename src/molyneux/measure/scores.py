"""How scores are made: values with 95 % intervals, averages over seeds, and whether two scores differ.

Shares use the Clopper-Pearson interval because it is exact: it never covers less than it claims, and it stays valid at
0 and 100 %, where the usual approximations collapse to a point. Means use the percentile bootstrap, joined with Student's, which
of few samples is wider. Distances of distributions use the jackknife. An interval is a function of the samples and the seed:
their order changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from molyneux.core import About, ConfigError, DataError, Score
from molyneux.core.intervals import CONFIDENCE, Bounds, Interval, across_seeds, joined, share_interval, student
from molyneux.core.reader import require_one_reader
from molyneux.measure.code_arrays import in_order

__all__ = ["apart", "jackknife_interval", "mean_interval", "over_seeds", "share_interval", "statistic_interval"]

RESAMPLES = 200
"""How often a statistic is computed on samples drawn from the samples."""
_RESAMPLES = 2000
_CHUNK = 4_000_000
_DIGITS = 10
"""Digits of the largest value that tell values apart when they are resampled."""


def mean_interval(
    values: np.ndarray, rng: np.random.Generator, bounds: tuple[float | None, float | None] = (None, None)
) -> Interval | None:
    """The interval of a mean that holds the percentile bootstrap's and Student's, whatever the order of the values.

    The bootstrap (Efron and Tibshirani 1993, chapter 13) follows skewed values, but of ten values it covers the mean in only 9 of
    10 cases: its variance is too small by a tenth, which Student's interval corrects.

    Where all values are equal the bootstrap would claim certainty. With known bounds the interval then allows for the
    largest share of unlike values that n equal ones do not rule out, 1 - 0.025^(1/n); without them it is None.

    Args:
        values: (N,) one number per sample.
        rng: the stream that resamples.
        bounds: smallest and largest possible value of a sample.
    """
    if len(values) < 1:
        raise DataError("expected at least one value to average, got none")
    distinct, counts = np.unique(_rounded(values), return_counts=True)
    if len(distinct) == 1:
        return _equal_values(float(distinct[0]), len(values), bounds)
    few = 4 * len(distinct) <= len(values)
    means = _resampled_counts(distinct, counts, rng) if few else _resampled(np.repeat(distinct, counts), rng)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    every = np.repeat(distinct, counts)
    return joined((float(low), float(high)), student(float(every.mean()), float(every.std(ddof=1)), len(every), bounds))


def statistic_interval(statistic: Callable[[np.ndarray], float], rows: np.ndarray, rng: np.random.Generator) -> Interval | None:
    """The percentile bootstrap interval of any statistic of the rows (N, ...), as `percentiles`; whatever their order."""
    rows = in_order(rows)
    return percentiles(np.array([statistic(rows[rng.integers(0, len(rows), len(rows))]) for _ in range(RESAMPLES)]))


def percentiles(drawn: np.ndarray) -> Interval | None:
    """The 95 % interval from the values of a statistic on resamples.

    None if a value is not finite, or if all are equal: the resamples then do not show how far the statistic varies, which does
    not make it certain.
    """
    if not np.isfinite(drawn).all() or np.ptp(drawn) <= 1e-12 * np.abs(drawn).max():
        return None
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def jackknife_interval(value: float, left_out: Sequence[float], bounds: Bounds = (None, None)) -> Interval | None:
    """The interval of a smooth statistic from its values without each of G groups of samples.

    None if a value is not finite, or if all are equal, which does not make the statistic certain.

    The delete-a-group jackknife (Kott, Journal of Official Statistics 17, 2001): Student's t with G - 1 degrees of freedom and
    the variance (G - 1) / G times the sum of squared differences from the mean. A bootstrap would draw samples more than once,
    which biases distances between samples.
    """
    values = np.asarray(left_out, np.float64)
    if not np.isfinite(values).all() or np.ptp(values) <= 1e-12 * np.abs(values).max():
        return None
    groups = len(values)
    error = float(np.sqrt((groups - 1) / groups * np.square(values - values.mean()).sum()))
    return student(value, error * math.sqrt(groups), groups, bounds)


GROUPS = 20
"""Groups of samples that the jackknife leaves out, one at a time."""


def grouped_interval(statistic: Callable[..., float], *sets: np.ndarray, bounds: Bounds = (None, None)) -> Interval | None:
    """The `jackknife_interval` of a smooth statistic of sets of rows (N, ...) around its value; whatever their order.

    For divergences and other measures of dependence, which are larger for samples with duplicates: all resamples of a bootstrap
    may lie above the value. None for fewer than two rows in each group.
    """
    if min(map(len, sets)) < 2 * GROUPS:
        return None
    ordered = [in_order(rows) for rows in sets]
    groups = [np.arange(len(rows)) % GROUPS for rows in ordered]
    left_out = [statistic(*(rows[of != one] for rows, of in zip(ordered, groups, strict=True))) for one in range(GROUPS)]
    return jackknife_interval(statistic(*ordered), left_out, bounds)


def over_seeds(scores: Sequence[Score]) -> Score:
    """One score from the same score of several seeds: mean, interval over seeds, chance and controls averaged.

    The interval is that of `core.intervals.across_seeds`. `n` is the number of samples of all runs together; `origin["seeds"]`
    holds the number of runs, their values and their standard deviation. Runs without a value are left out and counted in the
    note.

    Raises:
        ConfigError: there are no scores, or they are not the same score. DataError: they rest on readings of different readers.
    """
    if not scores:
        raise ConfigError("expected the scores of at least one run, got none")
    kinds = {(score.name, tuple(sorted(score.about.items())), score.unit) for score in scores}
    if len(kinds) > 1:
        raise ConfigError(f"expected one score of several seeds, got {len(kinds)} different ones: {sorted(kinds)[:2]} ...")
    require_one_reader(scores)
    known = [score for score in scores if score.value is not None]
    if not known:
        return scores[0]
    values = [score.value for score in known if score.value is not None]
    first = known[0]
    spread = {"count": len(values), "values": values, "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None}
    missing = f"; {len(scores) - len(known)} of {len(scores)} runs have no value" if len(known) < len(scores) else ""
    return replace(
        first,
        value=float(np.mean(values)),
        interval=across_seeds(known),
        n=sum(score.n for score in known),
        chance=None if first.chance is None else _average([score.chance for score in known]),
        controls={name: _average([score.controls.get(name) for score in known]) for name in first.controls},
        origin={**{key: value for key, value in first.origin.items() if key != "seed"}, "seeds": spread},
        note=(first.note + missing).removeprefix("; "),
    )


def apart(first: Score, second: Score | float) -> bool:
    """Whether the interval of a score and that of another (or a plain number) do not touch.

    Two 95 % intervals that do not touch differ at about the 0.5 % level: a cautious test.

    Raises:
        DataError: a score has no interval.
    """
    low, high = _interval(first)
    other_low, other_high = (second, second) if isinstance(second, float | int) else _interval(second)
    return high < other_low or other_high < low


def _interval(score: Score) -> Interval:
    if score.interval is None:
        raise DataError(f"score {score.name} {dict(score.about)} has no interval: compare scores that have one")
    return score.interval


def _average(values: Sequence[float | None]) -> float:
    return float(np.mean([value for value in values if value is not None]))


def _rounded(values: np.ndarray) -> np.ndarray:
    """Values without their last digits, which depend on the processor and on the order of sums before."""
    largest = float(np.abs(values).max())
    digits = _DIGITS - math.ceil(math.log10(largest)) if 0 < largest < math.inf else 0
    return np.asarray(values.round(digits) if -300 < digits < 300 else values)


def _equal_values(value: float, n: int, bounds: tuple[float | None, float | None]) -> Interval | None:
    low, high = bounds
    if low is None or high is None:
        return None
    unlike = 1 - ((1 - CONFIDENCE) / 2) ** (1 / n)
    return value - unlike * (value - low), value + unlike * (high - value)


def _resampled_counts(distinct: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Means of resamples when few values occur: the counts of a resample are multinomial."""
    total = int(counts.sum())
    return np.asarray(rng.multinomial(total, counts / total, size=_RESAMPLES) @ distinct / total)


def _resampled(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Means of resamples, drawn in chunks so that memory does not grow with n."""
    rows = max(1, _CHUNK // len(values))
    chunks = [min(rows, _RESAMPLES - start) for start in range(0, _RESAMPLES, rows)]
    means = [values[rng.integers(0, len(values), (count, len(values)), dtype=np.int32)].mean(1) for count in chunks]
    return np.concatenate(means)


_NOTHING = "no sample has what this needs"


@dataclass(frozen=True)
class Recorder:
    """Makes the scores of one family about one thing.

    Args:
        family: first part of the names of its scores.
        rng: the stream that resamples.
        about: what the scores are about.
        origin: recorded with every score.
    """

    family: str
    rng: np.random.Generator
    about: About = field(default_factory=dict)
    origin: Mapping[str, Any] = field(default_factory=dict)

    def on(self, **about: str | tuple[str, ...]) -> Recorder:
        """A recorder whose scores are about this too."""
        return replace(self, about={**self.about, **about})

    def score(self, name: str, value: float | None, **fields: Any) -> Score:
        """A score as it is given."""
        return Score(f"{self.family}.{name}", value, self.about, origin=self.origin, **fields)

    def share(self, name: str, right: np.ndarray, **fields: Any) -> Score:
        """The share of samples that are right, in %, with the exact interval.

        Args:
            name: last part of the name.
            right: (N,) bool; an empty one gives a score without a value.
            **fields: further fields of the score; chance and controls in %.
        """
        fields = {"unit": "%", "bounds": (0.0, 100.0), **fields}
        n = len(right)
        if n == 0:
            return self.score(name, None, **{**fields, "note": _NOTHING})
        count = int(np.count_nonzero(right))
        low, high = share_interval(count, n)
        return self.score(name, 100.0 * count / n, interval=(100.0 * low, 100.0 * high), n=n, **fields)

    def mean(self, name: str, values: np.ndarray, **fields: Any) -> Score:
        """The mean of one number per sample with its bootstrap interval.

        Args:
            name: last part of the name.
            values: (N,) numbers; an empty array, NaN or infinity gives a score without a value.
            **fields: further fields of the score.
        """
        n, finite = len(values), int(np.count_nonzero(np.isfinite(values)))
        if n == 0 or finite < n:
            note = f"{n - finite} of {n} values are not finite" if n else _NOTHING
            return self.score(name, None, **{**fields, "note": note})
        data = np.sort(values.astype(np.float64))  # the last digits of a sum depend on its order
        interval = mean_interval(data, self.rng, fields.get("bounds", (None, None)))
        return self.score(name, float(data.mean()), interval=interval, n=n, **fields)


def percent(right: np.ndarray) -> float:
    """The share of True, in %; 0 for none."""
    return 100.0 * float(right.mean()) if len(right) else 0.0
