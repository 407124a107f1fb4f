"""Curves over steps or strengths, as Plotly figures whose numbers can be read by hovering and in a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nicegui import ui

_COLOURS = ("#2f7fc4", "#c2590a", "#0d8a6a", "#a8478f", "#8a6d00", "#6f6fb4")
_LEVEL, _MARK = "#c95a3f", "#c2590a"
"""Of levels to compare with, and of a marked position."""
_LARGEST = 1e300
"""Of numbers that are drawn."""
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def show_curves(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    across: str,
    up: str,
    intervals: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    levels: Mapping[str, float] | None = None,
    doubling: bool = False,
    about: str = "",
) -> ui.plotly:
    """Several curves over each other; they differ in colour and in dashes.

    Args:
        curves: by name, positions and values; what is no number is left out.
        across: name of the positions.
        up: name of the values.
        intervals: by name of a curve, the low and high end at each of its positions.
        levels: by name, values that are drawn as lines across, such as that of guessing.
        doubling: whether positions are numbers from 0 on a logarithmic axis; 0 stands one doubling before the smallest other one.
        about: what is seen, for people who do not see it.

    Returns:
        The plot, for `mark_place`.
    """
    traces: list[dict[str, Any]] = []
    ticks = doublings({x for places, _ in curves.values() for x in places}) if doubling else {}
    for number, (name, (places, values)) in enumerate(curves.items()):
        ends = (intervals or {}).get(name) or [(value, value) for value in values]
        known = [
            (x, y, high - y, y - low)
            for x, y, (low, high) in zip(places, values, ends, strict=True)
            if abs(x) < _LARGEST and abs(y) < _LARGEST
        ]
        line = {"color": _COLOURS[number % len(_COLOURS)], "dash": _DASHES[number % len(_DASHES)], "width": 2}
        x, y, above, below = ([part[place] for part in known] for place in range(4))
        trace = {"type": "scatter", "mode": "lines+markers", "name": name, "x": x, "y": y, "line": line, "marker": {"size": 4}}
        if ticks:
            trace |= {
                "x": [ticks[place] for place in x],
                "text": [f"{place:g}" for place in x],
                "hovertemplate": "%{text}: %{y:.1f}",
            }
        bars = {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "thickness": 1, "width": 0}
        traces.append({**trace, "error_y": bars} if name in (intervals or {}) else trace)
    for number, (name, value) in enumerate((levels or {}).items()):
        ends_of = [x for trace in traces for x in trace["x"]]
        line = {"color": _LEVEL, "dash": _DASHES[1 + number % (len(_DASHES) - 1)], "width": 1.5}
        x = [min(ends_of, default=0.0), max(ends_of, default=1.0)]
        traces.append({"type": "scatter", "mode": "lines", "name": name, "x": x, "y": [value, value], "line": line})
    return _plot(traces, across=across, up=up, about=about, ticks=ticks)


def doublings(numbers: Iterable[float]) -> dict[float, float]:
    """The places of numbers from 0 on an axis of base 2; 0 stands one doubling before the smallest other one.

    >>> doublings([8, 0, 2, 4])
    {0: 0.0, 2: 1.0, 4: 2.0, 8: 3.0}
    """
    known = sorted(numbers)
    least = min((number for number in known if number > 0), default=1.0) / 2
    return {number: math.log2(max(number, least)) for number in known}


def mark_place(plot: ui.plotly, at: float) -> None:
    """Draw a line up at a position, in place of the one before."""
    line = {"color": _MARK, "width": 2}
    plot.figure["layout"]["shapes"] = [{"type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1, "line": line}]
    plot.update()


def show_points(points: Sequence[tuple[str, float, float]], *, across: str, up: str) -> None:
    """Points with names.

    Args:
        points: name, position and value of each.
        across: name of the positions, drawn on a logarithmic scale.
        up: name of the values.
    """
    names, places, values = ([point[part] for point in points] for part in range(3))
    marker = {"size": 9, "color": _COLOURS[0]}
    trace = {"type": "scatter", "mode": "markers", "text": names, "x": places, "y": values, "marker": marker}
    _plot([trace], across=across, up=up, logarithmic=True)


def _plot(
    traces: list[dict[str, Any]],
    *,
    across: str,
    up: str,
    logarithmic: bool = False,
    about: str = "",
    ticks: Mapping[float, float] | None = None,
) -> ui.plotly:
    axis = {"gridcolor": "rgba(128,128,128,.25)", "zeroline": False}
    axis_ticks = {"tickvals": list(ticks.values()), "ticktext": [f"{number:g}" for number in ticks]} if ticks else {}
    layout = {
        "height": 300 if len(traces) < 4 else 360,
        "margin": {"l": 60, "r": 10, "t": 10, "b": 42},
        "xaxis": {"title": {"text": across}, "type": "log" if logarithmic else "linear", **axis, **axis_ticks},
        "yaxis": {"title": {"text": up[:60]}, **axis},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "#7a756d"},
        "showlegend": len(traces) > 1,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},  # its rows grow away from the axis and its title
    }
    made = ui.plotly({"data": traces, "layout": layout, "config": {"displayModeBar": False, "responsive": True}}).classes("plot")
    made.props["role"], made.props["aria-label"] = "img", about or f"{up} over {across}"
    return made
