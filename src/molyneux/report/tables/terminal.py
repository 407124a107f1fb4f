"""Tables for the terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from molyneux.report.tables.table import INTERVAL, Column, Entry, Table

_STYLES = {"": "", "strong": "bold", "muted": "dim"}


def to_terminal(table: Table) -> RichTable:
    """A rich table; printing it is the caller's business.

    Where rows form groups, the words of a group stand on a line of their own, so that the table fits 80 columns.
    """
    drawn = RichTable(title=table.title, box=box.SIMPLE_HEAD, title_style="bold", pad_edge=False, collapse_padding=True)
    drawn.title_justify = "left"
    first = 1 if table.grouped else 0
    for column in table.columns[first:]:
        drawn.add_column(_title(column), justify=column.align, no_wrap=column.align == "right", overflow="fold")
    for row in table.rows:
        if table.grouped and not row[0].repeated:
            drawn.add_row(Text(row[0].text, style="bold"))
        drawn.add_row(*(_entry(entry) for entry in row[first:]))
    if table.notes:
        drawn.caption = Text("\n".join(table.notes))
        drawn.caption_justify = "left"
        drawn.caption_style = "dim"
    return drawn


def _title(column: Column) -> Text:
    """Titles of columns of numbers have one word a line, so that the numbers say how wide they are."""
    numbers = column.align == "right" and not column.title.endswith(INTERVAL)
    return Text(column.title.replace(" ", "\n") if numbers else column.title)


def _entry(entry: Entry) -> Text:
    if entry.repeated:
        return Text("")
    text = Text(entry.text, style=_STYLES[entry.tone])
    return text.append(f" ({entry.detail})", style="dim") if entry.detail else text
