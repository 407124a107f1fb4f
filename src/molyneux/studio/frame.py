"""What every page has: the head with the other pages, the title, a place for the content, and the parts that pages share."""

from __future__ import annotations

import html
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from nicegui import events, ui

from molyneux.core import Modality

if TYPE_CHECKING:
    from torch import Tensor

_STEPS, _HEIGHT = 160, 60
"""Places of a drawn waveform, and half of its height."""
_STYLE = Path(__file__).with_name("studio.css")
_SCRIPT = Path(__file__).with_name("studio.js")


@contextmanager
def frame(title: str, intro: str, *, pages: Mapping[str, str], path: str) -> Iterator[None]:
    """The frame of a page, as a context in which its content is built.

    Args:
        title: of the page.
        intro: what it is for, in one sentence.
        pages: titles of all pages by path.
        path: of this one.
    """
    ui.add_css(_STYLE.read_text(encoding="utf-8"))
    ui.add_body_html(f"<script>{_SCRIPT.read_text(encoding='utf-8')}</script>")
    with ui.header(elevated=False).classes("top"):
        ui.html('<a class="skip" href="#content">Skip to the content</a>', sanitize=False)
        ui.link("Molyneux", "/").classes("brand")
        with ui.element("nav").props("aria-label=pages"):
            for target, name in pages.items():
                link = ui.link(name, target)
                if target == path:
                    link.props("aria-current=page")
        button("Dark / light").on("click", js_handler="() => window.molyneuxTheme()")
    with ui.element("div").props("id=content tabindex=-1").classes("page"):
        with ui.element("div").classes("intro"):
            ui.html(f"<h1>{html.escape(title)}</h1>", sanitize=False)
            ui.label(intro).classes("quiet")
        yield


def button(text: str, on_click: Callable[[], object] | None = None, *, strong: bool = False) -> ui.button:
    """A button in the colours of the pages.

    Args:
        text: what it says.
        on_click: what it does.
        strong: whether it is the one that a page is for.
    """
    made = ui.button(text, on_click=on_click, color=None).props("no-caps unelevated dense")
    return made.classes("strong" if strong else "weak")


def slider(
    label: str, *, low: float, high: float, step: float, value: float, moved: Callable[[float], Awaitable[None] | None]
) -> ui.element:
    """A slider of the browser itself, which the keyboard moves and screen readers name.

    Args:
        label: what it moves.
        low: its least value.
        high: its largest value.
        step: by which it moves.
        value: where it is.
        moved: is called with each new value, at most twenty times a second and with the last one.
    """

    async def told(event: events.GenericEventArguments) -> None:
        try:
            found = float(event.args)
        except (TypeError, ValueError, OverflowError):  # what another program sent
            return
        if math.isnan(found):
            return
        waiting = moved(min(max(found, low), high))
        if waiting is not None:
            await waiting

    made = ui.element("input").classes("slider")
    made.props["type"], made.props["aria-label"] = "range", label
    made.props["min"], made.props["max"], made.props["step"] = low, high, step
    made.props["^value"] = value  # the attribute: as a property it would put a slider that moved on back at each answer
    made.on("input", told, js_handler="(e) => emit(e.target.value)", throttle=0.05)
    return made


@contextmanager
def card(title: str = "", *, level: int = 2, classes: str = "") -> Iterator[ui.element]:
    """A box with a heading, as a context.

    Args:
        title: its heading; none where empty.
        level: of the heading.
        classes: further classes of the box.
    """
    with ui.element("section").classes(f"card {classes}".strip()) as box:
        if title:
            heading(title, level=level)
        yield box


def heading(text: str, *, level: int = 2) -> None:
    """A heading."""
    ui.html(f"<h{level}>{html.escape(text)}</h{level}>", sanitize=False)


def note(text: str) -> None:
    """A remark, such as how a text was understood."""
    ui.label(text).classes("note")


def again(python: str, command: str = "", *, pictures: Mapping[str, str] | None = None) -> None:
    """How the same is made without the studio: lines of Python and a command, each with a button that copies it.

    Args:
        python: lines of Python.
        command: a command.
        pictures: files that both need, as PNG in base64 by name; a link saves each.
    """
    with (
        ui.expansion("The same in Python and on the command line" if command else "The same in Python")
        .classes("again")
        .props("dense")
    ):
        for name, content in (pictures or {}).items():
            saved = html.escape(name, quote=True)
            target = f"data:image/png;base64,{html.escape(content, quote=True)}"
            ui.html(f'<a download="{saved}" href="{target}">Save {saved} first</a>', sanitize=False)
        for title, text in (("Python", python), ("Command", command)):
            if text:
                with ui.element("div").classes("snippet"):
                    ui.html(f"<pre tabindex='0' aria-label='{title}'><code>{html.escape(text)}</code></pre>", sanitize=False)
                    copied = f"() => navigator.clipboard.writeText({_script_text(text)})"
                    button(f"Copy {title}").on("click", js_handler=copied)


def _script_text(text: str) -> str:
    """A text as a literal of JavaScript."""
    import json

    return json.dumps(text).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def show_view(modality: Modality, view: Tensor, *, about: str = "") -> None:
    """One view (*shape) in stored form: a picture, a drawn contour, the waveform of a sound, or a text.

    Args:
        modality: of the view.
        view: the view.
        about: what it shows, for people who do not see it; by default the name of the modality.
    """
    from molyneux.core import values_of
    from molyneux.report.plots import contour_svg, image_uri

    about = about or modality.name
    if modality.kind == "image" and view.shape[0] in (1, 3):
        ui.html(f'<img class="picture" src="{image_uri(view.numpy())}" alt="{html.escape(about, quote=True)}">', sanitize=False)
    elif modality.kind == "series":
        drawing = contour_svg(view.numpy(), modality.channels).replace(
            'aria-label="series"', f'aria-label="{html.escape(about, quote=True)}"'
        )
        ui.html(drawing, sanitize=False).classes("contour")
    elif modality.kind == "audio":
        ui.html(waveform_svg(view, about), sanitize=False).classes("contour")
    elif modality.symbols:
        ui.label(str(values_of(modality, view[None])[0])).classes("said")
    else:
        ui.label(f"{modality.name} {tuple(view.shape)}").classes("quiet")


def waveform_svg(view: Tensor, about: str) -> str:
    """The waveform of a sound (C, T) as SVG: from the least to the largest value at each of some places."""
    sound = np.nan_to_num(view.numpy().astype(np.float64)).mean(0)
    parts = np.array_split(sound, min(_STEPS, len(sound)))
    largest = max(float(np.abs(sound).max()), 1e-9)
    tops = [(_HEIGHT * (1 - part.max() / largest), _HEIGHT * (1 - part.min() / largest)) for part in parts]
    path = " ".join(f"M{place} {top:.1f}V{max(bottom, top + 0.6):.1f}" for place, (top, bottom) in enumerate(tops))
    return (
        f'<svg class="series" viewBox="0 0 {len(parts)} {2 * _HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{html.escape(about, quote=True)}"><path d="{path}"/></svg>'
    )


def show_rows(columns: Sequence[str], rows: Sequence[Sequence[str]], *, marked: int = -1, whole: int = 0) -> None:
    """A plain table of texts.

    Args:
        columns: heads of the columns.
        rows: texts of each row.
        marked: number of the row that is shown elsewhere on the page; negative for none.
        whole: number of the columns, from the last, whose cells stay on one line.
    """
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in columns)

    def written(row: Sequence[str]) -> str:
        kinds = ["", ' class="whole"']
        return "".join(f"<td{kinds[place >= len(row) - whole]}>{html.escape(cell)}</td>" for place, cell in enumerate(row))

    marks = (" aria-current=true" if number == marked else "" for number in range(len(rows)))
    body = "".join(f"<tr{mark}>{written(row)}</tr>" for mark, row in zip(marks, rows, strict=True))
    ui.html(f'<div class="scroll" tabindex="0"><table class="plain"><tr>{head}</tr>{body}</table></div>', sanitize=False)
