"""Any scores as a table: one row each, with interval, chance, controls and number of samples beside the value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.tables import entries
from molyneux.report.tables.entries import Footnotes
from molyneux.report.tables.table import INTERVAL, Column, Entry, Table


@dataclass(frozen=True)
class Head:
    """A column of words before the numbers; words that repeat from row to row are shown once."""

    title: str
    words: Callable[[Score], str]


@dataclass(frozen=True)
class Extra:
    """A column of entries from elsewhere after the numbers."""

    title: str
    entry: Callable[[Score], Entry]


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
) -> Table:
    """One row per score in the order given. Columns that would be empty are left out.

    Args:
        name: short name of the table.
        title: line above the table.
        scores: what it shows.
        heads: columns of words on the left.
        extras: columns on the right, such as published numbers.
        notes: sentences below; the notes of scores follow as footnotes.
    """
    heads = [head for head in heads if any(head.words(score) for score in scores)]
    controls = control_names(scores)
    footnotes = Footnotes()
    columns = [Column(head.title, "left") for head in heads] + [Column(_value_title(scores))]
    columns += [Column("chance")] if any(score.chance is not None for score in scores) else []
    columns += [Column(wording.control(control)) for control in controls]
    columns += [Column("n")] if any(score.n for score in scores) else []
    columns += [Column(extra.title) for extra in extras]
    titles = {column.title for column in columns}
    rows = []
    for number, score in enumerate(scores):
        row = _heads(heads, score, scores[number - 1] if number else None)
        row.append(entries.value(score, footnotes))
        row += [entries.beside(score, score.chance)] if "chance" in titles else []
        row += [entries.beside(score, score.controls.get(control)) for control in controls]
        row += [entries.count(score)] if "n" in titles else []
        rows.append(tuple(row + [extra.entry(score) for extra in extras]))
    return Table(name, title, tuple(columns), tuple(rows), (*notes, *footnotes.notes))


def family_tables(scores: Sequence[Score]) -> list[Table]:
    """One table for every family of names, known or not, in the order in which they appear."""
    families: dict[str, list[Score]] = {}
    for score in scores:
        families.setdefault(wording.family(score.name), []).append(score)
    return [score_table(slug(name), wording.family_title(name), members) for name, members in families.items()]


def control_names(scores: Sequence[Score]) -> list[str]:
    """Names of all controls in order of appearance, ceilings last."""
    names = dict.fromkeys(name for score in scores for name in score.controls)
    return sorted(names, key=lambda name: "ceiling" in name)


def slug(text: str) -> str:
    """Words as a short name for files and links.

    >>> slug("text → image, 5 %")
    'text-image-5'
    """
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text.lower())
    return "-".join(part for part in kept.split("-") if part)


def _value_title(scores: Sequence[Score]) -> str:
    return f"value{INTERVAL}" if any(score.interval for score in scores) else "value"


def _heads(heads: Sequence[Head], score: Score, above: Score | None) -> list[Entry]:
    row, same = [], above is not None
    for head in heads:
        same = same and above is not None and head.words(above) == head.words(score)
        row.append(entries.words(head.words(score), repeated=same))
    return row
