"""Molyneux's question as a page that needs no computing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import molyneux.run as runs
from molyneux.core import Cell, Gallery
from molyneux.report import Table
from molyneux.report.page import Block, Page, Section, Statements, draw_galleries
from molyneux.report.tables import Column, Entry
from molyneux.studio import story
from molyneux.studio.asked import Asked, asked_of
from molyneux.studio.cells import cell_of
from molyneux.studio.library import Library
from molyneux.studio.pages.question import TITLE, State

_SHOWN = 4
"""Samples that are shown of a path."""


def question_page(library: Library, told: Callable[[str], object] = lambda words: None) -> Page:
    """What the model of Molyneux's question knows by touch, by sight and by name, and what is on record.

    Raises:
        MolyneuxError: what opening the model and its samples raises.
    """
    asked = asked_of(library, library.open(State().model))
    spec, kept, value = asked.model.spec, asked.kept, asked.values[0]
    sections = [
        Section("question", "The question", "", (Statements(story.LETTER),)),
        Section("training", "What came together in training", story.training_sentence(spec, kept, asked.factor), _kinds(asked)),
    ]
    for step, paths in zip(story.STEPS, story.paths_of(spec), strict=True):
        galleries = []
        for path in paths:
            told(f"{TITLE}: {story.path_word(spec, path)}")
            walk = runs.walk_path(asked.model, asked.of(value), path, asked.factor)
            note = f"{story.walk_sentence(walk)} {story.joined_words(spec, kept, path)} The wrong ones first."
            columns = tuple(story.sense_word(spec, name) for name in path)
            shown = tuple(_row(asked, walk, row) for row in walk.wrong_first()[:_SHOWN].tolist())
            galleries.append(Gallery("-".join(path), story.path_title(spec, path), note, columns, shown))
        sections.append(Section(step.lower().replace(" ", "-"), step, "", tuple(draw_galleries(galleries))))
    studies = story.fitting(runs.read_transfers(library.results), spec) if library.results else {}
    answer, remarks = "", tuple[str, ...]()
    for name, variants in list(studies.items())[:1]:
        head, lines = story.record_rows(variants, spec)
        titles = tuple(Column(text) for text in head)
        rows = tuple(tuple(map(Entry, line)) for line in lines)
        table = Table("records", f"{name}: {story.plural(kept.where[asked.factor])} alone, %", titles, rows)
        sections.append(Section("records", "When a sense is new", "", (table,)))
        answer, remarks = story.answer(variants, spec), story.limits(variants, spec.factor(asked.factor))
    facts = (f"{asked.model.name}, seed 0; {len(asked.samples)} test samples",)
    return Page("studio", TITLE, facts, (), tuple(sections), answer=answer, remarks=remarks)


def _kinds(asked: Asked) -> tuple[Block, ...]:
    """A sample of each kind that came in training."""
    spec, rows = asked.model.spec, []
    for title, sample, names in asked.kinds():
        cells = (
            cell_of(item, sample.views[item.name][0]) if item.name in names else Cell(text="withheld") for item in spec.modalities
        )
        rows.append((Cell(text=title), *cells))
    columns = ("", *(story.sense_word(spec, name) for name in spec.names))
    return tuple(draw_galleries([Gallery("kinds", "One of each kind", "", columns, tuple(rows))]))


def _row(asked: Asked, walk: runs.PathWalk, row: int) -> tuple[Cell, ...]:
    cells = [cell_of(asked.model.spec.modality(name), views[row]) for name, views in zip(walk.path, walk.views, strict=True)]
    last = cells[-1]
    return (*cells[:-1], replace(last, reading=story.read_words(walk.said(row)), correct=bool(walk.right[row])))
