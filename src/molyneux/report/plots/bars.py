"""Accuracy of every factor as bars: one panel per direction, with chance and the judge's ceiling marked on each bar."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.plots import theme
from molyneux.report.plots.svg import Panel, axes, panel
from molyneux.report.tables.entries import ceiling


def factor_bars(scores: Sequence[Score]) -> list[Panel]:
    """One panel per direction, one bar per factor, in %.

    Args:
        scores: accuracies of single factors; those without a value are left out.
    """
    directions: dict[str, list[Score]] = {}
    for score in scores:
        if score.value is not None:
            directions.setdefault(wording.direction(score), []).append(score)
    return [_bars(direction, members) for direction, members in directions.items()]


def _bars(direction: str, scores: Sequence[Score]) -> Panel:
    drawn = axes(height=0.55 + 0.3 * len(scores))
    for place, score in enumerate(scores):
        _bar(drawn, place, score)
    drawn.set_yticks(range(len(scores)), [score.about.get("factor", "") for score in scores])
    drawn.tick_params(axis="y", length=0, labelsize=9, labelcolor=theme.INK)
    drawn.set_ylim(len(scores) - 0.4, -0.6)
    drawn.set_xlim(0, 112)
    drawn.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])
    drawn.spines["left"].set_visible(False)
    return panel(f"factors-{wording.slug(direction)}", direction, drawn)


def _bar(drawn: Axes, place: int, score: Score) -> None:
    value = score.value or 0.0
    drawn.barh(place, 100, height=0.52, color=theme.RULE, alpha=0.45, linewidth=0)
    drawn.barh(place, value, height=0.52, color=theme.SERIES[0], linewidth=0)
    if score.interval is not None:
        drawn.hlines(place, *score.interval, color=theme.INK, linewidth=1.2)
    if score.chance is not None:
        drawn.vlines(score.chance, place - 0.38, place + 0.38, color=theme.CHANCE, linewidth=1.6, linestyle=(0, (1.5, 1)))
    top = ceiling(score)
    if top is not None:
        drawn.vlines(top, place - 0.38, place + 0.38, color=theme.CEILING, linewidth=1.6)
    drawn.text(102.5, place, f"{value:.1f}", fontsize=8, color=theme.INK, verticalalignment="center")
