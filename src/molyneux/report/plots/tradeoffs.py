"""Scatter plots of methods by two numbers, with a fitted curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator

from molyneux.report.plots.svg import INK, QUIET, RULE, SERIES, Panel, axes, label, panel
from molyneux.report.wording import identifier

_CURVE = 60
"""Points of a fitted curve."""


@dataclass(frozen=True)
class TradeoffPoint:
    """A method by two numbers; the area of its circle grows with `spread`."""

    label: str
    across: float
    up: float
    spread: float = 0.0


def scatter_panel(name: str, title: str, points: Sequence[TradeoffPoint], degree: int, titles: tuple[str, str]) -> Panel:
    """A circle for each point with its label, and the polynomial of a degree that fits them best, dotted.

    Args:
        name: of the panel.
        title: above it.
        points: more than the degree plus one, else there is no curve.
        degree: of the polynomial.
        titles: of the two axes.
    """
    drawn = axes(width=4.4, height=3.4)
    across, up = (np.array([getattr(point, end) for point in points]) for end in ("across", "up"))
    curve = fitted(across, up, degree)
    if curve is not None:
        places = np.linspace(across.min(), across.max(), _CURVE)
        drawn.plot(places, np.polyval(curve, places), color=SERIES[0], ls=(0, (1.5, 1)), lw=1.4)
    drawn.scatter(across, up, s=[20 + 1500 * point.spread for point in points], color=SERIES[1], alpha=0.45, linewidth=0)
    for point in points:
        at = (point.across, point.up)
        drawn.annotate(label(point.label), at, xytext=(4, 4), textcoords="offset points", fontsize=7, color=INK)
    for axis, words in zip((drawn.xaxis, drawn.yaxis), titles, strict=True):
        axis.set_major_locator(MaxNLocator(5))
        axis.set_label_text(words, fontsize=8, color=QUIET)
        axis.grid(True, color=RULE, linewidth=0.6)
    drawn.set_axisbelow(True)
    drawn.margins(0.15)
    return panel(identifier(name), title, drawn)


def fitted(across: np.ndarray, up: np.ndarray, degree: int) -> np.ndarray | None:
    """The coefficients of the polynomial of least squares, the highest first; None where there are too few different places."""
    if len(np.unique(across)) <= degree:
        return None
    return np.polyfit(across, up, degree)
