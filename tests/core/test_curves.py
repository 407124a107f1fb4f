"""Areas, relative and effective robustness: closed forms for perfect, constant and baseline models, for shares and errors."""

import numpy as np
import pytest

from molyneux.core import DataError, Score
from molyneux.core.curves import effective_robustness, performance_curves, relative_robustness

GRID = np.linspace(0, 1, 11)
"""Eleven strengths from 0 to 1."""


def scores(values, name="prediction.accuracy", better=True, grid=GRID, **fields):
    """A curve as the scores of a run: the samples as they are first, then one for each strength above 0."""
    fields = {"higher_is_better": better, "n": 100, **fields}
    about = {"source": ("a", "b"), "target": "y"}
    rising = [
        Score(name, float(value), {**about, "corruption": "noise", "corrupted": "a", "strength": f"{strength:g}"}, **fields)
        for strength, value in zip(grid[1:], values[1:], strict=True)
    ]
    return [Score(name, float(values[0]), about, **fields), *rising]


def curve(values, **fields):
    (found,) = performance_curves(scores(values, **fields))
    return found


LATE = 0.9 - 0.4 * GRID**2
"""Accuracy of late fusion; the area under it by trapezoids is computed by hand in the tests."""
AREA = sum((LATE[k] + LATE[k + 1]) / 2 * 0.1 for k in range(10))
ERROR = 0.2 + 0.5 * GRID**2
"""Squared error of late fusion."""
ERROR_AREA = sum((ERROR[k] + ERROR[k + 1]) / 2 * 0.1 for k in range(10))


def test_the_area_of_a_line_is_that_of_a_trapezoid():
    assert curve(1 - GRID / 2).area == pytest.approx(0.75)
    assert curve(LATE).area == pytest.approx(AREA)
    assert curve(1 - GRID / 2, grid=GRID * 0.9).area == pytest.approx(0.75)  # the mean, wherever the grid ends


def test_a_curve_above_late_fusion_by_a_constant():
    assert relative_robustness(curve(LATE + 0.1), curve(LATE)) == pytest.approx(0.1)
    assert effective_robustness(curve(LATE + 0.1), curve(LATE)) == pytest.approx(0, abs=1e-12)


def test_accuracy_of_a_perfect_a_constant_and_the_late_fusion_model():
    late = curve(LATE)
    assert relative_robustness(late, late) == effective_robustness(late, late) == 0
    perfect, constant = curve(np.ones(11)), curve(np.full(11, 0.5))
    assert relative_robustness(perfect, late) == pytest.approx(1 - AREA)
    assert relative_robustness(constant, late) == pytest.approx(0.5 - AREA)
    for flat in (perfect, constant):  # nothing is lost where late fusion loses its drop
        assert effective_robustness(flat, late) == pytest.approx(LATE[0] - AREA)
    assert relative_robustness(constant, late) < 0 < relative_robustness(perfect, late)


def test_squared_error_of_a_perfect_a_constant_and_the_late_fusion_model():
    def error(values):
        return curve(values, name="prediction.mse", better=False)

    late = error(ERROR)
    assert relative_robustness(late, late) == effective_robustness(late, late) == 0
    assert relative_robustness(error(np.zeros(11)), late) == pytest.approx(ERROR_AREA)
    assert relative_robustness(error(np.full(11, 2.0)), late) == pytest.approx(ERROR_AREA - 2)
    for flat in (np.zeros(11), np.full(11, 2.0)):
        assert effective_robustness(error(flat), late) == pytest.approx(ERROR_AREA - ERROR[0])
    worse = error(ERROR + 0.3 * GRID)
    assert relative_robustness(worse, late) == pytest.approx(-0.15)
    assert effective_robustness(worse, late) == pytest.approx(-0.15)


def test_effective_robustness_is_the_published_sum_with_steps_and_trapezoids():
    """The published code sums what is above the shifted curve; on a fine grid its sum times the step is the integral."""
    fine = np.linspace(0, 1, 1001)
    late, own = 0.8 - 0.3 * fine, 0.9 - 0.2 * fine
    total = (own - (late + own[0] - late[0])).sum() * 0.001
    assert effective_robustness(curve(own, grid=fine), curve(late, grid=fine)) == pytest.approx(total, abs=1e-3)


def test_curves_are_of_one_score_one_subject_and_one_imperfection():
    one = scores(LATE)
    other = [Score(s.name, s.value, {**s.about, "source": "b"}, higher_is_better=True) for s in scores(LATE - 0.1)]
    neither = [Score("prediction.rate", 1.0, s.about, higher_is_better=None) for s in one]
    missing = [Score("prediction.f1", None, s.about, note="no") for s in one]
    found = performance_curves([*one, *other, *neither, *missing])
    assert [item.about["source"] for item in found] == [("a", "b"), "b"]
    assert found[0].under == "noise of a"
    assert found[0].strengths == pytest.approx(GRID)
    assert performance_curves(one[:1]) == performance_curves(one[1:]) == []  # no strength, or no samples as they are


def test_strength_0_is_the_samples_as_they_are_where_it_is_measured_itself():
    zero = Score(
        "prediction.accuracy",
        0.77,
        {"source": ("a", "b"), "target": "y", "corruption": "noise", "corrupted": "a", "strength": "0"},
    )
    assert performance_curves([*scores(LATE)[1:], zero])[0].values[0] == 0.77


def test_curves_that_cannot_be_compared_are_told():
    with pytest.raises(DataError, match="expected curves of one score at the same strengths"):
        relative_robustness(curve(LATE), curve(LATE[::2], grid=GRID[::2]))


def test_the_interval_of_an_area_joins_the_ends():
    with_ends = [
        Score(s.name, s.value, s.about, interval=(s.value - 0.1, s.value + 0.2), n=5, chance=0.1) for s in scores(1 - GRID / 2)
    ]
    (found,) = performance_curves(with_ends)
    assert found.interval == pytest.approx((0.65, 0.95))
    assert found.averaged(lambda score: score.chance) == pytest.approx(0.1)
    assert curve(LATE).interval is None
