"""A table before it has a format: entries under columns, and the notes that belong to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from molyneux.core import SpecError

INTERVAL = " (95 %)"
"""What the title of a column says whose entries carry an interval."""

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
        """Where a number lies on the line, 0..100."""
        share = (number - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 2)


@dataclass(frozen=True)
class Entry:
    """One entry of a table.

    Args:
        text: what is shown.
        detail: what is shown less loudly after it, such as an interval.
        value: the number behind the text, unrounded; None for words and for numbers that do not exist.
        interval: the interval behind the detail, unrounded.
        tone: `strong` for what the eye should find, `muted` for what stands beside.
        repeated: the same words stand above; pages leave them out, CSV does not.
        strip: the number as a picture.
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
        """Text and detail in one line; empty where the same words stand above."""
        if self.repeated:
            return ""
        return f"{self.text} ({self.detail})" if self.detail else self.text


@dataclass(frozen=True)
class Column:
    """A column's title and the side its entries lean on."""

    title: str
    align: Align = "right"


@dataclass(frozen=True)
class Table:
    """Rows of entries under columns.

    Args:
        name: a short name for files and links, letters, digits and dashes.
        title: one line above the table.
        columns: titles, in order.
        rows: entries, as many in each row as there are columns.
        notes: sentences below the table.

    Raises:
        SpecError: a row is longer or shorter than the columns.
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
        """Whether rows belong together in groups that share the words of the first column."""
        return any(row[0].repeated for row in self.rows)

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise SpecError(f"table {self.name}: expected {len(self.columns)} entries in row {number}, got {len(row)}")
