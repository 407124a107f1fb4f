"""A square to draw on by hand: a filled figure for sight, its line for touch."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nicegui import events, ui

from molyneux.studio.frame import button

_MOST = 200_000
"""Characters of a drawn picture that are taken."""
_FAR = 10_000
"""Pixels beyond which no point of a line is taken."""
GROUNDS = {"light": "#ffffff", "dark": "#000000"}
"""Grounds to draw on."""
INK = "#0f62a6"
"""Of a line whose colour means nothing."""

Told = Callable[[bytes, list[tuple[float, float]]], Awaitable[None]]


def drawing(name: str, *, told: Told, colours: Mapping[str, str] | None = None) -> None:
    """A canvas; when the pointer is lifted, `told` is called with a PNG of 64 x 64 pixels and the line in pixels of 256.

    Args:
        name: of the modality, for labels.
        told: is called with both; with nothing where the canvas was cleared.
        colours: of figures, by name; with them the ground can be chosen too. None where colour means nothing.
    """
    known = dict(colours or {})
    paper, ink = GROUNDS["light"], next(iter(known.values()), INK)
    canvas = ui.element("canvas").classes("drawing")
    element, event = f"drawing-{canvas.id}", f"molyneux-drawn-{canvas.id}"
    canvas.props(f'id={element} tabindex=0 role=img aria-label="drawing of {_attribute(name)}"')

    async def drawn(arguments: events.GenericEventArguments) -> None:
        await told(*_read(arguments.args))

    ui.on(event, drawn)
    ui.timer(0.05, lambda: ui.run_javascript(f"window.molyneuxDrawing('{element}', '{event}', '{paper}', '{ink}')"), once=True)
    with ui.element("div").classes("row"):
        if known:
            chosen = {"ink": ink, "paper": paper}

            def repaint(part: str, value: str, options: dict[str, str]) -> None:
                chosen[part] = options.get(value, chosen[part])
                ui.run_javascript(
                    f"document.getElementById('{element}').molyneux.repaint('{chosen['paper']}', '{chosen['ink']}')"
                )

            figure = ui.select(list(known), value=next(iter(known)), label="Colour").props("outlined dense options-dense")
            figure.on_value_change(lambda e: repaint("ink", str(e.value), known))
            ground = ui.select(list(GROUNDS), value="light", label="Ground").props("outlined dense options-dense")
            ground.on_value_change(lambda e: repaint("paper", str(e.value), GROUNDS))
        button("Clear").on("click", js_handler=f"() => document.getElementById('{element}').molyneux.clear()")


def _read(arguments: Any) -> tuple[bytes, list[tuple[float, float]]]:
    """Picture and line of what the browser sent; empty where it sent something else."""
    found = arguments if isinstance(arguments, dict) else {}
    text, line = found.get("picture", ""), found.get("line", [])
    content = b""
    if isinstance(text, str) and text.startswith("data:image/png;base64,") and len(text) <= _MOST:
        try:
            content = base64.b64decode(text.partition(",")[2], validate=True)
        except (ValueError, binascii.Error):
            content = b""
    points = [
        (float(point[0]), float(point[1]))
        for point in (line if isinstance(line, list) else [])[:2_000]
        if isinstance(point, list)
        and len(point) == 2
        and all(isinstance(part, int | float) and abs(part) < _FAR for part in point)
    ]
    return content, points


def _attribute(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() or letter in " -_.")
