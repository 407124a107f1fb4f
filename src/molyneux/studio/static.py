"""What the studio shows without computing, as a folder of files for any web server: worlds, models, codes, the leaderboard."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

import numpy as np
from torch import Tensor

import molyneux.run as runs
from molyneux.core import Cell, Gallery, Modality, MolyneuxError, store, values_of
from molyneux.report import write_leaderboard
from molyneux.report.page import Page, Section, draw_galleries, render_html
from molyneux.studio.answers import readings_of
from molyneux.studio.library import Library
from molyneux.studio.pages.worlds import worlds

_SAMPLES, _DRAWN, _CAPTIONS, _STEPS = 12, 6, 4, 7
"""Samples of a world; draws of a caption; captions of a model; places of a slider."""
_LEVELS = {"CdSprites": range(1, 6), "GeBiD": range(1, 6)}
_LEFT_OUT = ("SimulatedPush",)
"""Worlds that take minutes to make."""


def write_static(library: Library, folder: Path, *, told: Callable[[str], object] = lambda words: None) -> list[Path]:
    """Write the pages that need no computing.

    Args:
        library: models, runs and records.
        folder: new or empty.
        told: is called with what is written.

    Returns:
        The files, `index.html` first.

    Raises:
        StoreError: the folder cannot be written.
    """
    pages = {"worlds": worlds_page(told), "models": models_page(library, told), "codes": codes_page(library, told)}
    made = [folder / f"{name}.html" for name in pages]
    for path, page in zip(made, pages.values(), strict=True):
        store.write_text(path, render_html(page))
    links = {page.title: f"{name}.html" for name, page in pages.items()}
    if library.results:
        told("leaderboard")
        ranked = runs.make_leaderboard(library.results)
        made += write_leaderboard(ranked, folder / "leaderboard")
        links["Leaderboard"] = (
            next(path for path in made if path.suffix == ".html" and path.parent != folder).relative_to(folder).as_posix()
        )
    index = folder / "index.html"
    store.write_text(index, _index(links))
    return [index, *made]


def worlds_page(told: Callable[[str], object] = lambda words: None) -> Page:
    """The first samples of every world, at each of its levels."""
    sections = []
    for name, make in worlds().items():
        if name in _LEFT_OUT:
            continue
        told(name)
        levels = [{"level": level} for level in _LEVELS.get(name, ())] or [{}]
        galleries = []
        for settings in levels:
            world = make(**settings)
            batch = world.batch(np.arange(_SAMPLES), split="train", seed=0)
            items = world.spec.modalities
            rows = tuple(tuple(_cell(item, batch.views[item.name][row]) for item in items) for row in range(_SAMPLES))
            title = f"Level {settings['level']}" if settings else "Samples"
            galleries.append(Gallery(f"{name}-{title}".lower(), title, "", tuple(item.name for item in items), rows))
        sections.append(Section(name.lower(), name, (make.__doc__ or "").partition("\n")[0], tuple(draw_galleries(galleries))))
    return Page("studio", "Worlds", ("the first samples of each world, seed 0",), (), tuple(sections))


def models_page(library: Library, told: Callable[[str], object] = lambda words: None) -> Page:
    """What the models that come with the package draw of captions of test samples, and what is read in it."""
    sections = []
    for name in library.shipped:
        model = library.open(name)
        text = next((item for item in model.spec.modalities if item.kind == "text"), None)
        drawn = next((item for item in model.spec.modalities if item.kind == "image"), None)
        if "generate" not in model.abilities or text is None or drawn is None:
            continue
        told(name)
        try:
            samples = library.samples(model, _CAPTIONS)
        except MolyneuxError:  # their files are not here
            continue
        captions = values_of(text, samples.views[text.name])
        made = model.generate(drawn.name, count=_DRAWN, seed=0, inputs={text.name: captions})
        read = readings_of(made)
        rows = []
        for place, caption in enumerate(captions):
            drawn_row = range(place * _DRAWN, (place + 1) * _DRAWN)
            cells = (Cell(made.views[drawn.name][row].numpy(), "", *read[row]) for row in drawn_row)
            rows.append((Cell(text=str(caption)), *cells))
        columns = ("caption", *(f"draw {number + 1}" for number in range(_DRAWN)))
        gallery = Gallery(name, "Captions of test samples, and what it draws of them", "", columns, tuple(rows))
        sections.append(Section(name, name, _summary(name), tuple(draw_galleries([gallery]))))
    return Page("studio", "Models", ("seed 0; what readers read stands beneath each picture",), (), tuple(sections))


def codes_page(library: Library, told: Callable[[str], object] = lambda words: None) -> Page:
    """What each number of a code does to every sense that it changes, for the models that come with the package."""
    sections = []
    for name in library.shipped:
        model = library.open(name)
        if not {"encode", "decode"} <= set(model.abilities) or not any(item.kind == "image" for item in model.spec.modalities):
            continue
        told(name)
        try:
            survey = runs.survey_codes(model, library.samples(model, 1_000))
        except MolyneuxError:  # the files of its data are not here
            continue
        moved: dict[str, list[tuple[Cell, ...]]] = {item.name: [] for item in model.spec.modalities}
        for place in range(min(survey.codes.shape[1], 16)):
            codes = np.repeat(survey.codes[:1], _STEPS, 0)
            codes[:, place] = np.linspace(survey.low[place], survey.high[place], _STEPS)
            views = model.decode(runs.parted_code(codes, survey.parts)).views
            carried = (
                ", ".join(f"{factor} {100 * share:.0f} %" for factor, share in survey.about(place)[:3]) or "nothing measured"
            )
            for item in model.spec.modalities:
                view = views[item.name]
                if not bool((view[1:] == view[:1]).all()):
                    cells = (_cell(item, view[step]) for step in range(_STEPS))
                    moved[item.name].append((Cell(text=f"number {place}: {carried}"), *cells))
        columns = ("number", *(f"{100 * step // (_STEPS - 1)} %" for step in range(_STEPS)))
        note = "Each number goes from where a hundredth of the samples lie below it to where a hundredth lie above."
        galleries = [
            Gallery(f"{name}-{item}", f"What {item} shows when one number is moved", note, columns, tuple(rows))
            for item, rows in moved.items()
            if rows
        ]
        sections.append(Section(name, name, _summary(name), tuple(draw_galleries(galleries))))
    return Page("studio", "Codes", ("begun with the first test sample",), (), tuple(sections))


def _cell(item: Modality, view: Tensor) -> Cell:
    if item.kind == "image" and view.shape[0] in (1, 3):
        return Cell(view.numpy())
    if item.kind == "series" and view.dim() == 2:
        return Cell(view.numpy())
    return Cell(text=str(values_of(item, view[None])[0]) if item.symbols else f"{tuple(view.shape)}")


def _summary(name: str) -> str:
    from molyneux.run.trained.shipped import shipped_summary

    return shipped_summary(name)


def _index(links: dict[str, str]) -> str:
    items = "".join(f'<li><a href="{html.escape(target)}">{html.escape(title)}</a></li>' for title, target in links.items())
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<title>Molyneux</title><style>body{font:17px/1.6 system-ui,sans-serif;max-width:40em;margin:3em auto;padding:0 1em}"
        "@media(prefers-color-scheme:dark){body{background:#141516;color:#ebe8e2}a{color:#6cb2ee}}</style>"
        "<main><h1>Molyneux</h1><p>What the studio shows without computing; <code>molyneux studio</code> computes the rest.</p>"
        f"<ul>{items}</ul></main></html>\n"
    )
