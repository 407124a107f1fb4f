"""Charts of scores, training logs and codes: learning curves, bars of factors, few-shot curves, groups of runs, projections."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from molyneux.core import Scatter, Score
from molyneux.report import wording
from molyneux.report.plots.svg import CEILING, CHANCE, INK, QUIET, RULE, SERIES, Panel, axes, label, panel
from molyneux.report.tables.table import ceiling
from molyneux.report.wording import identifier

_DASHED, _DOTTED = (0, (4, 2)), (0, (1.5, 1))
_SPLITS = {"train": (SERIES[0], "-"), "validation": (SERIES[1], _DASHED)}
_CONTROLS = {"bag of words": (SERIES[1], _DASHED), "random projection": (QUIET, (0, (1, 1.5)))}
_POINTS = 1000
_DOT = re.compile(r"M ([\d.]+) ([\d.]+) \nL \1 \2 \n")
"""A dot as matplotlib writes it: a line from a point to the same point, which `h0` writes in half the bytes."""


def learning_curves(history: Mapping[str, Sequence[float]]) -> list[Panel]:
    """Learning curves: one panel for each term of the loss, training and validation together.

    Args:
        history: columns of a training log by name; those called `train/<term>` and `validation/<term>` are drawn, over the
            optimiser steps in `step`, or over `epoch` where there is no such column.
    """
    terms = dict.fromkeys(column.partition("/")[2] for column in history if column.partition("/")[0] in _SPLITS)
    return [_term_curve(history, term) for term in terms]


def _term_curve(history: Mapping[str, Sequence[float]], term: str) -> Panel:
    drawn = axes()
    shown: list[float] = []
    unit = "step" if "step" in history else "epoch"
    for split, (colour, dashes) in _SPLITS.items():
        values = history.get(f"{split}/{term}")
        if values is None:
            continue
        places = history.get(unit, range(1, len(values) + 1))
        points = [(x, y) for x, y in zip(places, values, strict=True) if math.isfinite(y)]
        _line(drawn, points, colour, dashes)
        shown += [y for _, y in points[len(points) // 10 :]]
        if len(points) == 1:
            drawn.plot(*points[0], marker="o", markersize=4, color=colour)
    drawn.set_ylim(_limits(shown, drawn.get_ylim()))
    drawn.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    drawn.xaxis.set_major_formatter(lambda place, _: f"{place:,.0f}")
    drawn.yaxis.set_major_locator(MaxNLocator(5))
    return _finished(drawn, f"curve {term}", term.replace(".", " "), unit)


def _line(drawn: Axes, points: Iterable[tuple[float, float]], colour: str, dashes: object = "-", marker: str = "") -> None:
    pairs = list(points)
    drawn.plot([x for x, _ in pairs], [y for _, y in pairs], color=colour, ls=dashes, lw=1.6, marker=marker, markersize=4)


def _finished(drawn: Axes, name: str, title: str, across: str) -> Panel:
    """The panel of a curve with horizontal grid lines, over `across`."""
    drawn.yaxis.grid(True, color=RULE, linewidth=0.6)
    drawn.set_axisbelow(True)
    drawn.set_xlabel(across, fontsize=8, color=QUIET)
    return panel(identifier(name), title, drawn)


def _limits(late: Sequence[float], full: tuple[float, float]) -> tuple[float, float]:
    """The full range, or that of all but the first tenth where the first epochs would flatten the rest."""
    if not late or full[1] - full[0] <= 4 * (max(late) - min(late)) or max(late) == min(late):
        return full
    margin = 0.08 * (max(late) - min(late))
    return min(late) - margin, max(late) + margin


def few_shot_curves(scores: Sequence[Score]) -> list[Panel]:
    """Accuracy of labels predicted from codes by the number of samples of each class, in %: one panel for each code and label.

    Args:
        scores: scores of a run; those other than `downstream.few_shot`, or without a value, are left out.
    """
    curves: dict[str, list[Score]] = {}
    for score in scores:
        if score.name == "downstream.few_shot" and score.value is not None:
            curves.setdefault(wording.subject(score, without=("per_class",)), []).append(score)
    return [_shot_curve(subject, sorted(points, key=_shots)) for subject, points in curves.items()]


def _shots(score: Score) -> int:
    return int(wording.value_text(score.about["per_class"]))


def _shot_curve(subject: str, points: Sequence[Score]) -> Panel:
    drawn = axes()
    shots = [_shots(point) for point in points]
    for name, (colour, dashes) in _CONTROLS.items():
        _line(drawn, ((_shots(point), point.controls[name]) for point in points if name in point.controls), colour, dashes)
    _line(drawn, ((_shots(point), point.value or 0.0) for point in points), SERIES[0], marker="o")
    for point in points:
        if point.interval is not None:
            drawn.vlines(_shots(point), *point.interval, color=INK, linewidth=1.2)
    if points[0].chance is not None:
        drawn.axhline(points[0].chance, color=CHANCE, linewidth=1.6, linestyle=_DOTTED)
    drawn.set_xscale("log")
    drawn.set_xticks(shots, [str(count) for count in shots])
    drawn.set_xticks([], minor=True)
    drawn.set_ylim(0, 100)
    drawn.set_yticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])
    return _finished(drawn, f"shots {subject}", subject, "samples of each class")


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
    drawn = _rows([wording.value_text(score.about.get("factor")) for score in scores], 0.3)
    for place, score in enumerate(scores):
        _bar(drawn, place, score)
    drawn.set_xlim(0, 112)
    drawn.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])
    return panel(identifier(f"factors {direction}"), direction, drawn)


def _rows(labels: Sequence[str], height: float) -> Axes:
    """Axes with one labelled row, `height` inches high, for each label, the first on top."""
    drawn = axes(height=0.55 + height * len(labels))
    drawn.set_yticks(range(len(labels)), [label(text) for text in labels])
    drawn.tick_params(axis="y", length=0, labelsize=9, labelcolor=INK)
    drawn.set_ylim(len(labels) - 0.4, -0.6)
    drawn.spines["left"].set_visible(False)
    return drawn


def _bar(drawn: Axes, place: int, score: Score) -> None:
    value = score.value or 0.0
    drawn.barh(place, 100, height=0.52, color=RULE, alpha=0.45, linewidth=0)
    drawn.barh(place, value, height=0.52, color=SERIES[0], linewidth=0)
    if score.interval is not None:
        drawn.hlines(place, *score.interval, color=INK, linewidth=1.2)
    for number, colour, dashes in ((score.chance, CHANCE, _DOTTED), (ceiling(score.controls), CEILING, "-")):
        if number is not None:
            drawn.vlines(number, place - 0.38, place + 0.38, color=colour, linewidth=1.6, linestyle=dashes)
    drawn.text(102.5, place, f"{value:.1f}", fontsize=8, color=INK, verticalalignment="center")


@dataclass(frozen=True)
class DotRow:
    """One row of a dot panel: a group of runs.

    Args:
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
    drawn = _rows([row.label for row in rows], 0.34)
    for place, row in enumerate(rows):
        _dot_row(drawn, place, row)
    for value, colour, dashes in ((scale.chance, CHANCE, _DOTTED), (scale.ceiling, CEILING, "-")):
        if value is not None:
            drawn.axvline(value, color=colour, linewidth=1.4, linestyle=dashes, zorder=0)
    margin = 0.03 * (scale.high - scale.low)
    drawn.set_xlim(scale.low - margin, scale.high + margin)
    drawn.xaxis.grid(True, color=RULE, linewidth=0.6)
    drawn.set_axisbelow(True)
    return panel(name, title, drawn)


def _dot_row(drawn: Axes, place: int, row: DotRow) -> None:
    if row.published is not None:
        mean, interval = row.published
        drawn.hlines(place + 0.2, *interval, color=SERIES[1], linewidth=1.2)
        drawn.plot(mean, place + 0.2, marker="o", markersize=5, markerfacecolor="none", markeredgecolor=SERIES[1])
    if row.interval is not None:
        drawn.hlines(place - 0.12, *row.interval, color=SERIES[0], linewidth=1.8)
    drawn.plot(row.values, [place - 0.12] * len(row.values), marker="o", linestyle="none", markersize=2.6, color=INK, alpha=0.55)
    if row.mean is not None:
        drawn.plot(row.mean, place - 0.12, marker="o", markersize=6, color=SERIES[0])


def projections(scatter: Scatter) -> list[Panel]:
    """One panel per factor; one without colours where there are no factors. At most 1,000 points are drawn, the first ones."""
    return [_projection(scatter, name) for name in scatter.colours or [""]]


def _projection(scatter: Scatter, factor: str) -> Panel:
    drawn = axes(height=3.6)
    points = scatter.points[:_POINTS]
    codes = scatter.colours[factor][:_POINTS] if factor else np.zeros(len(points), np.int64)
    values = scatter.values.get(factor, ()) if factor else ()
    colours = _colours(max(len(values), int(codes.max(initial=0)) + 1))
    _dots(drawn, points[codes < 0], RULE)
    for code, colour in enumerate(colours):
        _dots(drawn, points[codes == code], colour)
    drawn.update_datalim(points)
    drawn.margins(0.08)
    drawn.autoscale_view()
    drawn.set_aspect("equal", adjustable="datalim")
    for axis, name in ((drawn.xaxis, "first direction"), (drawn.yaxis, "second direction")):
        axis.set_major_locator(MaxNLocator(5))
        axis.set_label_text(name, fontsize=8, color=QUIET)
    drawn.spines[:].set_visible(True)
    if factor:
        _legend(drawn, values, colours)
    finished = panel(identifier(f"{scatter.name} {factor or 'all'}"), factor or scatter.title, drawn)
    return replace(finished, svg=_DOT.sub(r"M\1 \2h0", finished.svg))


def _dots(drawn: Axes, points: np.ndarray, colour: str) -> None:
    """All points of one colour as one path of round dots: a tenth of the size of one element each."""
    if not len(points):
        return
    path = Path(np.repeat(points, 2, axis=0), np.tile([Path.MOVETO, Path.LINETO], len(points)))
    path.should_simplify = False
    drawn.add_patch(PathPatch(path, edgecolor=colour, facecolor="none", linewidth=4.2, capstyle="round", alpha=0.75))


def _colours(count: int) -> list[str]:
    """Distinct colours for few values, a colour map for many."""
    if count <= len(SERIES):
        return list(SERIES[:count])
    return [to_hex(colour) for colour in mpl.colormaps["turbo"](np.linspace(0.08, 0.94, count))]


def _legend(drawn: Axes, values: Sequence[str], colours: Sequence[str]) -> None:
    """The values and their colours below the axes; of many values the first, the middle and the last."""
    shown = range(len(values)) if len(values) <= len(SERIES) else (0, len(values) // 2, len(values) - 1)
    for code in shown:
        drawn.plot([], [], marker="o", linestyle="none", markersize=6, color=colours[code], label=str(code))
    legend = drawn.figure.legend(
        loc="outside lower center", ncols=3 if len(shown) > 2 else 2, frameon=False, fontsize=8, handletextpad=0.2
    )
    for text, code in zip(legend.get_texts(), shown, strict=True):
        text.set(text=label(values[code]) if values else "", color=INK, parse_math=False)
