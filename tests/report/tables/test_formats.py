import csv
import io
import re

import pytest
from rich.console import Console

from molyneux.core import SpecError
from molyneux.report.published import published
from molyneux.report.tables import (
    Column,
    Entry,
    Table,
    coherence_table,
    family_tables,
    to_csv,
    to_latex,
    to_markdown,
    to_terminal,
)

NASTY = "a|b & 50 % of $x_1$ #{2} \\ ^~ <i> * → − – ² "  # noqa: RUF001


def tables(made) -> list[Table]:
    nasty = Table("nasty", NASTY, (Column(NASTY, "left"), Column("x")), ((Entry(NASTY), Entry("1", value=1.0)),), (NASTY,))
    return [coherence_table(made.coherence(), published("cdsprites", "3")), *family_tables(made.others()), nasty]


def test_markdown_rows_have_as_many_cells_as_the_head(made):
    for table in tables(made):
        lines = [line for line in to_markdown(table).splitlines() if line.startswith("|")]
        assert len(lines) == len(table.rows) + 2
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {len(table.columns) + 1}
        assert to_markdown(table).startswith("**")


def test_latex_is_balanced_and_aligned(made):
    for table in tables(made):
        text = to_latex(table)
        bare = re.sub(r"\\[{}&%$#_\\]", "", text)
        assert bare.count("{") == bare.count("}")
        assert bare.count("$") % 2 == 0
        assert re.findall(r"\\begin\{(\w+)\}", text) == list(reversed(re.findall(r"\\end\{(\w+)\}", text)))
        body = text[text.index(r"\midrule") : text.index(r"\bottomrule")].splitlines()[1:]
        assert len(body) == len(table.rows)
        assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {len(table.columns) - 1}
        assert text.isascii()
        for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
            assert text.count(rule) == 1


def test_csv_gives_back_the_numbers(made):
    score = made.coherence()[0]
    rows = list(csv.DictReader(io.StringIO(to_csv(coherence_table(made.coherence(), published("cdsprites", "3"))))))
    assert float(rows[0]["value"]) == score.value
    assert (float(rows[0]["value low"]), float(rows[0]["value high"])) == score.interval
    assert float(rows[0]["chance"]) == score.chance
    assert int(rows[0]["n"]) == score.n
    assert rows[0]["MVAE published"] == "8"
    assert [row["direction"] for row in rows][:2] == ["text → image"] * 2


def test_csv_has_equal_rows_and_says_what_is_missing(made):
    for table in tables(made):
        rows = list(csv.reader(io.StringIO(to_csv(table))))
        assert {len(row) for row in rows} == {len(rows[0])}
        assert len(rows) == len(table.rows) + 1
    likelihood = next(table for table in tables(made) if table.name == "likelihood")
    assert list(csv.DictReader(io.StringIO(to_csv(likelihood))))[1]["value"].startswith("n/a")


def test_terminal_tables_show_every_entry(made):
    for table in tables(made):
        console = Console(file=io.StringIO(), width=400)
        console.print(to_terminal(table))
        text = console.file.getvalue()
        assert all(entry.text.strip() in text for row in table.rows for entry in row if not entry.repeated)


def test_rows_of_another_length_are_refused():
    with pytest.raises(SpecError, match="expected 2 entries in row 0, got 1"):
        Table("t", "T", (Column("a"), Column("b")), ((Entry("1"),),))
