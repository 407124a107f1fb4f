"""Curves of two-way choices from records: points, their means, and intervals for new seeds and new things."""

import math

import pytest

from molyneux.core import Score
from molyneux.core.intervals import student
from molyneux.report import StudyRun, choice_curves


def score(value, half=2.0, name="accuracy", role="new", source="touch", target="image", **more):
    about = {"source": source, "target": target, "role": role, **more}
    return Score(f"two_way_choice.{name}", value, about, (value - half, value + half), 900, "%", bounds=(0, 100), chance=50.0)


def run(count, *scores, name="A", setting="data.world.init_args.bridging.bridged"):
    return StudyRun({"name": name, "seed": 1, setting: count}, scores)


def test_points_are_means_over_seeds_by_rising_number():
    runs = [run(8, score(60.0)), run(0, score(50.0)), run(8, score(64.0)), run(8, score(90.0, way="drawing"))]
    (curve,) = choice_curves([*runs, run(4, score(70.0, role="felt"))], source="touch", target="image")
    assert curve.name == "A"
    assert [(point.bridged, point.value, point.seeds) for point in curve.points] == [(0, 50.0, 1), (8, 62.0, 2)]
    assert curve.points[0].interval == (48.0, 52.0)


def test_variants_roles_directions_and_pairs_are_told_apart():
    runs = [
        run(0, score(51.0), score(49.0, name="alike_accuracy"), name="A"),
        run(0, score(55.0, source="image", target="touch"), score(58.0, role="felt"), name="B", setting="x.bridging.bridged"),
    ]
    assert [curve.name for curve in choice_curves(runs, source="touch", target="image")] == ["A"]
    assert choice_curves(runs, source="touch", target="image", alike=True)[0].points[0].value == 49.0
    assert [curve.name for curve in choice_curves(runs, source="image", target="touch")] == ["B"]
    assert choice_curves(runs, source="touch", target="image", role="felt")[0].points[0].value == 58.0
    assert choice_curves([StudyRun({"name": "A"}, (score(50.0),))], source="touch", target="image") == ()


def test_things_that_differ_between_trainings_are_new_in_each_of_them():
    """Student's interval over trainings has all that makes them uncertain; it is never narrower than the pooled one."""
    setting = "data.world.init_args.bridging.assignment"
    values = ((60.0, 2.0), (62.0, 4.0), (64.0, 3.0))
    runs = [run(4, score(value, half=half)) for value, half in values]
    for number, one in enumerate(runs):
        one.settings[setting] = number
    (point,) = choice_curves(runs, source="touch", target="image")[0].points
    assert point.interval == pytest.approx(student(62.0, 2.0, 3))
    equal = [StudyRun({**one.settings}, (score(62.0, half=half),)) for one, (_, half) in zip(runs, values, strict=True)]
    (point,) = choice_curves(equal, source="touch", target="image")[0].points
    half = math.sqrt(2.0**2 + 4.0**2 + 3.0**2) / 3
    assert point.interval == pytest.approx((62.0 - half, 62.0 + half))


def test_half_widths_for_seeds_and_things_add_in_squares():
    runs = [run(4, score(value, half=half), name="A") for value, half in ((60.0, 2.0), (62.0, 4.0), (64.0, 3.0))]
    point = choice_curves(runs, source="touch", target="image")[0].points[0]
    seeds = student(62.0, 2.0, 3)
    half = math.hypot((seeds[1] - seeds[0]) / 2, 3.0)
    assert (point.value, point.seeds) == (pytest.approx(62.0), 3)
    assert point.interval == pytest.approx((62.0 - half, 62.0 + half))
