import numpy as np
import pytest

from molyneux.measure.scores import Recorder, percent, share_interval


@pytest.fixture
def recorder():
    return Recorder("x", np.random.default_rng(0), {"a": "b"}, {"world": "tiny"})


def test_share_is_a_percentage_with_the_exact_interval(recorder):
    score = recorder.on(c="d").share("y", np.array([True] * 30 + [False] * 70), chance=5.0)
    assert (score.name, score.about, score.origin) == ("x.y", {"a": "b", "c": "d"}, {"world": "tiny"})
    assert (score.value, score.n, score.unit, score.bounds, score.chance) == (30.0, 100, "%", (0.0, 100.0), 5.0)
    assert score.interval == pytest.approx([100 * end for end in share_interval(30, 100)])


def test_mean_keeps_its_fields(recorder):
    score = recorder.mean("y", np.array([1.0, 2.0, 3.0]), unit="nats", higher_is_better=False)
    assert (score.value, score.n, score.unit, score.higher_is_better) == (2.0, 3, "nats", False)
    assert score.interval[0] <= 2.0 <= score.interval[1]


@pytest.mark.parametrize("values", [np.array([]), np.array([1.0, np.nan]), np.array([np.inf])])
def test_no_number_is_no_value_with_a_reason(recorder, values):
    score = recorder.mean("y", values, unit="nats")
    assert score.value is None
    assert score.note
    empty = recorder.share("y", np.array([], dtype=bool), note="lost")
    assert (empty.value, empty.note) == (None, "no sample has what this needs")


def test_percent_of_nothing_is_nothing():
    assert percent(np.array([True, False])) == 50.0
    assert percent(np.array([], dtype=bool)) == 0.0
