"""Coloured tables of accuracy by factors: the colours, what is left out, and that every format keeps the numbers."""

import csv
import io

import pytest

from molyneux.core import Score
from molyneux.core.intervals import share_interval
from molyneux.report import to_csv, to_html, to_latex, to_markdown
from molyneux.report.study.heatmap import mean_share, pooled_share
from molyneux.report.tables import breakdown_tables
from molyneux.report.tables.heatmap import heat


def share(name, right, n, split="test", chance=50.0, **about):
    low, high = share_interval(right, n)
    condition = {} if split == "test" else {"split": split}
    return Score(
        name,
        100 * right / n,
        {"target": "fits", **about, **condition},
        interval=(100 * low, 100 * high),
        n=n,
        unit="%",
        bounds=(0.0, 100.0),
        chance=chance,
        origin={"split": split},
    )


def scores():
    found = []
    for split, shift in (("test", 0), ("train", 7)):
        found.append(share("prediction.accuracy", 60 + shift, 100, split, source=("image", "text")))
        found.append(share("prediction.accuracy", 50, 100, split, source="text"))
        for value, right in (("red", 40), ("blue", 10 + shift)):
            found.append(share("breakdown.accuracy", right, 50, split, factor="colour", value=value))
        found.append(share("breakdown.accuracy", 60, 100, split, factor="single", value="only"))
        found.append(share("breakdown.accuracy", 9, 20, split, factor=("colour", "truth"), value=("red", "true")))
        found.append(share("breakdown.accuracy", 3, 20, split, factor=("colour", "truth"), value=("red", "false")))
    return found


def test_colours_run_from_chance_to_the_best_and_to_the_worst():
    bounds = (0.0, 100.0)
    assert heat(50.0, 50.0, bounds) == 0
    assert heat(100.0, 50.0, bounds) == 1
    assert heat(0.0, 50.0, bounds) == -1
    assert heat(40.0, 20.0, bounds) == pytest.approx(0.25)
    assert heat(10.0, 20.0, bounds) == pytest.approx(-0.5)
    assert heat(None, 50.0, bounds) is heat(40.0, None, bounds) is heat(40.0, 20.0, (0.0, None)) is None


def test_a_run_has_one_row_for_each_value_and_one_for_all_samples():
    (table,) = breakdown_tables(scores())
    assert [column.title for column in table.columns] == ["factor", "value", "test", "train", "chance", "n"]
    rows = {(row[0].text, row[1].text): row for row in table.rows}
    assert list(rows) == [
        ("all samples", ""),
        ("colour", "red"),
        ("colour", "blue"),
        ("colour + truth", "red + true"),
        ("colour + truth", "red + false"),
    ]  # a factor with one value is left out
    assert [entry.text for entry in rows["colour", "blue"][2:4]] == ["20.0", "34.0"]
    assert [entry.text for entry in rows["all samples", ""][2:4]] == ["60.0", "67.0"]  # of all modalities
    assert rows["colour", "red"][2].heat == pytest.approx(0.6)
    assert rows["colour", "blue"][2].heat == pytest.approx(-0.6)
    assert rows["colour", "blue"][0].repeated


def test_no_table_without_a_breakdown():
    assert breakdown_tables([score for score in scores() if score.name == "prediction.accuracy"]) == []


def test_every_format_has_the_numbers():
    (table,) = breakdown_tables(scores())
    html = to_html(table)
    assert 'class="right below" style="--heat:60%" title="10.0 to 33.7"' in html
    assert 'class="right above" style="--heat:60%"' in html
    assert "\n\n" not in html  # a blank line would end the block in Markdown
    assert "|  | blue | 20.0 | 34.0 | 50.0 | 50 |" in to_markdown(table)
    assert "20.0 & 34.0" in to_latex(table)
    row = list(csv.DictReader(io.StringIO(to_csv(table))))[2]
    assert (float(row["test"]), float(row["test low"])) == (20.0, pytest.approx(100 * share_interval(10, 50)[0]))


def test_samples_are_counted_together_or_each_part_once():
    parts = [share("a.b", 10, 100), share("a.b", 20, 50)]
    pooled = pooled_share(parts)
    assert (pooled.value, pooled.n) == (pytest.approx(20.0), 150)
    assert pooled.interval == pytest.approx([100 * end for end in share_interval(30, 150)])
    mean = mean_share(parts)
    assert mean.value == pytest.approx(25.0)
    assert mean.interval[0] < 25 < mean.interval[1]
    missing = Score("a.b", None, unit="%")
    assert pooled_share([missing]) is pooled_share([]) is mean_share([]) is mean_share([parts[0], missing]) is None
