"""CSV files in spreadsheets: text is no formula, numbers stay numbers."""

import csv
import io

import pytest

from molyneux.core import Score
from molyneux.report.tables.formats import scores_to_csv


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\r=1", "-", "+1e", "=HYPERLINK()"])
def test_text_that_begins_like_a_formula_follows_an_apostrophe(text):
    rows = list(csv.reader(io.StringIO(scores_to_csv([Score("a.b", 1.0, about={text: text}, note=text)]), newline="")))
    assert [rows[0][1], rows[1][1], rows[1][-1]] == [f"'{text}"] * 3


@pytest.mark.parametrize("value", [-1.5, -8265.47693359375, -1e-7, 2.0, -3e20])
def test_numbers_are_read_back(value):
    rows = list(csv.reader(io.StringIO(scores_to_csv([Score("a.b", value, interval=(value - 1, value + 1), chance=-0.5)]))))
    row = dict(zip(rows[0], rows[1], strict=True))
    assert (float(row["value"]), float(row["low"]), float(row["chance"])) == (value, value - 1, -0.5)
