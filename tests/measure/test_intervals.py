import math

import numpy as np
import pytest

from molyneux.core import ConfigError, DataError, Score
from molyneux.core.intervals import across_seeds, share_interval
from molyneux.measure.scores import apart, mean_interval, over_seeds


@pytest.mark.parametrize("values", ["continuous", "counts"])
def test_bootstrap_agrees_with_the_normal_interval_of_many_samples(values):
    rng = np.random.default_rng(1)
    data = rng.gamma(2.0, size=3000) if values == "continuous" else rng.integers(0, 4, 3000).astype(float)
    half = 1.96 * data.std() / math.sqrt(len(data))
    low, high = mean_interval(data, np.random.default_rng(2))
    assert low == pytest.approx(data.mean() - half, abs=0.15 * half)
    assert high == pytest.approx(data.mean() + half, abs=0.15 * half)


def test_bootstrap_is_a_function_of_its_stream():
    data = np.random.default_rng(1).normal(size=100)
    first, second, other = (mean_interval(data, np.random.default_rng(seed)) for seed in (2, 2, 3))
    assert first == second != other


def test_equal_values_do_not_claim_certainty_where_the_bounds_are_known():
    low, high = mean_interval(np.full(100, 3.0), np.random.default_rng(0), (0.0, 3.0))
    assert (low / 3, high / 3) == pytest.approx(share_interval(100, 100))
    assert mean_interval(np.full(100, 3.0), np.random.default_rng(0)) is None
    assert mean_interval(np.full(100, 3.0), np.random.default_rng(0), (0.0, None)) is None


def test_over_seeds_averages_value_chance_and_controls():
    about = {"source": "text", "target": "image"}
    fields = {"n": 100, "unit": "%", "bounds": (0.0, 100.0), "chance": 3.3}
    scores = [
        Score("c.strict", 50.0, about, (49, 51), **fields, controls={"constant": 4.0}, origin={"world": "w", "seed": 1}),
        Score("c.strict", 54.0, about, (53, 55), **fields, controls={"constant": 6.0}, origin={"world": "w", "seed": 2}),
    ]
    joined = over_seeds(scores)
    assert (joined.value, joined.n, joined.chance, joined.controls) == (52.0, 200, 3.3, {"constant": 5.0})
    assert joined.origin["seeds"] == {"count": 2, "values": [50.0, 54.0], "sd": pytest.approx(math.sqrt(8))}
    assert joined.origin.keys() == {"world", "seeds"}
    assert joined.interval == across_seeds(scores)


def test_one_run_keeps_its_own_interval_and_missing_values_are_counted():
    scores = [Score("x", 1.0, interval=(0.5, 1.5), n=10), Score("x", None, note="not applicable")]
    joined = over_seeds(scores)
    assert (joined.value, joined.interval, joined.note) == (1.0, (0.5, 1.5), "1 of 2 runs have no value")
    assert over_seeds(scores[1:]).value is None


def test_over_seeds_refuses_different_scores():
    with pytest.raises(ConfigError, match="got 2 different ones"):
        over_seeds([Score("x", 1.0), Score("y", 1.0)])
    with pytest.raises(ConfigError, match="at least one run"):
        over_seeds([])


def test_apart_is_no_common_point():
    def score(low, high):
        return Score("x", (low + high) / 2, interval=(low, high))

    assert apart(score(0, 1), score(2, 3))
    assert apart(score(2, 3), score(0, 1))
    assert not apart(score(0, 2), score(2, 3))
    assert apart(score(45, 49), 3.3)
    assert not apart(score(0, 4), 3.3)
    with pytest.raises(DataError, match="has no interval"):
        apart(Score("x", 1.0), score(0, 1))
