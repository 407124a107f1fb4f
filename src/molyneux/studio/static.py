"""What the studio shows without computing, as a folder of files for any web server: worlds, models, codes, records."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import molyneux.run as runs
from molyneux.core import Cell, Gallery, MolyneuxError, store, values_of
from molyneux.data import ShapeWorld
from molyneux.report import write_leaderboard
from molyneux.report.page import Page, Section, draw_galleries, render_html
from molyneux.studio.answers import readings_of
from molyneux.studio.cells import cell_of
from molyneux.studio.library import Library
from molyneux.studio.pages.worlds import worlds
from molyneux.studio.question_page import question_page
from molyneux.studio.truths import TRUTHS, JudgedSentence, ScenesState, scene_answer
from molyneux.studio.which_page import which_page

_SAMPLES, _DRAWN, _CAPTIONS, _STEPS = 12, 6, 4, 7
"""Samples of a world; draws of a caption; captions of a model; places of a slider."""
_SCENES, _FOILS = 8, 3
"""Scenes of a world of sentences, and foils of each caption."""
_ABOUT = {
    "question": "A shape that was felt and named, and never seen: is it known by sight?",
    "which": "A hand feels a shape, and two are seen: which one is it? Questions, and what a model answers.",
    "worlds": "The first samples of each world, at each of its levels.",
    "models": "What the models of the package draw of captions, and what readers read in it.",
    "scenes": "Sentences about scenes: what is true by meaning, and what a model says.",
    "codes": "What each number of a code changes in every sense.",
    "leaderboard": "Models and worlds, from records alone.",
}
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
    pages = {
        "question": question_page(library, told),
        "which": which_page(library, told),
        "worlds": worlds_page(told),
        "models": models_page(library, told),
        "scenes": scenes_page(library, told),
        "codes": codes_page(library, told),
    }
    links = {f"{name}.html": (page.title, _ABOUT[name]) for name, page in pages.items()}
    made = []
    if library.results:
        told("leaderboard")
        made = list(write_leaderboard(runs.make_leaderboard(library.results), folder / "leaderboard"))
        board = next(path for path in made if path.suffix == ".html").relative_to(folder).as_posix()
        links[board] = ("Leaderboard", _ABOUT["leaderboard"])
    for name, page in pages.items():
        store.write_text(folder / f"{name}.html", _linked(render_html(page), links, f"{name}.html"))
    index = folder / "index.html"
    store.write_text(index, _index(links))
    return [index, *(folder / f"{name}.html" for name in pages), *made]


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
            rows = tuple(tuple(cell_of(item, batch.views[item.name][row]) for item in items) for row in range(_SAMPLES))
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


def scenes_page(library: Library, told: Callable[[str], object] = lambda words: None) -> Page:
    """Scenes with their captions and foils: what is true by meaning, and what a model says."""
    from molyneux.data import say, scene_of

    sections = []
    for name in library.trained_on("ShapeWorld"):
        world = library.open(name).dataset()
        if name not in library.shipped or not isinstance(world, ShapeWorld):
            continue
        told(name)
        rows = []
        for sample in range(0, _SCENES * 4, 4):
            scene = scene_of(world, sample)
            if scene.caption is None:
                continue
            foils = [one.caption for one in scene.foils(scene.caption) if set(one.tree.polish) <= set(world.meanings)]
            cells = [Cell(scene.image)]
            for text in (" ".join(say(scene.caption, world.language)), *foils[:_FOILS]):
                found = scene_answer(library, ScenesState(name, sample, text=text)).rows[-1]
                cells.append(Cell(None, text.removesuffix(" ."), *_judgement(found)))
            rows.append((*cells, *[Cell(text="")] * (2 + _FOILS - len(cells))))
        columns = ("scene", "caption", *(f"foil {number + 1}" for number in range(_FOILS)))
        note = "Below each sentence: whether it is true by its meaning, and what the model says."
        gallery = Gallery(name, "Scenes of test samples, their captions, and foils", note, columns, tuple(rows))
        sections.append(Section(name, name, _summary(name), tuple(draw_galleries([gallery]))))
    return Page("studio", "True or false", ("test samples, seed 0",), (), tuple(sections))


def _judgement(found: JudgedSentence) -> tuple[str, bool | None]:
    """What is true and what a model says, and whether that is right."""
    if found.share is None or found.truth == 0:
        return TRUTHS[found.truth], None
    says = found.share > 0.5
    return f"{TRUTHS[found.truth]}; the model: {'true' if says else 'false'}", says == (found.truth > 0)


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
                    cells = (cell_of(item, view[step]) for step in range(_STEPS))
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


def _summary(name: str) -> str:
    from molyneux.run.trained.shipped import shipped_summary

    return shipped_summary(name)


def _linked(page: str, links: Mapping[str, tuple[str, str]], here: str) -> str:
    """A page with links to the others at its beginning."""
    parts = (
        f'<a href="{html.escape(target)}"{" aria-current=page" if target == here else ""}>{html.escape(title)}</a>'
        for target, (title, _) in {"index.html": ("Molyneux", ""), **links}.items()
    )
    style = "display:flex;flex-wrap:wrap;gap:4px 18px;padding:10px clamp(12px,4vw,48px);font:15px system-ui,sans-serif"
    return page.replace("<body>", f'<body><nav aria-label="pages" style="{style}">{"".join(parts)}</nav>', 1)


def _index(links: Mapping[str, tuple[str, str]]) -> str:
    items = "".join(
        f'<li><a href="{html.escape(target)}">{html.escape(title)}</a><br>{html.escape(about)}</li>'
        for target, (title, about) in links.items()
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<title>Molyneux</title><style>body{font:17px/1.6 system-ui,sans-serif;max-width:40em;margin:3em auto;padding:0 1em}"
        "ul{list-style:none;padding:0}li{margin:0 0 1.1em}li a{font-weight:600;font-size:1.15em}"
        "@media(prefers-color-scheme:dark){body{background:#141516;color:#ebe8e2}a{color:#6cb2ee}}</style>"
        "<main><h1>Molyneux</h1><p>What the studio shows without computing. For your own captions, pictures and sliders start "
        "<code>molyneux studio</code>.</p>"
        f"<ul>{items}</ul></main></html>\n"
    )
