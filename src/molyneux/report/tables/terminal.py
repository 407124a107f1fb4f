"""Tables for the terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from molyneux.report.tables.table import Entry, Table

_STYLES = {"": "", "strong": "bold", "muted": "dim"}


def to_terminal(table: Table) -> RichTable:
    """A rich table; printing it is the caller's business."""
    drawn = RichTable(title=table.title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    for column in table.columns:
        drawn.add_column(Text(column.title), justify=column.align, overflow="fold")
    for row in table.rows:
        drawn.add_row(*(_entry(entry) for entry in row))
    if table.notes:
        drawn.caption = Text("\n".join(table.notes))
        drawn.caption_justify = "left"
        drawn.caption_style = "dim"
    return drawn


def _entry(entry: Entry) -> Text:
    if entry.repeated:
        return Text("")
    text = Text(entry.text, style=_STYLES[entry.tone])
    return text.append(f" ({entry.detail})", style="dim") if entry.detail else text
