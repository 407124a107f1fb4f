"""Matplotlib figures as small inline SVG: no embedded fonts, no metadata, unique ids, colours that follow the page.

A drawing is made with the light colours. Inside a page each of them becomes a CSS variable, so that one drawing serves the light
page and the dark one; in a file of its own it keeps the light colours. The series are Okabe and Ito's palette (2008), made for
people with colour blindness, darkened a little for contrast on white.
"""

from __future__ import annotations

import html
import io
import re
import warnings
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.text import Text

INK = "#1d1c1a"
QUIET = "#66625c"
RULE = "#e0dbd2"
CHANCE = "#b4472e"
CEILING = "#2f7d5b"
SERIES = ("#0f62a6", "#c2590a", "#0d8a6a", "#a8478f", "#8a6d00", "#3a9bd1", "#5b5b9b", "#7a7a7a")

VARIABLES = {
    INK: "var(--ink)",
    QUIET: "var(--quiet)",
    RULE: "var(--rule)",
    CHANCE: "var(--chance)",
    CEILING: "var(--ceiling)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(SERIES)},
}

_FONT = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', sans-serif"
_SETTINGS: dict[Any, Any] = {
    "path.simplify": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "molyneux",
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Panel:
    """A finished drawing.

    Args:
        name: identifier for ids and file names, unique on its page (`wording.identifier`).
        title: text above the drawing.
        svg: an `svg` element whose colours are variables of the page.
        note: a sentence between title and drawing.
    """

    name: str
    title: str
    svg: str
    note: str = ""


def axes(width: float = 3.6, height: float = 2.2) -> Axes:
    """Empty axes in the style of the pages, sizes in inches; narrow enough for a phone, so that text is never scaled down."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(figure)
    figure.patch.set_visible(False)
    drawn = figure.add_subplot()
    drawn.patch.set_visible(False)
    drawn.spines[["top", "right"]].set_visible(False)
    drawn.spines[:].set_color(RULE)
    drawn.tick_params(colors=QUIET, labelsize=8, length=3, color=RULE)
    return drawn


def panel(name: str, title: str, drawn: Axes) -> Panel:
    """The figure of these axes as a panel. Text is drawn literally: a name with dollar signs is no formula."""
    stream = io.BytesIO()
    figure = drawn.figure
    for text in figure.findobj(Text):
        text.set_parse_math(False)
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # the browser has a font for it
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})  # type: ignore[union-attr]
    return Panel(name, title, _inline(stream.getvalue().decode(), name, title))


def label(text: str) -> str:
    """A name as a label of at most 32 characters."""
    return text if len(text) <= 32 else f"{text[:31]}…"


def standalone(panel: Panel) -> str:
    """The panel as an SVG file with the light colours."""
    text = panel.svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    for colour, variable in VARIABLES.items():
        text = text.replace(variable, colour)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + text + "\n"


def _inline(text: str, name: str, title: str) -> str:
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", lambda match: _tag(match[0], name), text)
    opened = f'<svg role="img" aria-label="{html.escape(title)}"'
    return re.sub(r"\n\s*", "\n", re.sub(r'<svg width="[^"]*" height="[^"]*"', lambda _: opened, text, count=1))


def _tag(tag: str, name: str) -> str:
    """A tag of a drawing: ids begin with the panel's name, numbers have two decimals, colours are variables of the page."""
    tag = re.sub(r' xmlns(:\w+)?="[^"]*"', "", tag).replace("xlink:href", "href")
    tag = re.sub(r'\bid="', f'id="{name}-', tag)
    tag = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", tag)
    tag = re.sub(r"'DejaVu Sans'[^\";]*", _FONT, tag)
    for colour, variable in VARIABLES.items():
        tag = tag.replace(colour, variable)
    return re.sub(r"(\.\d\d)\d+", r"\1", tag)
