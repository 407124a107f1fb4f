"""Write a table as Markdown, LaTeX, CSV, or for the terminal. Text is escaped for each format."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from molyneux.core import Score
from molyneux.report.tables.table import INTERVAL, Column, Entry, Table
from molyneux.report.wording import value_text

_LINES = {"\n": " ", "\r": " "}
_MARKDOWN = str.maketrans({**{sign: f"\\{sign}" for sign in r"\|*_`[]"}, "<": "&lt;", ">": "&gt;", "&": "&amp;", **_LINES})
_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        **{mark: rf"\textsuperscript{{{digit}}}" for digit, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
        **_LINES,
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
        "→": r"$\to$",
        "−": "$-$",  # noqa: RUF001  the minus sign that numbers are written with
        "–": "--",  # noqa: RUF001
        "±": r"$\pm$",
        "×": r"$\times$",  # noqa: RUF001
        "·": r"$\cdot$",
        "▲": r"$\blacktriangle$",
        "▼": r"$\blacktriangledown$",
        "≈": r"$\approx$",
        "∅": r"$\emptyset$",
        "µ": r"$\mu$",
        "⊘": r"$\oslash$",
    }
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text begins that spreadsheets take for a formula."""
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|-inf")
LEAST = 16
"""Characters that a column of names keeps on a narrow terminal, where numbers would leave it none."""
_STYLES = {"": "", "strong": "bold", "muted": "dim"}


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows literally, in one line.

    >>> escape_markdown("a|b_c <i> [d](e)")
    'a\\|b\\_c &lt;i&gt; \\[d\\](e)'
    """
    return text.translate(_MARKDOWN)


def to_markdown(table: Table) -> str:
    """The table as a Markdown pipe table with its title in bold above it, ending with a line break."""
    heads = [escape_markdown(column.whole) for column in table.columns]
    rules = [" ---: " if column.align == "right" else " :--- " for column in table.columns]
    rows = ([_entry(entry, escape_markdown, "**", "**") for entry in row] for row in table.rows)
    below = ["", *(f"- {escape_markdown(note)}" for note in table.notes)] if table.notes else []
    return "\n".join([f"**{escape_markdown(table.title)}**", "", *_pipes(heads, rules, rows), *below]) + "\n"


def pipe_table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, words: Collection[int] = (0,)) -> str:
    """Titles and cells that are Markdown already as a pipe table, ending with a line break.

    Args:
        heads: titles of the columns.
        rows: the cells of each row.
        words: the columns of words; the others are of numbers, at the right.

    >>> print(pipe_table(["model", "accuracy, %"], [["`MVAE`", 97.5]]), end="")
    | model | accuracy, % |
    |---|---:|
    | `MVAE` | 97.5 |
    """
    rules = ["---" if column in words else "---:" for column in range(len(heads))]
    return "\n".join(_pipes(heads, rules, rows)) + "\n"


def records_to_markdown(records: Sequence[Mapping[str, str | float]]) -> str:
    """Plain records, such as those of a benchmark, as a pipe table; numbers at the right, with thousands separators.

    >>> print(records_to_markdown([{"world": "ynoc", "samples/s": 120000}, {"world": "pos"}]), end="")
    | world | samples/s |
    |---|---:|
    | ynoc | 120,000 |
    | pos |  |
    """
    heads = list(dict.fromkeys(name for record in records for name in record))
    numeric = [all(isinstance(record.get(name, 0), int | float) for record in records) for name in heads]
    cells = ([value if isinstance(value := record.get(name, ""), str) else f"{value:,}" for name in heads] for record in records)
    return "\n".join(_pipes(heads, ["---:" if number else "---" for number in numeric], cells)) + "\n"


def _pipes(heads: Sequence[str], rules: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a pipe table."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join(rules)}|"
    yield from (f"| {' | '.join(map(str, row))} |" for row in rows)


def _entry(entry: Entry, escape: Callable[[str], str], begin: str, end: str) -> str:
    """The text of an entry, between `begin` and `end` where it is strong."""
    text = escape(entry.shown)
    return f"{begin}{text}{end}" if entry.tone == "strong" and text else text


def escape_latex(text: str) -> str:
    r"""Text that LaTeX typesets literally.

    >>> escape_latex("text → image, 50 %")
    'text $\\to$ image, 50 \\%'
    """
    return text.translate(_LATEX)


def to_latex(table: Table) -> str:
    """The table as a LaTeX `table` environment with caption, label and booktabs rules; symbols need the amssymb package."""
    columns = "".join("r" if column.align == "right" else "l" for column in table.columns)
    head = " & ".join(escape_latex(column.whole) for column in table.columns)
    rows = [" & ".join(_entry(entry, escape_latex, r"\textbf{", "}") for entry in row) + r" \\" for row in table.rows]
    notes = [rf"\par\smallskip\footnotesize {escape_latex(note)}" for note in table.notes]
    lines = [
        r"\begin{table}\centering\small",
        rf"\caption{{{escape_latex(table.title)}}}\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        head + r" \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        *notes,
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def to_csv(table: Table) -> str:
    """The table as CSV (RFC 4180 with plain line feeds), numbers unrounded; `low` and `high` follow a column with intervals."""
    intervals = [any(row[number].interval for row in table.rows) for number in range(len(table.columns))]
    titles: list[str] = []
    for column, interval in zip(table.columns, intervals, strict=True):
        title = column.whole.removesuffix(INTERVAL)
        titles += [title, f"{title} low", f"{title} high"] if interval else [title]
    rows = [
        [text for entry, interval in zip(row, intervals, strict=True) for text in _csv_entry(entry, interval)]
        for row in table.rows
    ]
    return _csv([titles, *rows])


def scores_to_csv(scores: Sequence[Score]) -> str:
    """All fields of scores but their origin as CSV, one row per score, one column for each key of `about` and each control."""
    about = list(dict.fromkeys(name for score in scores for name in score.about))
    controls = list(dict.fromkeys(name for score in scores for name in score.controls))
    head = ["score", *about, "value", "low", "high", "n", "unit", "chance", *controls, "note"]
    rows = []
    for score in scores:
        said = [value_text(score.about.get(name)) for name in about]
        numbers = [_number(number) for number in (score.value, *(score.interval or (None, None)))]
        beside = [_number(number) for number in (score.chance, *map(score.controls.get, controls))]
        rows.append([score.name, *said, *numbers, str(score.n), score.unit, *beside, score.note])
    return _csv([head, *rows])


def _csv_entry(entry: Entry, interval: bool) -> list[str]:
    low, high = entry.interval or (None, None)
    value = entry.text if entry.value is None else repr(entry.value)
    return [value, _number(low), _number(high)] if interval else [value]


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


def _csv(rows: Sequence[Sequence[str]]) -> str:
    return "".join(_csv_line([_csv_text(text) for text in row]) for row in rows)


def _csv_line(cells: Sequence[str]) -> str:
    """One row; a carriage return in a cell is quoted, which the writer does only where it ends lines."""
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\r\n").writerow(cells)
    return stream.getvalue().removesuffix("\r\n") + "\n"


def _csv_text(text: str) -> str:
    """The text of a cell: after an apostrophe where a spreadsheet would take it for a formula; numbers stay as they are."""
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def to_terminal(table: Table) -> RichTable:
    """The table for the terminal, to be printed by the caller.

    Where rows form groups, the text that a group shares has a line of its own, so that the table fits 80 columns.
    """
    drawn = RichTable(title=Text(table.title), box=box.SIMPLE_HEAD, title_style="bold", pad_edge=False, collapse_padding=True)
    drawn.title_justify = "left"
    first = 1 if table.grouped else 0
    for column in table.columns[first:]:
        number = column.align == "right"
        least = None if number else LEAST
        drawn.add_column(_terminal_title(column), justify=column.align, no_wrap=number, overflow="fold", min_width=least)
    for row in table.rows:
        if table.grouped and not row[0].repeated:
            drawn.add_row(Text(row[0].text, style="bold"))
        drawn.add_row(*(_terminal_entry(entry) for entry in row[first:]))
    if table.notes:
        drawn.caption = Text("\n".join(table.notes))
        drawn.caption_justify = "left"
        drawn.caption_style = "dim"
    return drawn


def _terminal_title(column: Column) -> Text:
    """Titles of columns of numbers have one word a line, so that the numbers decide the width."""
    numbers = column.align == "right" and not column.title.endswith(INTERVAL)
    return Text(column.whole.replace(" ", "\n") if numbers else column.whole)


def _terminal_entry(entry: Entry) -> Text:
    if entry.repeated:
        return Text("")
    text = Text(entry.text, style=_STYLES[entry.tone])
    return text.append(f" ({entry.detail})", style="dim") if entry.detail else text
