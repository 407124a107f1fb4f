"""What a run found, for a terminal: the main results as sentences, then as much of the table of scores as the screen holds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.cells import cell_len
from rich.console import Console, Group
from rich.table import Table as RichTable
from rich.text import Text

from molyneux.core import Score
from molyneux.report.headlines import headlines
from molyneux.report.run_page import summary
from molyneux.report.tables import Table, base_scores, to_terminal
from molyneux.report.tables.formats import LEAST

MOST_LINES = 25
"""Lines that are printed of a run."""
_LEAST_LINES, _BETWEEN = 8, 2


def terminal_summary(
    scores: Sequence[Score],
    config: Mapping[str, Any] | None = None,
    *,
    width: int,
    lines: int = MOST_LINES,
    rest: str = "the report",
) -> Group:
    """The main results of a run, and its table of scores without the columns and rows for which there is no room.

    Args:
        scores: scores of one run; those under conditions are left out.
        config: its resolved configuration, which names world and level.
        width: columns of the terminal.
        lines: lines that may be printed.
        rest: where the columns and rows are that are left out.
    """
    console = Console(width=width)
    answers = _answers(base_scores(scores), console, lines // 3)
    used = sum(len(console.render_lines(answer)) for answer in answers)
    return Group(*answers, fitted(summary(scores, config), width, max(_LEAST_LINES, lines - used), rest))


def fitted(table: Table, width: int, lines: int, rest: str) -> RichTable:
    """A table for a terminal of some columns and lines: without columns on the right, notes and rows for which there is no room.

    Args:
        table: what is shown.
        width: columns of the terminal.
        lines: lines that the table may have.
        rest: where the columns and rows are that are left out.
    """
    console = Console(width=width)
    shown, out = table, list[str]()
    while len(shown.columns) > 2 and not _fits(shown, width):
        out.insert(0, shown.columns[-1].whole)
        shown = replace(shown, columns=shown.columns[:-1], rows=tuple(row[:-1] for row in shown.rows))
    if not _fits(shown, width):
        rows = tuple(tuple(replace(entry, detail="") for entry in row) for row in shown.rows)
        shown = replace(shown, rows=rows)
    said = [f"No room for {', '.join(out)}: in {rest}."] if out else []
    shown = replace(shown, notes=(*shown.notes, *said))
    if _height(shown, console) > lines:  # notes first: they explain, rows are what was found
        shown = replace(shown, notes=(*said, f"Notes: in {rest}.") if table.notes else tuple(said))
    counts = range(1, len(shown.rows) + 1)
    count = bisect_right(counts, lines, key=lambda number: _height(_cut(shown, number, rest), console))
    return to_terminal(_cut(shown, max(1, count), rest))


def _answers(scores: Sequence[Score], console: Console, lines: int) -> list[Text]:
    """The main results: as sentences, or where these take too many lines as numbers alone."""
    found = headlines(scores)
    sentences = [Text(item.sentence, style="bold") for item in found]
    if sum(len(console.render_lines(sentence)) for sentence in sentences) <= lines:
        return sentences
    column = max(len(item.about) for item in found)
    shown = [Text(f"{item.about:<{column}}  {item.number}", style="bold", no_wrap=True) for item in found[:lines]]
    more = len(found) - len(shown)
    return [*shown, *([Text(f"and {more} more main results")] if more else [])]


def _cut(table: Table, count: int, rest: str) -> Table:
    left = len(table.rows) - count
    if not left:
        return table
    return replace(table, rows=table.rows[:count], notes=(f"{left} more rows: in {rest}.", *table.notes))


def _fits(table: Table, width: int) -> bool:
    """Whether no number and no title has to be cut; words are folded."""
    first = 1 if table.grouped else 0
    needed = 1
    for number, column in enumerate(table.columns[first:], first):
        numbers = column.align == "right"
        cells = [max(column.whole.split(), key=len), *(row[number].shown for row in table.rows)]
        needed += _BETWEEN + (max(map(cell_len, cells)) if numbers else LEAST)
    return needed <= width


def _height(table: Table, console: Console) -> int:
    return len(console.render_lines(to_terminal(table)))
