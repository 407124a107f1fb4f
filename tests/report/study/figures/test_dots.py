"""Dots of scores: a dot for every run, a line for the mean of a row, a dashed line for chance or a control."""

import re

import pytest

from molyneux.core import DataError, Score
from molyneux.report import DotFigure, DotScore, StudyRun
from molyneux.report.study.figures.dots import variant

RUNS = [
    StudyRun({"name": name, "seed": seed}, (Score("a.b", value, {"code": "shared"}, chance=25.0, controls={"words": 75.0}),))
    for name, values in {"first": (0.0, 50.0), "second": (100.0, 100.0)}.items()
    for seed, value in enumerate(values)
]
SHOWN = (DotScore("B & C", "a.b", {"code": "shared"}),)


def test_a_figure_shows_every_run_and_its_mean():
    drawn = DotFigure("Title", SHOWN, 100).svg(RUNS)
    places = [float(x) for x in re.findall(r'<circle class="a" cx="([\d.]+)" cy="[\d.]+" r="3.5"/>', drawn)]
    (low, middle, *high), means = places[:4], [float(x) for x in re.findall(r'class="mean a" x1="([\d.]+)"', drawn)]
    assert high == [high[0]] * 2
    assert middle == pytest.approx((low + high[0]) / 2)
    assert means == pytest.approx([(low + middle) / 2, high[0]], abs=0.1)
    chance = float(re.search(r'class="line" x1="([\d.]+)"', drawn)[1])
    assert chance == pytest.approx(low + (high[0] - low) / 4, abs=0.1)
    assert "B &amp; C" in drawn
    control = float(re.search(r'class="line" x1="([\d.]+)"', DotFigure("Title", SHOWN, 100, control="words").svg(RUNS))[1])
    assert control == pytest.approx(low + 3 * (high[0] - low) / 4, abs=0.1)


def test_rows_and_panels_are_chosen_runs():
    panels = {"early": lambda run: run.settings["seed"] == 0, "late": lambda run: run.settings["seed"] == 1}
    drawn = DotFigure("Title", SHOWN, 100, panels, {"only": variant("first")}).svg(RUNS)
    assert len(re.findall(r'<circle class="a" [^>]*r="3.5"/>', drawn)) == 2 + 1  # and one in the legend
    assert ">early<" in drawn
    assert ">second<" not in drawn
    with pytest.raises(DataError, match="expected a run of third in panel 'early', got none"):
        DotFigure("Title", SHOWN, 100, panels, {"third": variant("third")}).svg(RUNS)


def test_the_score_that_is_about_least_beside_what_is_asked_for_is_shown():
    whole, part = Score("a.b", 1.0, {"code": "shared"}), Score("a.b", 2.0, {"code": "shared", "factor": "size"})
    assert SHOWN[0].of(StudyRun({"name": "x"}, (part, whole))) is whole
    assert SHOWN[0].of(StudyRun({"name": "x"}, ())) is None
