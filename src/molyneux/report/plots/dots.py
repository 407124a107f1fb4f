"""Results of several groups as dots with intervals, beside published ones: one panel per measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from molyneux.report.plots import theme
from molyneux.report.plots.svg import Panel, axes, panel


@dataclass(frozen=True)
class DotRow:
    """One group.

    Args:
        label: its name.
        values: one number a run.
        mean: their mean; None where there is none.
        interval: of the mean.
        published: a published mean and its interval.
    """

    label: str
    values: tuple[float, ...]
    mean: float | None
    interval: tuple[float, float] | None = None
    published: tuple[float, tuple[float, float]] | None = None


@dataclass(frozen=True)
class Lines:
    """What holds for all groups: the ends of the axis, guessing, and the ceiling."""

    low: float
    high: float
    chance: float | None = None
    ceiling: float | None = None


def dot_panel(name: str, title: str, rows: Sequence[DotRow], lines: Lines) -> Panel:
    """A panel with one line per group: runs as small dots, their mean with its interval, the published number as a ring."""
    drawn = axes(height=0.55 + 0.34 * len(rows))
    for place, row in enumerate(rows):
        _row(drawn, place, row)
    for value, colour, dashes in ((lines.chance, theme.CHANCE, (0, (1.5, 1))), (lines.ceiling, theme.CEILING, "-")):
        if value is not None:
            drawn.axvline(value, color=colour, linewidth=1.4, linestyle=dashes, zorder=0)
    drawn.set_yticks(range(len(rows)), [row.label for row in rows])
    drawn.tick_params(axis="y", length=0, labelsize=9, labelcolor=theme.INK)
    drawn.set_ylim(len(rows) - 0.4, -0.6)
    margin = 0.03 * (lines.high - lines.low)
    drawn.set_xlim(lines.low - margin, lines.high + margin)
    drawn.spines["left"].set_visible(False)
    drawn.xaxis.grid(True, color=theme.RULE, linewidth=0.6)
    drawn.set_axisbelow(True)
    return panel(name, title, drawn)


def _row(drawn: Axes, place: int, row: DotRow) -> None:
    if row.published is not None:
        mean, interval = row.published
        drawn.hlines(place + 0.2, *interval, color=theme.SERIES[1], linewidth=1.2)
        drawn.plot(mean, place + 0.2, marker="o", markersize=5, markerfacecolor="none", markeredgecolor=theme.SERIES[1])
    if row.interval is not None:
        drawn.hlines(place - 0.12, *row.interval, color=theme.SERIES[0], linewidth=1.8)
    drawn.plot(
        row.values, [place - 0.12] * len(row.values), marker="o", linestyle="none", markersize=2.6, color=theme.INK, alpha=0.55
    )
    if row.mean is not None:
        drawn.plot(row.mean, place - 0.12, marker="o", markersize=6, color=theme.SERIES[0])
