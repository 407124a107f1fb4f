"""Tables with one row per score: interval, chance, controls and number of samples beside the value; one table per family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.tables.entries import Footnotes, count_entry, reference_entry, value_entry
from molyneux.report.tables.table import INTERVAL, Align, Column, Entry, Table

_FOOTNOTES = 3
"""A table with more different notes than this has a column for them."""
_OWN_TABLE = 6
"""A measure with more scores than this has a table of its own."""


@dataclass(frozen=True)
class Head:
    """A text column on the left of the numbers; text that repeats from row to row is shown once."""

    title: str
    text: Callable[[Score], str]


@dataclass(frozen=True)
class Extra:
    """A column on the right of the numbers."""

    title: str
    entry: Callable[[Score], Entry]
    align: Align = "right"


def about_head(name: str, title: str = "") -> Head:
    """A text column with one part of `Score.about`, such as the factor."""
    return Head(title or name.replace("_", " "), lambda score: wording.value_text(score.about.get(name)))


MEASURE = Head("measure", wording.measure)
SUBJECT = Head("of what", wording.subject)
DIRECTION = Head("direction", wording.direction)
FACTOR = about_head("factor")


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
        name: identifier of the table.
        title: line above the table.
        scores: one per row.
        heads: text columns on the left.
        extras: columns on the right, such as published numbers.
        notes: sentences below; the notes of scores follow as footnotes, or in a column of their own where there are many.
        drawn: whether values are also marks on a line, in formats that can show them.
    """
    footnotes = Footnotes()
    remarks = len({score.note for score in scores if score.note}) > _FOOTNOTES
    columns = [_value(scores, None if remarks else footnotes, drawn=drawn), *_references(scores), *extras]
    columns += [Extra("note", lambda score: Entry(score.note, tone="muted"), "left")] if remarks else []
    heads = [head for head in heads if any(head.text(score) for score in scores)]
    rows = []
    for number, score in enumerate(scores):
        texts = head_entries(heads, score, scores[number - 1] if number else None)
        rows.append((*texts, *(column.entry(score) for column in columns)))
    titles = [*(Column(head.title, "left") for head in heads), *(Column(column.title, column.align) for column in columns)]
    return Table(name, title, tuple(titles), tuple(rows), (*notes, *footnotes.notes))


def head_entries(heads: Sequence[Head], score: Score, above: Score | None) -> list[Entry]:
    """The text entries of a row; those that repeat the row `above` from the left on are marked as repeated."""
    row, same = [], above is not None
    for head in heads:
        same = same and above is not None and head.text(above) == head.text(score)
        row.append(Entry(head.text(score), repeated=same))
    return row


def family_tables(scores: Sequence[Score]) -> list[Table]:
    """One table for each family of scores and each measure with many scores, in the order in which they first appear.

    Works for any scores: nothing about a measure need be known.
    """
    counts = Counter(score.name for score in scores)
    groups: dict[str, list[Score]] = {}
    for score in scores:
        own = counts[score.name] > _OWN_TABLE
        groups.setdefault(score.name if own else wording.family(score.name), []).append(score)
    return [_family_table(name, group) for name, group in groups.items()]


def prediction_scores(scores: Sequence[Score]) -> list[Score]:
    """The scores of a supervised model, `prediction.*`, target by target."""
    chosen = [score for score in scores if wording.family(score.name) == "prediction"]
    targets = list(dict.fromkeys(wording.value_text(score.about.get("target")) for score in chosen))
    return sorted(chosen, key=lambda score: targets.index(wording.value_text(score.about.get("target"))))


def prediction_tables(scores: Sequence[Score]) -> list[Table]:
    """How well each target is predicted: a table of whole targets and, where there are any, one of single labels."""
    chosen = prediction_scores(scores)
    whole = [score for score in chosen if not _details(score)]
    labels = [score for score in chosen if _details(score)]
    heads = (about_head("target"), MEASURE, about_head("source", "from"))
    tables = [score_table("prediction", "Predicted targets", whole, heads=heads, drawn=True)] if whole else []
    return tables + ([score_table("prediction-labels", "Single labels", labels, heads=_about_heads(labels))] if labels else [])


def _details(score: Score) -> set[str]:
    return set(score.about) - {"source", "target", *wording.CONDITIONS}


def _value(scores: Sequence[Score], footnotes: Footnotes | None, *, drawn: bool) -> Extra:
    title = f"value{INTERVAL}" if any(score.interval for score in scores) else "value"
    return Extra(title, lambda score: value_entry(score, footnotes.mark(score.note) if footnotes else "", drawn=drawn))


def _references(scores: Sequence[Score]) -> list[Extra]:
    """Chance, controls and number of samples, where there are any; ceilings last."""

    def control(name: str) -> Extra:
        return Extra(wording.control(name), lambda score: reference_entry(score, score.controls.get(name)))

    chance = Extra("chance", lambda score: reference_entry(score, score.chance))
    columns = [chance] if any(score.chance is not None for score in scores) else []
    names = dict.fromkeys(name for score in scores for name in score.controls)
    columns += [control(name) for name in sorted(names, key=lambda name: "ceiling" in name)]
    return [*columns, Extra("n", count_entry)] if any(score.n for score in scores) else columns


def _family_table(name: str, scores: Sequence[Score]) -> Table:
    identifier = wording.identifier(name.replace(".", " ").replace("_", " "))
    if {score.name for score in scores} == {name} and len(scores) > _OWN_TABLE:
        title = f"{wording.family_title(wording.family(name))}: {wording.measure(scores[0]).lower()}"
        return score_table(identifier, title, scores, heads=_about_heads(scores))
    return score_table(identifier, wording.family_title(name), scores)


def _about_heads(scores: Sequence[Score]) -> list[Head]:
    """The direction, then one text column for every other part of `about`, and the measure where there are several."""
    names = dict.fromkeys(name for score in scores for name in score.about if name not in ("source", "target"))
    measures = [MEASURE] if len({score.name for score in scores}) > 1 else []
    return [DIRECTION, *map(about_head, names), *measures]
