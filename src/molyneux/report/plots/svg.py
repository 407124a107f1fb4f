"""Matplotlib figures as small inline SVG: no fonts, no metadata, names that do not clash, colours that follow the page."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from molyneux.report.plots import theme

_FONT = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', sans-serif"
_SETTINGS: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "molyneux", "path.simplify": False}


@dataclass(frozen=True)
class Panel:
    """A finished drawing.

    Args:
        name: a short name, unique on its page.
        title: what it shows; pages set it as text above the drawing.
        svg: the drawing as an `svg` element whose colours are variables of the page.
    """

    name: str
    title: str
    svg: str


def axes(width: float = 3.6, height: float = 2.2) -> Axes:
    """Empty axes in the style of the pages, in inches: the width of a phone, so that letters are never scaled down."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(figure)
    figure.patch.set_visible(False)
    drawn = figure.add_subplot()
    drawn.patch.set_visible(False)
    for side in ("top", "right"):
        drawn.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        drawn.spines[side].set_color(theme.RULE)
    drawn.tick_params(colors=theme.QUIET, labelsize=8, length=3, color=theme.RULE)
    return drawn


def panel(name: str, title: str, drawn: Axes) -> Panel:
    """The figure of these axes as a panel."""
    stream = io.BytesIO()
    figure = drawn.figure
    with mpl.rc_context(_SETTINGS):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})  # type: ignore[union-attr]
    return Panel(name, title, _inline(stream.getvalue().decode(), name, title))


def standalone(panel: Panel) -> str:
    """The panel as an SVG file with the light colours."""
    text = panel.svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    for colour, variable in theme.VARIABLES.items():
        text = text.replace(variable, colour)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + text + "\n"


def _inline(text: str, name: str, title: str) -> str:
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->|<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", text)
    text = re.sub(r"'DejaVu Sans'[^\";]*", _FONT, text)
    text = re.sub(r'<svg width="[^"]*" height="[^"]*"', f'<svg role="img" aria-label="{_attribute(title)}"', text)
    for colour, variable in theme.VARIABLES.items():
        text = text.replace(colour, variable)
    return re.sub(r"\n\s*", "\n", re.sub(r"(\.\d\d)\d+", r"\1", text))


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
