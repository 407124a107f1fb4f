"""Tables as Markdown pipe tables."""

from __future__ import annotations

from molyneux.report.tables.table import Entry, Table

_SPECIAL = str.maketrans({"|": r"\|", "*": r"\*", "_": r"\_", "`": r"\`", "<": "&lt;", "\n": " "})


def escape_markdown(text: str) -> str:
    r"""Words that Markdown shows as they are.

    >>> escape_markdown("a|b_c")
    'a\\|b\\_c'
    """
    return text.translate(_SPECIAL)


def to_markdown(table: Table, *, title: bool = True) -> str:
    """The table in Markdown, ending with a line break; the title in bold above it unless told not to."""
    head = "| " + " | ".join(escape_markdown(column.title) for column in table.columns) + " |"
    rule = "|" + "|".join(" ---: " if column.align == "right" else " :--- " for column in table.columns) + "|"
    rows = ["| " + " | ".join(_entry(entry) for entry in row) + " |" for row in table.rows]
    above = [f"**{escape_markdown(table.title)}**", ""] if title else []
    below = ["", *(f"- {escape_markdown(note)}" for note in table.notes)] if table.notes else []
    return "\n".join([*above, head, rule, *rows, *below]) + "\n"


def _entry(entry: Entry) -> str:
    text = escape_markdown(entry.shown)
    return f"**{text}**" if entry.tone == "strong" and text else text
