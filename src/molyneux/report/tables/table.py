"""A table independent of its format: rows of entries under columns, with notes below; and the entries made from scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Literal

from molyneux.core import Score, SpecError
from molyneux.report.wording import MISSING, places, write, write_count, write_interval

INTERVAL = " (95 %)"
"""Ending of the title of a column whose entries carry a 95 % interval."""

Align = Literal["left", "right"]
Tone = Literal["", "strong", "muted"]


@dataclass(frozen=True)
class Strip:
    """A number as a mark on a line from `low` to `high`, with its interval, chance and ceiling; drawn in web pages only."""

    value: float
    low: float
    high: float
    interval: tuple[float, float] | None = None
    chance: float | None = None
    ceiling: float | None = None

    def place(self, number: float) -> float:
        """Position of a number on the line, 0..100."""
        share = (number - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 2)


@dataclass(frozen=True)
class Entry:
    """One entry of a table.

    Args:
        detail: smaller text after the text, such as an interval.
        value: the number behind the text, unrounded; None for words and for numbers that do not exist.
        interval: the interval behind the detail, unrounded.
        tone: `strong` for the main numbers, `muted` for those to compare them with.
        repeated: whether the entry above has the same text; pages then leave it out, CSV does not.
        strip: the number as a mark on a line.
        heat: how far the number lies between chance, 0, and the best, 1, or the worst, -1: the colour of the entry in web pages.
    """

    text: str
    detail: str = ""
    value: float | None = None
    interval: tuple[float, float] | None = None
    tone: Tone = ""
    repeated: bool = False
    strip: Strip | None = None
    heat: float | None = None

    @property
    def shown(self) -> str:
        """Text and detail in one line; empty for repeated text."""
        if self.repeated:
            return ""
        return f"{self.text} ({self.detail})" if self.detail else self.text


DASH = Entry("–", tone="muted")  # noqa: RUF001
"""The entry for a number that has no meaning where it would stand."""


@dataclass(frozen=True)
class Column:
    """Title and alignment of a column, and what it has in common with the columns beside it that are of the same group."""

    title: str
    align: Align = "right"
    group: str = ""

    @property
    def whole(self) -> str:
        """Group and title in one line."""
        return " ".join(part for part in (self.group, self.title) if part)


@dataclass(frozen=True)
class Table:
    """Rows of entries under columns.

    Args:
        name: identifier for file names and links: ASCII letters, digits and dashes (`wording.identifier`).
        title: one line above the table.
        rows: entries, one per column in each row.
        notes: sentences below the table.
        folded: whether web pages show the title alone until the reader opens the table.
        shown: the places of the rows that pages show, where there are too many for them; CSV has all. None for all.

    Raises:
        SpecError: the number of entries in a row is not that of the columns.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()
    folded: bool = False
    shown: tuple[int, ...] | None = None

    @property
    def on_page(self) -> Table:
        """The table with the rows that pages show alone, and a note that says so."""
        if self.shown is None or len(self.shown) == len(self.rows):
            return self
        note = f"{len(self.shown)} of {len(self.rows):,} rows; tables/{self.name}.csv has all."
        return replace(self.visible, notes=(note, *self.notes))

    @property
    def visible(self) -> Table:
        """The table with the rows that pages show alone: where no file of all rows stands beside it."""
        if self.shown is None:
            return self
        return replace(self, rows=tuple(self.rows[place] for place in self.shown), shown=None)

    def without(self, title: str) -> Table:
        """The same table without the column of that title."""
        kept = [number for number, column in enumerate(self.columns) if column.title != title]
        rows = tuple(tuple(row[number] for number in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[number] for number in kept), rows=rows)

    @property
    def spans(self) -> tuple[tuple[str, int], ...]:
        """The groups of columns with how many columns they span; none where no column is of a group."""
        spans = [(name, len(list(columns))) for name, columns in groupby(self.columns, lambda column: column.group)]
        return tuple(spans) if any(name for name, _ in spans) else ()

    @cached_property
    def heated(self) -> bool:
        """Whether entries are coloured by their numbers."""
        return any(entry.heat is not None for row in self.rows for entry in row)

    @cached_property
    def grouped(self) -> bool:
        """Whether rows form groups that share the text of the first column."""
        return any(row[0].repeated for row in self.rows)

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise SpecError(f"table {self.name}: expected {len(self.columns)} entries in row {number}, got {len(row)}")


class Footnotes:
    """Notes collected while a table is filled: the same sentence gets the same mark."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def mark(self, sentence: str) -> str:
        """The superscript mark of a sentence; empty for an empty sentence."""
        if not sentence:
            return ""
        number = str(len(self._marks) + 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return self._marks.setdefault(sentence, number)

    @property
    def notes(self) -> tuple[str, ...]:
        """Every sentence with its mark, in the order of the marks."""
        return tuple(f"{mark} {sentence}" for sentence, mark in self._marks.items())


def value_entry(score: Score, mark: str = "", *, drawn: bool = False) -> Entry:
    """The value with its 95 % interval and a footnote mark; `n/a` where there is none; also as a mark on a line if `drawn`."""
    if score.value is None:
        return Entry(MISSING + mark, tone="muted")
    decimals = places(score)
    detail = "" if score.interval is None else write_interval(score.interval, decimals)
    text = write(score.value, decimals) + mark
    return Entry(text, detail, score.value, score.interval, "strong", strip=strip(score) if drawn else None)


def reference_entry(score: Score, number: float | None) -> Entry:
    """A number to compare a score with, such as its chance level, with as many decimals; a dash for None."""
    return DASH if number is None else Entry(write(number, places(score)), value=number, tone="muted")


def count_entry(score: Score) -> Entry:
    """The number of samples behind a score."""
    return Entry(write_count(score.n), value=score.n, tone="muted") if score.n else DASH


def ceiling(controls: Mapping[str, float]) -> float | None:
    """The accuracy of the judge on true views; None where the controls have none."""
    return next((number for name, number in controls.items() if "ceiling" in name), None)


def strip(score: Score) -> Strip | None:
    """The score as a mark on a line between its bounds; None where a bound is open."""
    low, high = score.bounds
    if score.value is None or low is None or high is None or high <= low:
        return None
    return Strip(score.value, low, high, score.interval, score.chance, ceiling(score.controls))
