"""Scatter plots of 2-D projections of codes: one panel per factor, points coloured by its values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from molyneux.core import Scatter
from molyneux.report.plots.svg import INK, RULE, SERIES, Panel, axes, label, panel
from molyneux.report.wording import identifier

_POINTS = 1000
_DOT = re.compile(r"M ([\d.]+) ([\d.]+) \nL \1 \2 \n")
"""A dot as matplotlib writes it: a line from a point to the same point, which `h0` writes in half the bytes."""
_FEW = len(SERIES)


def projections(scatter: Scatter) -> list[Panel]:
    """One panel per factor; one without colours where there are no factors. At most 1,000 points are drawn, the first ones."""
    names = list(scatter.colours) or [""]
    return [_projection(scatter, name) for name in names]


def _projection(scatter: Scatter, factor: str) -> Panel:
    drawn = axes(height=3.2)
    points = scatter.points[:_POINTS]
    codes = scatter.colours[factor][:_POINTS] if factor else np.zeros(len(points), np.int64)
    values = scatter.values.get(factor, ()) if factor else ()
    colours = _colours(max(len(values), int(codes.max(initial=0)) + 1))
    _dots(drawn, points[codes < 0], RULE)
    for code, colour in enumerate(colours):
        _dots(drawn, points[codes == code], colour)
    drawn.update_datalim(points)
    drawn.autoscale_view()
    drawn.set_aspect("equal", adjustable="datalim")
    drawn.set_xticks([])
    drawn.set_yticks([])
    for spine in drawn.spines.values():
        spine.set_visible(False)
    if factor:
        _legend(drawn, values, colours)
    finished = panel(identifier(f"{scatter.name} {factor or 'all'}"), factor or scatter.title, drawn)
    return replace(finished, svg=_DOT.sub(r"M\1 \2h0", finished.svg))


def _dots(drawn: Axes, points: np.ndarray, colour: str) -> None:
    """All points of one colour as one path of round dots: a tenth of the size of one element each."""
    if not len(points):
        return
    vertices = np.repeat(points, 2, axis=0)
    codes = np.tile([Path.MOVETO, Path.LINETO], len(points))
    path = Path(vertices, codes)
    path.should_simplify = False
    drawn.add_patch(PathPatch(path, edgecolor=colour, facecolor="none", linewidth=3.2, capstyle="round", alpha=0.7))


def _colours(count: int) -> list[str]:
    """Distinct colours for few values, a colour map for many."""
    if count <= _FEW:
        return list(SERIES[:count])
    return [to_hex(colour) for colour in mpl.colormaps["turbo"](np.linspace(0.08, 0.94, count))]


def _legend(drawn: Axes, values: Sequence[str], colours: Sequence[str]) -> None:
    few = len(values) <= _FEW
    shown = range(len(values)) if few else (0, len(values) // 2, len(values) - 1)
    for code in shown:
        drawn.plot([], [], marker="o", linestyle="none", markersize=5, color=colours[code], label=str(code))
    columns = 3 if len(shown) > 2 else 2
    legend = drawn.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=columns, frameon=False, fontsize=8, handletextpad=0.2
    )
    for text, code in zip(legend.get_texts(), shown, strict=True):
        text.set(text=label(values[code]) if values else "", color=INK, parse_math=False)
