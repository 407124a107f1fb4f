"""A table independent of its format: rows of entries under columns, with notes below."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from molyneux.core import SpecError

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
        text: the text that is shown.
        detail: smaller text after it, such as an interval.
        value: the number behind the text, unrounded; None for words and for numbers that do not exist.
        interval: the interval behind the detail, unrounded.
        tone: `strong` for the main numbers, `muted` for those to compare them with.
        repeated: whether the entry above has the same text; pages then leave it out, CSV does not.
        strip: the number as a mark on a line.
    """

    text: str
    detail: str = ""
    value: float | None = None
    interval: tuple[float, float] | None = None
    tone: Tone = ""
    repeated: bool = False
    strip: Strip | None = None

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
    """Title and alignment of a column."""

    title: str
    align: Align = "right"


@dataclass(frozen=True)
class Table:
    """Rows of entries under columns.

    Args:
        name: identifier for file names and links: ASCII letters, digits and dashes (`wording.identifier`).
        title: one line above the table.
        columns: columns, in order.
        rows: entries, one per column in each row.
        notes: sentences below the table.

    Raises:
        SpecError: the number of entries in a row is not that of the columns.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()

    def without(self, title: str) -> Table:
        """The same table without the column of that title."""
        kept = [number for number, column in enumerate(self.columns) if column.title != title]
        rows = tuple(tuple(row[number] for number in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[number] for number in kept), rows=rows)

    @property
    def grouped(self) -> bool:
        """Whether rows form groups that share the text of the first column."""
        return any(row[0].repeated for row in self.rows)

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise SpecError(f"table {self.name}: expected {len(self.columns)} entries in row {number}, got {len(row)}")
