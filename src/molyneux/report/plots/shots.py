"""Few-shot curves: the accuracy of labels read from codes by how many samples of each class were there to learn from."""

from __future__ import annotations

from collections.abc import Sequence

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.plots import theme
from molyneux.report.plots.svg import Panel, axes, panel

NAME = "downstream.few_shot"
_CONTROLS = {"bag of words": (theme.SERIES[1], (0, (4, 2))), "random projection": (theme.QUIET, (0, (1, 1.5)))}


def few_shot_curves(scores: Sequence[Score]) -> list[Panel]:
    """One panel for each code and factor, in %, with the interval of each point, the controls and guessing.

    Args:
        scores: of a run; those of another name, or without a value, are left out.
    """
    curves: dict[str, list[Score]] = {}
    for score in scores:
        if score.name == NAME and score.value is not None:
            curves.setdefault(wording.subject(score, without=("per_class",)), []).append(score)
    return [_curve(subject, sorted(points, key=_shots)) for subject, points in curves.items()]


def _shots(score: Score) -> int:
    return int(score.about["per_class"])


def _curve(subject: str, points: Sequence[Score]) -> Panel:
    drawn = axes()
    shots = [_shots(point) for point in points]
    for name, (colour, dashes) in _CONTROLS.items():
        beside = [(count, point.controls[name]) for count, point in zip(shots, points, strict=True) if name in point.controls]
        drawn.plot([x for x, _ in beside], [y for _, y in beside], color=colour, linestyle=dashes, linewidth=1.6)
    drawn.plot(shots, [point.value or 0.0 for point in points], color=theme.SERIES[0], linewidth=1.6, marker="o", markersize=4)
    for count, point in zip(shots, points, strict=True):
        if point.interval is not None:
            drawn.vlines(count, *point.interval, color=theme.INK, linewidth=1.2)
    if points[0].chance is not None:
        drawn.axhline(points[0].chance, color=theme.CHANCE, linewidth=1.6, linestyle=(0, (1.5, 1)))
    drawn.set_xscale("log")
    drawn.set_xticks(shots, [str(count) for count in shots])
    drawn.set_xticks([], minor=True)
    drawn.set_ylim(0, 100)
    drawn.set_yticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])
    drawn.yaxis.grid(True, color=theme.RULE, linewidth=0.6)
    drawn.set_axisbelow(True)
    drawn.set_xlabel("samples of each class", fontsize=8, color=theme.QUIET)
    return panel(f"shots-{wording.slug(subject)}", subject, drawn)
