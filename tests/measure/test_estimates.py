import numpy as np
import pytest

from molyneux.measure.estimates import mean, share
from molyneux.measure.intervals import share_interval


def test_share_is_a_percentage_with_the_exact_interval():
    score = share("x.y", np.array([True] * 30 + [False] * 70), about={"a": "b"}, chance=5.0)
    assert (score.value, score.n, score.unit, score.bounds, score.chance) == (30.0, 100, "%", (0.0, 100.0), 5.0)
    assert score.interval == pytest.approx([100 * end for end in share_interval(30, 100)])


def test_mean_keeps_its_fields():
    score = mean("x", np.array([1.0, 2.0, 3.0]), rng=np.random.default_rng(0), unit="nats", higher_is_better=False)
    assert (score.value, score.n, score.unit, score.higher_is_better) == (2.0, 3, "nats", False)
    assert score.interval[0] <= 2.0 <= score.interval[1]


@pytest.mark.parametrize("values", [np.array([]), np.array([1.0, np.nan]), np.array([np.inf])])
def test_no_number_is_no_value_with_a_reason(values):
    score = mean("x", values, rng=np.random.default_rng(0), unit="nats")
    assert score.value is None
    assert score.note
    assert share("x", np.array([], dtype=bool), about={}).value is None
