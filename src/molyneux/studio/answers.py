"""What models answer, as parts of a page: drawn views, captions by how often they come, probabilities, and what was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from nicegui import ui

import molyneux.run as runs
from molyneux.core import DataError, Understands
from molyneux.studio.frame import heading, note, show_view
from molyneux.studio.shares import show_shares
from molyneux.studio.sounds import Listen
from molyneux.studio.visit import sentence

if TYPE_CHECKING:
    from molyneux.core import Dataset

Spot = Callable[[str, bool | None], None]
"""Writes what was read in a sample beneath it, and whether that is what was asked for."""


def show_generated(made: runs.Generated, world: Dataset | None, listen: Listen) -> list[Spot]:
    """Show what was drawn; gives, by sample, what writes the reading of it.

    Args:
        made: what was drawn.
        world: understands captions.
        listen: puts what plays a drawn sound.
    """
    for text in dict.fromkeys([*made.notes, *(_understood(given_input) for given_input in made.inputs[:1])]):
        if text:
            note(text)
    drawn = [name for name in made.names if not made.spec.modality(name).symbols]
    texts = [name for name in made.names if made.spec.modality(name).symbols]
    if not drawn:
        for name in texts:
            values = made.texts(name) if made.spec.modality(name).kind == "text" else list(map(str, made.values(name)))
            captions, odd = nearest_captions(world, values)
            ui.label(f"Of {len(made)} draws, {name}:").classes("quiet")
            show_shares([(text or "(nothing)", count / len(made)) for text, count in captions.most_common(6)])
            if odd:
                note(f"{len(odd)} of them are no caption, such as “{odd[0]}”, and stand under the nearest one.")
        return []
    spots = []
    with ui.element("div").classes("grid"):
        for row in range(len(made)):
            with ui.element("figure").classes("sample"):
                for name in drawn:
                    show_view(
                        made.spec.modality(name), made.views[name][row], about=f"{name} {row + 1}, drawn by {made.origin.model}"
                    )
                    listen(made.spec.modality(name), made.views[name][row], f"{name} {row + 1}")
                with ui.element("figcaption"):
                    for name in texts:
                        show_view(made.spec.modality(name), made.views[name][row])
                    spots.append(_spot())
    return spots


def nearest_captions(world: Dataset | None, texts: Sequence[str]) -> tuple[Counter[str], list[str]]:
    """How often each caption was drawn, and the texts that are none, which are counted as the nearest one.

    Args:
        world: understands texts; others are counted as they are.
        texts: as drawn.
    """
    if not isinstance(world, Understands):
        return Counter(texts), []
    counts, odd = Counter[str](), list[str]()
    for text, times in Counter(texts).items():
        found = world.understand(text)
        odd += [] if found.complete else [text] * times
        counts[text if found.complete or not found.nearest else found.nearest] += times
    return counts, odd


def _spot() -> Spot:
    label = ui.label().classes("reading")

    def written(text: str, right: bool | None) -> None:
        label.text = text
        if right is not None:
            label.classes("right" if right else "wrong")

    return written


def _understood(sample: runs.GivenInput) -> str:
    """How a text was understood, in one sentence; empty where it was taken as it is."""
    parts = []
    for name, value in sample.given.items():
        if name in sample.unread:
            parts.append(sentence(DataError(sample.unread[name])))
        elif isinstance(value, str) and sample.used.get(name, value) != value:
            drawn = f"; drawn at random: {', '.join(sample.drawn)}" if sample.drawn else ""
            parts.append(f"Read as “{sample.used[name]}”{drawn}.")
    return " ".join(parts)


def readings_of(made: runs.Generated) -> list[tuple[str, bool | None]]:
    """By sample, what the first reader reads in its pictures, and whether that is what the given text says.

    None where nothing was asked for, or where what was read is right and the reader abstains from the rest.
    """
    found = []
    for row, parts in enumerate(made.readings(first=True)):
        first = [part[0] for name, part in parts.items() if part and not made.spec.modality(name).symbols]
        wanted = made.wanted(row)
        values = {name: value for reading in first for name, value in reading.values.items() if name in wanted}
        right: bool | None = None
        if any(value is not None and value != wanted[name] for name, value in values.items()):
            right = False
        elif values and None not in values.values():
            right = True
        found.append(("; ".join(map(str, first)), right))
    return found


def show_predicted(found: runs.Predicted, model: runs.TrainedModel) -> None:
    """Show what a model predicts, and what it says given each sense alone."""
    for text in dict.fromkeys([*found.notes, *(_understood(given_input) for given_input in found.inputs)]):
        if text:
            note(text)
    missing = [name for name in model.modalities if name not in found.inputs[0].given]
    for target in found.targets:
        if target.task == "agreement" and missing:
            note(f"Give {' and '.join(missing)} too: whether senses agree is not told by one of them.")
            continue
        if target.task == "number":
            ui.label(found.line(target.name, found.answers, 0)).classes("answer")
            continue
        ui.label(f"{target.name}: {found.best(target.name)[0]}").classes("answer")
        show_shares(list(found.probabilities(target.name)[0].items())[:10])
    alone = [target for target in found.targets if target.task != "agreement"]
    if missing and alone:
        note(f"{', '.join(missing)} missing: {model.name} answers without.")
    if found.parts and alone:
        heading("By each sense alone", level=3)
        for names, answers in found.parts.items():
            for target in alone:
                ui.label(f"{' + '.join(names)}: {found.line(target.name, answers, 0)}")


def show_findings(found: runs.ModelFindings) -> None:
    """What a model does and cannot do, as its card says, in lists that open."""
    for title, lines in (("What it does", found.does), ("What it cannot do", found.cannot)):
        if lines:
            with ui.expansion(title, value=False), ui.element("ul"):
                for line in lines:
                    with ui.element("li"):
                        ui.label(line)
    if not found.does:
        note("It was not measured.")
