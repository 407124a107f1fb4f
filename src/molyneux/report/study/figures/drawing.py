"""What figures of studies have in common: the sheet they are drawn on, its colours on light and on dark pages, and text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

LIGHT = ("#3949ab", "#c65100", "#00796b", "#a8478f", "#8a6d00", "#3a9bd1")
DARK = ("#9fa8da", "#ffb74d", "#80cbc4", "#e0a3d0", "#dcc56a", "#90caf9")
"""Colours of what is compared, on light and on dark pages, in the same order."""

_BOTH = ("text { font: 13px system-ui, sans-serif; fill: #202124 }", ".soft { fill: #5f6368; font-size: 12px }")
_ON_LIGHT = (".page { fill: #ffffff }", *_BOTH, ".title { font-weight: 600 }", ".grid { stroke: #dadce0 }")
_ON_DARK = (".page { fill: #1e2129 }", "text { fill: #e8eaed }", ".soft { fill: #bdc1c6 }", ".grid { stroke: #3c4043 }")


def style_sheet(light: Sequence[str], dark: Sequence[str], *, stripes: bool = False) -> str:
    """The style of a sheet with rules of its own, for light and for dark pages.

    Args:
        light: rules below those of every sheet.
        dark: what they become on dark pages.
        stripes: whether every other row has a ground of its own.
    """
    on_light, on_dark = ([f".stripe {{ fill: {ground} }}"] if stripes else [] for ground in ("#f1f3f4", "#272b35"))
    lines = [f"  {rule}" for rule in (*_ON_LIGHT, *on_light, ".line { stroke: #5f6368; stroke-dasharray: 4 3 }", *light)]
    lines.append("  @media (prefers-color-scheme: dark) {")
    lines += [f"    {rule}" for rule in (*_ON_DARK, *on_dark, ".line { stroke: #bdc1c6 }", *dark)]
    lines.append("  }")
    return "\n".join(["", *lines, ""])


def svg_sheet(title: str, style: str, width: float, height: float, parts: Iterable[str]) -> str:
    """A figure as SVG, with its title above everything else."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
    page = f'<rect class="page" width="{width}" height="{height}" rx="6"/>'
    top = [head, f"<title>{escape(title)}</title>", f"<style>{style}</style>", page, svg_text(14, 22, title, "title")]
    return "\n".join([*top, *parts, "</svg>\n"])


def svg_text(x: float, y: float, words: str, style: str, *, anchor: str = "start") -> str:
    """Words at a place; nothing where there are none."""
    return f'<text class="{style}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>' if words else ""
