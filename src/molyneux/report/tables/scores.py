"""Any scores as a table: one row each, with interval, chance, controls and number of samples beside the value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.tables import entries
from molyneux.report.tables.entries import Footnotes
from molyneux.report.tables.table import INTERVAL, Align, Column, Entry, Table

_FOOTNOTES = 3
"""A table with more different notes than this has a column for them."""


@dataclass(frozen=True)
class Head:
    """A column of words before the numbers; words that repeat from row to row are shown once."""

    title: str
    words: Callable[[Score], str]


@dataclass(frozen=True)
class Extra:
    """A column of entries."""

    title: str
    entry: Callable[[Score], Entry]
    align: Align = "right"


MEASURE = Head("measure", wording.measure)
SUBJECT = Head("of what", wording.subject)
DIRECTION = Head("direction", wording.direction)
FACTOR = Head("factor", lambda score: score.about.get("factor", ""))


def score_table(
    name: str,
    title: str,
    scores: Sequence[Score],
    *,
    heads: Sequence[Head] = (MEASURE, SUBJECT),
    extras: Sequence[Extra] = (),
    notes: Sequence[str] = (),
    drawn: bool = False,
) -> Table:
    """One row per score in the order given. Columns that would be empty are left out.

    Args:
        name: short name of the table.
        title: line above the table.
        scores: what it shows.
        heads: columns of words on the left.
        extras: columns on the right, such as published numbers.
        notes: sentences below; the notes of scores follow as footnotes, or in a column of their own where they are many.
        drawn: whether values are pictures, too, in formats that can show them.
    """
    footnotes = Footnotes()
    remarks = len({score.note for score in scores if score.note}) > _FOOTNOTES
    columns = [_value(scores, None if remarks else footnotes, drawn=drawn), *_beside(scores), *extras]
    columns += [Extra("note", lambda score: Entry(score.note, tone="muted"), "left")] if remarks else []
    heads = [head for head in heads if any(head.words(score) for score in scores)]
    rows = []
    for number, score in enumerate(scores):
        words = _heads(heads, score, scores[number - 1] if number else None)
        rows.append((*words, *(column.entry(score) for column in columns)))
    titles = [*(Column(head.title, "left") for head in heads), *(Column(column.title, column.align) for column in columns)]
    return Table(name, title, tuple(titles), tuple(rows), (*notes, *footnotes.notes))


def control_names(scores: Sequence[Score]) -> list[str]:
    """Names of all controls in order of appearance, ceilings last."""
    names = dict.fromkeys(name for score in scores for name in score.controls)
    return sorted(names, key=lambda name: "ceiling" in name)


def _value(scores: Sequence[Score], footnotes: Footnotes | None, *, drawn: bool) -> Extra:
    title = f"value{INTERVAL}" if any(score.interval for score in scores) else "value"

    def entry(score: Score) -> Entry:
        return entries.value(score, footnotes.mark(score.note) if footnotes else "", drawn=drawn)

    return Extra(title, entry)


def _beside(scores: Sequence[Score]) -> list[Extra]:
    """Chance, controls and number of samples, where there are any."""

    def control(name: str) -> Extra:
        return Extra(wording.control(name), lambda score: entries.beside(score, score.controls.get(name)))

    chance = Extra("chance", lambda score: entries.beside(score, score.chance))
    columns = [chance] if any(score.chance is not None for score in scores) else []
    columns += [control(name) for name in control_names(scores)]
    return [*columns, Extra("n", entries.count)] if any(score.n for score in scores) else columns


def _heads(heads: Sequence[Head], score: Score, above: Score | None) -> list[Entry]:
    row, same = [], above is not None
    for head in heads:
        same = same and above is not None and head.words(above) == head.words(score)
        row.append(entries.words(head.words(score), repeated=same))
    return row
