"""Are differences between groups of runs larger than those between seeds? Tests against the best group, and what runs cost.

With common seeds, which have the same samples and the same random numbers in both groups, the test is the paired t-test over
these seeds; without any, Welch's (Biometrika 34, 1947). The p-values of all groups that are compared with the same best one are
adjusted by Holm's step-down method (Scandinavian Journal of Statistics 6, 1979).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from molyneux.core.intervals import CONFIDENCE, Interval
from molyneux.core.score import About
from molyneux.report.record_lines import StudyRun
from molyneux.report.study.groups import Key, SeedGroup, StudyPart
from molyneux.report.study.seeds import OverSeeds
from molyneux.report.study.tables import entry_of
from molyneux.report.tables import Column, Entry, Table
from molyneux.report.tables.table import DASH

LEVEL = 0.05
"""A difference is called significant where its adjusted p-value is below this."""
_TEST = (
    "p: of the difference from the best mean of the column; paired t-test over the seeds that both have, Welch's t-test where "
    "they have none in common; adjusted over the column by Holm's method. With fewer than two seeds, or differences that are the "
    "same for all, nothing is claimed. The best one is chosen by the same numbers: to confirm it, run both on new seeds."
)
_COST = (
    "Cost: means over the runs whose training is on record, validation included and measures not; processor seconds are seconds "
    "times threads, an upper limit. Times of different processors do not compare."
)


@dataclass(frozen=True)
class VariantDifference:
    """The difference of the means of a score of two variants over their seeds.

    Args:
        one: the name of the first variant.
        other: the name of the second.
        mean: the mean of the first less that of the second.
        interval: the 95 % interval of the difference (Welch); None where a variant has one seed alone.
        p: of Welch's two-sided test; None as the interval.
        runs: how many seeds each has.
    """

    one: str
    other: str
    mean: float
    interval: Interval | None
    p: float | None
    runs: tuple[int, int]


def variant_difference(runs: Sequence[StudyRun], one: str, other: str, score: str, about: About) -> VariantDifference | None:
    """Two variants of a study compared in one score; None where one of them has no value of it.

    Args:
        runs: of the study.
        one: name of the variant from whose mean the other's is taken.
        other: name of that variant.
        score: name of the score.
        about: the whole of what it is about.
    """
    first, second = (
        [
            float(found.value)
            for run in runs
            if run.settings["name"] == name
            for found in run.scores
            if found.name == score and found.about == about and found.value is not None
        ]
        for name in (one, other)
    )
    if not first or not second:
        return None
    mean, interval = float(np.mean(first) - np.mean(second)), None
    if (spread := _welch_error(first, second)) is not None:
        from scipy.special import stdtrit  # takes a third of a second to import

        error, degrees = spread
        half = float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) * error
        interval = (mean - half, mean + half)
    return VariantDifference(one, other, mean, interval, _welch(first, second), (len(first), len(second)))


def difference_p(first: Mapping[str, float], second: Mapping[str, float]) -> float | None:
    """The two-sided p-value of the difference of two means, of values by seed.

    Returns:
        None where two seeds, or two of each, are not there, or the differences do not vary and so say nothing about their spread.
    """
    common = sorted(first.keys() & second.keys())
    if common:
        return _paired([first[seed] - second[seed] for seed in common])
    return _welch(list(first.values()), list(second.values()))


def holm(values: Sequence[float | None]) -> list[float | None]:
    """P-values adjusted for their number (Holm, 1979): the k-th smallest of m times m - k + 1, not below those before it.

    Those that are None do not count.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    known = sorted((value, place) for place, value in enumerate(values) if value is not None)
    adjusted: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (value, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * value))
        adjusted[place] = largest
    return adjusted


def against_best(part: StudyPart, key: Key) -> list[float | None]:
    """The adjusted p-value of every group of a part against the best one by a score; None for the best one itself.

    All are None where no direction of the score is better.
    """
    column = part.column(key)
    known = [(over.mean, place) for place, over in enumerate(column) if over is not None and over.mean is not None]
    higher = next((over.first.higher_is_better for over in column if over is not None), None)
    if higher is None or not known:
        return [None] * len(column)
    best = max(known, key=lambda item: item[0] if higher else -item[0])[1]
    values = [group.by_seed(key) for group in part.groups]
    return holm([None if place == best else difference_p(own, values[best]) for place, own in enumerate(values)])


def cost_of(group: SeedGroup) -> dict[str, float]:
    """Means of `steps`, `seconds` and `processor_seconds` over the runs of a group that have them; none where none has."""
    costs = [run.cost for run in group.runs if run.cost.get("seconds") is not None]
    if not costs:
        return {}
    columns = {
        "steps": [float(cost["steps"]) for cost in costs],
        "seconds": [float(cost["seconds"]) for cost in costs],
        "processor_seconds": [processor_seconds(cost) for cost in costs],
    }
    return {name: float(np.mean(numbers)) for name, numbers in columns.items()}


def processor_seconds(cost: Mapping[str, Any]) -> float:
    """Seconds of a training times its threads: at most so long were processors at work."""
    return float(cost["seconds"]) * int(cost.get("threads") or 1)


def compared_table(
    part: StudyPart, keys: Sequence[Key], name: str, title: str, shown: tuple[int, ...] | None = None
) -> Table | None:
    """Groups in rows: for each score the mean with its interval and the p-value against the best, then seeds and cost.

    Pages show those at the places `shown`. None where there is one group alone, or no score has a better direction.
    """
    chosen = [key for key in keys if any(over and over.first.higher_is_better is not None for over in part.column(key))]
    if len(part.groups) < 2 or not chosen:
        return None
    means = [part.column(key) for key in chosen]
    tests = [against_best(part, key) for key in chosen]
    rows = []
    for place, group in enumerate(part.groups):
        pairs = [_pair(means[number][place], tests[number][place]) for number in range(len(chosen))]
        entries = [entry for pair in pairs for entry in pair]
        rows.append((Entry(part.label(group)), *entries, Entry(str(_seeds(group)), value=_seeds(group)), *cost_entries(group)))
    heads = [part.title_of(key) for key in chosen]
    columns = [Column("", "left")]
    for head in heads:
        columns += [Column(head), Column("p")]
    columns += [Column("seeds"), *COST_COLUMNS]
    notes = (_TEST, _COST) if any(cost_of(group) for group in part.groups) else (_TEST,)
    return Table(name, title, tuple(columns), tuple(rows), notes, shown=shown)


COST_COLUMNS = (Column("steps"), Column("seconds"), Column("processor seconds"))
"""Titles of `cost_entries`."""


def cost_entries(group: SeedGroup) -> tuple[Entry, Entry, Entry]:
    """Steps, seconds and processor seconds of a group, or dashes."""
    cost = cost_of(group)
    if not cost:
        return DASH, DASH, DASH
    steps, seconds, processor = cost["steps"], cost["seconds"], cost["processor_seconds"]
    return _whole(steps), _whole(seconds), _whole(processor)


def _whole(number: float) -> Entry:
    return Entry(f"{number:,.0f}" if number >= 10 else f"{number:.1f}", value=number, tone="muted")


def _pair(over: OverSeeds | None, p: float | None) -> tuple[Entry, Entry]:
    test = DASH if p is None else Entry(f"{p:.3f}" if p >= 0.001 else "< 0.001", value=p, tone="strong" if p < LEVEL else "")
    return entry_of(over, None), test


def _seeds(group: SeedGroup) -> int:
    return len({run.seed for run in group.runs})


def _paired(differences: Sequence[float]) -> float | None:
    if len(differences) < 2:
        return None
    sd = float(np.std(differences, ddof=1))
    mean = float(np.mean(differences))
    if sd <= 1e-12 * max(1.0, abs(mean)):
        return 1.0 if mean == 0 else None
    return _two_sided(mean / (sd / math.sqrt(len(differences))), len(differences) - 1)


def _welch(first: Sequence[float], second: Sequence[float]) -> float | None:
    if (spread := _welch_error(first, second)) is None:
        return None
    return _two_sided((float(np.mean(first)) - float(np.mean(second))) / spread[0], spread[1])


def _welch_error(first: Sequence[float], second: Sequence[float]) -> tuple[float, float] | None:
    """The standard error of a difference of means, and its degrees of freedom; None where nothing tells a spread."""
    if len(first) < 2 or len(second) < 2:
        return None
    errors = [float(np.var(values, ddof=1)) / len(values) for values in (first, second)]
    if sum(errors) == 0:
        return None
    degrees = sum(errors) ** 2 / sum(error**2 / (len(values) - 1) for error, values in zip(errors, (first, second), strict=True))
    return math.sqrt(sum(errors)), degrees


def _two_sided(t: float, degrees: float) -> float:
    from scipy.special import stdtr  # takes a third of a second to import

    return float(2 * stdtr(degrees, -abs(t)))
