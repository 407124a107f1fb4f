"""Which is which, as a page that needs no computing: questions of two series, with what a model answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from molyneux.core import Gallery
from molyneux.report.page import Block, Page, Section, Statements, draw_galleries
from molyneux.studio.cells import cell_of
from molyneux.studio.library import Library
from molyneux.studio.which import QuestionSeries, WhichState, about_training, question_words, series_of

TITLE = "Which is which?"
_SHOWN = 10
"""Questions that are shown of a series."""
_SERIES = {True: "Two that are alike", False: "Any two shapes"}


def which_page(library: Library, told: Callable[[str], object] = lambda words: None) -> Page:
    """Questions about new shapes; once somebody chose, which of both is right, and which the model of the package chooses.

    Raises:
        MolyneuxError: what opening the model and its samples raises.
    """
    sections = list[Section]()
    for alike, title in _SERIES.items():
        told(f"{TITLE} {title}")
        series = series_of(library, WhichState(alike=alike))
        if not sections:
            words = Statements((question_words(series), about_training(series)))
            sections.append(Section("question", "The question", "", (words,)))
        sections.append(Section(title.lower().replace(" ", "-"), title, "", _questions(series, title)))
    facts = (f"{series.asking.model.name}, seed 0; {len(series.asking.samples)} test samples",)
    return Page("studio", TITLE, facts, (), tuple(sections))


def _questions(series: QuestionSeries, title: str) -> tuple[Block, ...]:
    """The first questions of a series as a gallery."""
    spec, asked, name = series.asking.model.spec, series.questions, series.asking.model.name
    chosen, rows = series.answers[name].chosen, []
    for row in range(_SHOWN):
        cells = [cell_of(spec.modality(asked.source), asked.given_view(row))]
        for place, view in enumerate(asked.choice_views(row)):
            said = ["the same" if place == int(asked.right[row]) else "another"]
            said += [f"{name} chose it"] * int(chosen[row] == place)
            cells.append(replace(cell_of(spec.modality(asked.target), view), reading="; ".join(said)))
        rows.append(tuple(cells))
    note = (
        "Each row is a question. Choose one of the two: then it says which of them is the same shape, and which the model chose."
    )
    gallery = Gallery(title.lower().replace(" ", "-"), title, note, ("given", "the first", "the second"), tuple(rows))
    return tuple(replace(drawn, choose=True) for drawn in draw_galleries([gallery]))
