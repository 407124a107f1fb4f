"""Learning curves: one panel per term of the loss, training and validation together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.ticker import MaxNLocator

from molyneux.report.plots import theme
from molyneux.report.plots.svg import Panel, axes, panel

_SPLITS = {"train": (theme.SERIES[0], "-"), "validation": (theme.SERIES[1], (0, (4, 2)))}


def learning_curves(history: Mapping[str, Sequence[float]]) -> list[Panel]:
    """One panel for each term that `train/<term>` or `validation/<term>` columns hold, in their order.

    Args:
        history: columns by name; `epoch` is the horizontal axis where it is there.
    """
    terms = dict.fromkeys(column.partition("/")[2] for column in history if column.partition("/")[0] in _SPLITS)
    return [_curve(history, term) for term in terms]


def _curve(history: Mapping[str, Sequence[float]], term: str) -> Panel:
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
    drawn.yaxis.grid(True, color=theme.RULE, linewidth=0.6)
    drawn.set_axisbelow(True)
    drawn.set_xlabel("epoch", fontsize=8, color=theme.QUIET)
    return panel(f"curve-{_plain(term)}", term.replace(".", " "), drawn)


def _limits(late: Sequence[float], full: tuple[float, float]) -> tuple[float, float]:
    """The full range, or that of all but the first tenth where the first epochs would flatten the rest."""
    if not late or full[1] - full[0] <= 4 * (max(late) - min(late)) or max(late) == min(late):
        return full
    margin = 0.08 * (max(late) - min(late))
    return min(late) - margin, max(late) + margin


def _plain(term: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in term)
