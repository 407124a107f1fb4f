"""A square to draw on by hand: a filled figure for sight, its line for touch."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

from nicegui import events, ui

from molyneux.studio.frame import button

_NUMBERS = count(1)
_MOST = 200_000
"""Characters of a drawn picture that are taken."""
COLOURS = {"red": "#ff0000", "green": "#00ff00", "blue": "#0000ff", "yellow": "#ffff00", "black": "#000000", "white": "#ffffff"}
GROUNDS = {"light": "#ffffff", "dark": "#000000"}

Told = Callable[[bytes, list[tuple[float, float]]], Awaitable[None]]


def drawing(name: str, *, told: Told, colours: bool = False) -> None:
    """A canvas; when the pointer is lifted, `told` is called with a PNG of 64 x 64 pixels and the line in pixels of 256.

    Args:
        name: of the modality, for labels.
        told: is called with both; with nothing where the canvas was cleared.
        colours: whether colours of figure and ground can be chosen.
    """
    number = next(_NUMBERS)
    element, event = f"drawing-{number}", f"molyneux-drawn-{number}"
    paper, ink = GROUNDS["light"], COLOURS["red"]
    canvas = (
        ui.element("canvas")
        .props(f'id={element} tabindex=0 role=img aria-label="drawing of {_attribute(name)}"')
        .classes("drawing")
    )
    canvas.on("molyneux", lambda: None)

    async def drawn(arguments: events.GenericEventArguments) -> None:
        await told(*_read(arguments.args))

    ui.on(event, drawn)
    ui.timer(0.05, lambda: ui.run_javascript(f"window.molyneuxDrawing('{element}', '{event}', '{paper}', '{ink}')"), once=True)
    with ui.element("div").classes("row"):
        if colours:
            chosen = {"ink": ink, "paper": paper}

            def repaint(part: str, value: str, known: dict[str, str]) -> None:
                chosen[part] = known.get(value, chosen[part])
                ui.run_javascript(
                    f"document.getElementById('{element}').molyneux.repaint('{chosen['paper']}', '{chosen['ink']}')"
                )

            figure = ui.select(list(COLOURS), value="red", label="Colour").props("outlined dense options-dense")
            figure.on_value_change(lambda e: repaint("ink", str(e.value), COLOURS))
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
        if isinstance(point, list) and len(point) == 2 and all(isinstance(part, int | float) for part in point)
    ]
    return content, points


def _attribute(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() or letter in " -_.")
