"""Tables as LaTeX with the rules of the booktabs package."""

from __future__ import annotations

from molyneux.report.tables.table import Entry, Table

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
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
    "\n": " ",
    **{mark: rf"\textsuperscript{{{digit}}}" for digit, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}
_TABLE = str.maketrans(_SPECIAL)


def escape_latex(text: str) -> str:
    r"""Words that LaTeX typesets as they are.

    >>> escape_latex("text → image, 50 %")
    'text $\\to$ image, 50 \\%'
    """
    return text.translate(_TABLE)


def to_latex(table: Table) -> str:
    """A `table` environment with caption, label and booktabs rules; symbols need the amssymb package."""
    columns = "".join("r" if column.align == "right" else "l" for column in table.columns)
    head = " & ".join(escape_latex(column.title) for column in table.columns)
    rows = [" & ".join(_entry(entry) for entry in row) + r" \\" for row in table.rows]
    notes = [rf"\par\smallskip\footnotesize {escape_latex(note)}" for note in table.notes]
    lines = [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{escape_latex(table.title)}}}",
        rf"\label{{tab:{table.name}}}",
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


def _entry(entry: Entry) -> str:
    text = escape_latex(entry.shown)
    return rf"\textbf{{{text}}}" if entry.tone == "strong" and text else text
