import numpy as np
import pytest
from scipy import stats

from molyneux.core import DataError, Score
from molyneux.report.published import Figure
from molyneux.report.study.seeds import above, best_of, over_seeds, published_interval


def scores(*values: float | None, half: float = 2.0, **fields) -> list[Score]:
    return [
        Score("a.b", value, interval=None if value is None else (value - half, value + half), n=100, **fields) for value in values
    ]


def test_mean_deviation_and_interval_are_those_of_scipy():
    values = [47.1, 52.4, 49.9, 44.0]
    over = over_seeds(scores(*values))
    assert over.mean == pytest.approx(np.mean(values))
    assert over.sd == pytest.approx(np.std(values, ddof=1))
    expected = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    assert over.interval == pytest.approx(expected)


def test_the_pooled_interval_adds_independent_errors():
    over = over_seeds(scores(40.0, 50.0, 60.0, half=3.0))
    assert over.pooled == pytest.approx((50 - 3 / np.sqrt(3), 50 + 3 / np.sqrt(3)))


def test_the_pooled_interval_covers_the_mean_of_fixed_runs():
    """Simulated: three runs of known accuracy, 500 samples each; the mean of the measured values is covered 95 % of the time."""
    rng = np.random.default_rng(0)
    truth = np.array([0.3, 0.5, 0.8])
    hits = 0
    for measured in rng.binomial(500, truth, (400, 3)) / 500:
        halves = 1.96 * np.sqrt(measured * (1 - measured) / 500)
        runs = [
            Score("a.b", float(m), interval=(float(m - h), float(m + h)), n=500) for m, h in zip(measured, halves, strict=True)
        ]
        low, high = over_seeds(runs).pooled
        hits += low <= truth.mean() <= high
    assert 0.92 < hits / 400 < 0.98


def test_a_single_run_keeps_its_own_interval():
    over = over_seeds(scores(50.0))
    assert (over.sd, over.interval) == (None, (48.0, 52.0))


def test_intervals_are_cut_at_the_bounds():
    over = over_seeds(scores(99.0, 100.0, 97.0, unit="%", bounds=(0.0, 100.0)))
    assert over.interval[1] == 100.0


def test_runs_without_a_value_are_left_out():
    over = over_seeds(scores(None, 40.0, 50.0))
    assert (over.mean, over.values) == (45.0, (40.0, 50.0))
    nothing = over_seeds(scores(None, None))
    assert (nothing.mean, nothing.sd, nothing.interval, nothing.pooled) == (None, None, None, None)
    with pytest.raises(DataError, match="at least one run"):
        over_seeds([])


def test_chance_and_controls_are_averaged():
    first, second = (
        Score("a.b", 1.0, chance=2.0, controls={"x": 1.0}),
        Score("a.b", 1.0, chance=4.0, controls={"x": 3.0, "y": 5.0}),
    )
    over = over_seeds([first, second])
    assert (over.chance, over.controls) == (3.0, {"x": 2.0, "y": 5.0})


def test_published_numbers_have_intervals_from_their_deviation():
    low, high = published_interval(Figure(52, 3), 5, Score("a.b", 1.0))
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 4) * 3 / np.sqrt(5))
    assert published_interval(Figure(1.3), 5, Score("a.b", 1.0)) == (1.3, 1.3)
    assert published_interval(Figure(5, 9), 5, Score("a.b", 1.0, bounds=(0, 100)))[0] == 0


def test_published_numbers_were_rounded():
    """0.25 (0.00) may stand for 0.254 with a deviation of 0.005."""
    low, high = published_interval(Figure(0.25, 0.0, step=0.01), 5, Score("a.b", 1.0))
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 4) * 0.005 / np.sqrt(5) + 0.005)
    assert published_interval(Figure(1.3, step=0.1), 5, Score("a.b", 1.0)) == pytest.approx((1.25, 1.35))


def test_above_needs_intervals_apart():
    over = over_seeds(scores(50.0))
    assert above(over, (40.0, 47.0)) is True
    assert above(over, (53.0, 60.0)) is False
    assert above(over, (40.0, 48.5)) is None
    assert above(over_seeds([Score("a.b", 1.0)]), (0.0, 0.0)) is None


def test_the_best_are_all_that_are_not_apart_from_the_best_mean():
    low, high, close = (over_seeds(scores(value)) for value in (10.0, 50.0, 48.0))  # intervals of 2 around them
    assert best_of([low, high]) == [high]
    assert best_of([low, close, None, high, over_seeds(scores(None))]) == [high, close]
    down = [over_seeds(scores(value, higher_is_better=False)) for value in (10.0, 50.0)]
    assert best_of(down) == down[:1]
    assert best_of([over_seeds(scores(1.0, higher_is_better=None))]) == []
    one, same, other = (over_seeds([Score("a.b", value, unit="%")]) for value in (50.01, 49.99, 49.5))
    assert best_of([one, same, other]) == [one, same]  # both are written as 50.0 and have no interval


def test_seeds_that_agree_do_not_claim_certainty():
    alike = [Score("c.strict", 100.0, interval=(100 * 0.025 ** (1 / 1000), 100.0), n=1000, unit="%", bounds=(0.0, 100.0))] * 3
    over = over_seeds(alike)
    assert over.interval == pytest.approx((100 * 0.025 ** (1 / 3000), 100.0))
    assert above(over, (99.95, 100.0)) is None
