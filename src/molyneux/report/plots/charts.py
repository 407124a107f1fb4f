"""Charts of scores and training logs: learning curves, bars of factors, few-shot curves, groups of runs as dots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.plots.svg import CEILING, CHANCE, INK, QUIET, RULE, SERIES, Panel, axes, label, panel
from molyneux.report.tables.entries import ceiling
from molyneux.report.wording import identifier

_SPLITS = {"train": (SERIES[0], "-"), "validation": (SERIES[1], (0, (4, 2)))}
_FEW_SHOT = "downstream.few_shot"
_CONTROLS = {"bag of words": (SERIES[1], (0, (4, 2))), "random projection": (QUIET, (0, (1, 1.5)))}
_DOTTED = (0, (1.5, 1))


def learning_curves(history: Mapping[str, Sequence[float]]) -> list[Panel]:
    """Learning curves: one panel for each term of the loss, training and validation together.

    Args:
        history: columns of a training log by name; those called `train/<term>` and `validation/<term>` are drawn, over `epoch`
            where there is such a column.
    """
    terms = dict.fromkeys(column.partition("/")[2] for column in history if column.partition("/")[0] in _SPLITS)
    return [_term_curve(history, term) for term in terms]


def _term_curve(history: Mapping[str, Sequence[float]], term: str) -> Panel:
    drawn = axes()
    shown: list[float] = []
    for split, (colour, dashes) in _SPLITS.items():
        values = history.get(f"{split}/{term}")
        if values is None:
            continue
        epochs = history.get("epoch", range(1, len(values) + 1))
        points = [(x, y) for x, y in zip(epochs, values, strict=True) if math.isfinite(y)]
        drawn.plot([x for x, _ in points], [y for _, y in points], color=colour, linestyle=dashes, linewidth=1.6)
        shown += [y for _, y in points[len(points) // 10 :]]
        if len(points) == 1:
            drawn.plot(*points[0], marker="o", markersize=4, color=colour)
    drawn.set_ylim(_limits(shown, drawn.get_ylim()))
    drawn.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    drawn.yaxis.set_major_locator(MaxNLocator(5))
    drawn.yaxis.grid(True, color=RULE, linewidth=0.6)
    drawn.set_axisbelow(True)
    drawn.set_xlabel("epoch", fontsize=8, color=QUIET)
    return panel(identifier(f"curve {term}"), term.replace(".", " "), drawn)


def _limits(late: Sequence[float], full: tuple[float, float]) -> tuple[float, float]:
    """The full range, or that of all but the first tenth where the first epochs would flatten the rest."""
    if not late or full[1] - full[0] <= 4 * (max(late) - min(late)) or max(late) == min(late):
        return full
    margin = 0.08 * (max(late) - min(late))
    return min(late) - margin, max(late) + margin


def factor_bars(scores: Sequence[Score]) -> list[Panel]:
    """Accuracies of single factors as bars, in %, with chance and the judge's ceiling: one panel per direction.

    Args:
        scores: accuracies of single factors; those without a value are left out.
    """
    directions: dict[str, list[Score]] = {}
    for score in scores:
        if score.value is not None:
            directions.setdefault(wording.direction(score), []).append(score)
    return [_bars(direction, group) for direction, group in directions.items()]


def _bars(direction: str, scores: Sequence[Score]) -> Panel:
    drawn = axes(height=0.55 + 0.3 * len(scores))
    for place, score in enumerate(scores):
        _bar(drawn, place, score)
    drawn.set_yticks(range(len(scores)), [label(wording.value_text(score.about.get("factor"))) for score in scores])
    drawn.tick_params(axis="y", length=0, labelsize=9, labelcolor=INK)
    drawn.set_ylim(len(scores) - 0.4, -0.6)
    drawn.set_xlim(0, 112)
    drawn.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])
    drawn.spines["left"].set_visible(False)
    return panel(identifier(f"factors {direction}"), direction, drawn)


def _bar(drawn: Axes, place: int, score: Score) -> None:
    value = score.value or 0.0
    drawn.barh(place, 100, height=0.52, color=RULE, alpha=0.45, linewidth=0)
    drawn.barh(place, value, height=0.52, color=SERIES[0], linewidth=0)
    if score.interval is not None:
        drawn.hlines(place, *score.interval, color=INK, linewidth=1.2)
    if score.chance is not None:
        drawn.vlines(score.chance, place - 0.38, place + 0.38, color=CHANCE, linewidth=1.6, linestyle=_DOTTED)
    top = ceiling(score)
    if top is not None:
        drawn.vlines(top, place - 0.38, place + 0.38, color=CEILING, linewidth=1.6)
    drawn.text(102.5, place, f"{value:.1f}", fontsize=8, color=INK, verticalalignment="center")


def few_shot_curves(scores: Sequence[Score]) -> list[Panel]:
    """Accuracy of labels predicted from codes by the number of samples of each class, in %: one panel for each code and label.

    Args:
        scores: scores of a run; those other than `downstream.few_shot`, or without a value, are left out.
    """
    curves: dict[str, list[Score]] = {}
    for score in scores:
        if score.name == _FEW_SHOT and score.value is not None:
            curves.setdefault(wording.subject(score, without=("per_class",)), []).append(score)
    return [_shot_curve(subject, sorted(points, key=_shots)) for subject, points in curves.items()]


def _shots(score: Score) -> int:
    return int(wording.value_text(score.about["per_class"]))


def _shot_curve(subject: str, points: Sequence[Score]) -> Panel:
    drawn = axes()
    shots = [_shots(point) for point in points]
    for name, (colour, dashes) in _CONTROLS.items():
        beside = [(count, point.controls[name]) for count, point in zip(shots, points, strict=True) if name in point.controls]
        drawn.plot([x for x, _ in beside], [y for _, y in beside], color=colour, linestyle=dashes, linewidth=1.6)
    drawn.plot(shots, [point.value or 0.0 for point in points], color=SERIES[0], linewidth=1.6, marker="o", markersize=4)
    for count, point in zip(shots, points, strict=True):
        if point.interval is not None:
            drawn.vlines(count, *point.interval, color=INK, linewidth=1.2)
    if points[0].chance is not None:
        drawn.axhline(points[0].chance, color=CHANCE, linewidth=1.6, linestyle=_DOTTED)
    drawn.set_xscale("log")
    drawn.set_xticks(shots, [str(count) for count in shots])
    drawn.set_xticks([], minor=True)
    drawn.set_ylim(0, 100)
    drawn.set_yticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])
    drawn.yaxis.grid(True, color=RULE, linewidth=0.6)
    drawn.set_axisbelow(True)
    drawn.set_xlabel("samples of each class", fontsize=8, color=QUIET)
    return panel(identifier(f"shots {subject}"), subject, drawn)


@dataclass(frozen=True)
class DotRow:
    """One row of a dot panel: a group of runs.

    Args:
        label: name of the group.
        values: the number of each run.
        mean: their mean; None where there is none.
        interval: interval of the mean.
        published: a published mean and its interval.
    """

    label: str
    values: tuple[float, ...]
    mean: float | None
    interval: tuple[float, float] | None = None
    published: tuple[float, tuple[float, float]] | None = None


@dataclass(frozen=True)
class Scale:
    """Ends of the axis of a dot panel, and the chance level and judge ceiling that all rows share."""

    low: float
    high: float
    chance: float | None = None
    ceiling: float | None = None


def dot_panel(name: str, title: str, rows: Sequence[DotRow], scale: Scale) -> Panel:
    """A panel with one row per group: runs as small dots, their mean with its interval, the published number as a ring."""
    drawn = axes(height=0.55 + 0.34 * len(rows))
    for place, row in enumerate(rows):
        _row(drawn, place, row)
    for value, colour, dashes in ((scale.chance, CHANCE, _DOTTED), (scale.ceiling, CEILING, "-")):
        if value is not None:
            drawn.axvline(value, color=colour, linewidth=1.4, linestyle=dashes, zorder=0)
    drawn.set_yticks(range(len(rows)), [label(row.label) for row in rows])
    drawn.tick_params(axis="y", length=0, labelsize=9, labelcolor=INK)
    drawn.set_ylim(len(rows) - 0.4, -0.6)
    margin = 0.03 * (scale.high - scale.low)
    drawn.set_xlim(scale.low - margin, scale.high + margin)
    drawn.spines["left"].set_visible(False)
    drawn.xaxis.grid(True, color=RULE, linewidth=0.6)
    drawn.set_axisbelow(True)
    return panel(name, title, drawn)


def _row(drawn: Axes, place: int, row: DotRow) -> None:
    if row.published is not None:
        mean, interval = row.published
        drawn.hlines(place + 0.2, *interval, color=SERIES[1], linewidth=1.2)
        drawn.plot(mean, place + 0.2, marker="o", markersize=5, markerfacecolor="none", markeredgecolor=SERIES[1])
    if row.interval is not None:
        drawn.hlines(place - 0.12, *row.interval, color=SERIES[0], linewidth=1.8)
    drawn.plot(row.values, [place - 0.12] * len(row.values), marker="o", linestyle="none", markersize=2.6, color=INK, alpha=0.55)
    if row.mean is not None:
        drawn.plot(row.mean, place - 0.12, marker="o", markersize=6, color=SERIES[0])
