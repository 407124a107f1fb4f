"""What a run found fits a terminal: its columns and lines, the main results first, and where the rest is."""

import io

import pytest
from rich.console import Console

from molyneux.core import Score
from molyneux.report import MOST_LINES, fitted, terminal_summary
from molyneux.report.tables import Column, Entry, Table


def printed(shown, width):
    console = Console(file=io.StringIO(), width=width)
    console.print(shown)
    return console.file.getvalue().splitlines()


def many(count):
    return [
        Score("a.b", number / count, {"factor": f"a factor of a long name, number {number}"}, n=1000) for number in range(count)
    ]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_summary_fits_and_says_where_the_rest_is(made, width):
    for scores in (
        made.coherence(),
        made.others(),
        many(244),
    ):
        lines = printed(terminal_summary(scores, made.config, width=width, rest="the report"), width)
        assert max(map(len, lines)) <= width
        assert len(lines) <= MOST_LINES
    assert any("more rows: in the report." in line for line in lines)


def test_the_answer_comes_first(made):
    lines = printed(terminal_summary(made.coherence(), made.config, width=120), 120)
    assert "% of the time" in lines[0]
    assert not any("left out" in line or "more rows" in line for line in lines[:3])


def test_columns_of_names_keep_room_and_numbers_are_whole():
    columns = (Column("measure", "left"), *(Column(f"control {number}") for number in range(12)))
    rows = tuple((Entry("a measure of a long name"), *(Entry("100.0") for _ in range(12))) for _ in range(3))
    table = Table("t", "Many controls", columns, rows, ("A note.",))
    lines = printed(fitted(table, 60, 25, "the report"), 60)
    assert max(map(len, lines)) <= 60
    assert any("a measure of a" in line for line in lines)
    assert any(line.strip().startswith("No room for control") for line in lines)
    assert printed(fitted(table, 200, 25, "the report"), 200)[-1].strip() == "A note."


def test_a_table_that_fits_is_shown_whole():
    table = Table("t", "Short", (Column("measure", "left"), Column("value")), ((Entry("a"), Entry("1")),))
    assert not any("in the report" in line for line in printed(fitted(table, 60, 25, "the report"), 60))
