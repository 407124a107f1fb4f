"""Curves over steps or strengths, as Plotly figures whose numbers can be read by hovering and in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

_COLOURS = ("#0f62a6", "#c2590a", "#0d8a6a", "#a8478f", "#8a6d00", "#5b5b9b")
_LARGEST = 1e300
"""Of numbers that are drawn."""
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def show_curves(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, across: str, up: str) -> None:
    """Several curves over each other; they differ in colour and in dashes.

    Args:
        curves: by name, positions and values; what is no number is left out.
        across: name of the positions.
        up: name of the values.
    """
    traces: list[dict[str, Any]] = []
    for number, (name, (places, values)) in enumerate(curves.items()):
        known = [(x, y) for x, y in zip(places, values, strict=True) if abs(x) < _LARGEST and abs(y) < _LARGEST]
        line = {"color": _COLOURS[number % len(_COLOURS)], "dash": _DASHES[number % len(_DASHES)], "width": 2}
        x, y = [place for place, _ in known], [value for _, value in known]
        traces.append(
            {"type": "scatter", "mode": "lines+markers", "name": name, "x": x, "y": y, "line": line, "marker": {"size": 4}}
        )
    _plot(traces, across=across, up=up)


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


def _plot(traces: list[dict[str, Any]], *, across: str, up: str, logarithmic: bool = False) -> None:
    axis = {"gridcolor": "rgba(128,128,128,.25)", "zeroline": False}
    layout = {
        "height": 300,
        "margin": {"l": 60, "r": 10, "t": 10, "b": 42},
        "xaxis": {"title": {"text": across}, "type": "log" if logarithmic else "linear", **axis},
        "yaxis": {"title": {"text": up[:60]}, **axis},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "#7a756d"},
        "showlegend": len(traces) > 1,
        "legend": {"orientation": "h", "y": -0.25},
    }
    made = ui.plotly({"data": traces, "layout": layout, "config": {"displayModeBar": False, "responsive": True}}).classes("plot")
    made.props["role"], made.props["aria-label"] = "img", f"{up} over {across}"
