"""Intervals of shares and of means over runs, against SciPy and against what they must cover."""

import math

import numpy as np
import pytest
from scipy import stats

from molyneux.core import ConfigError, DataError, Score
from molyneux.core.intervals import (
    across_seeds,
    difference_interval,
    pooled,
    questions_interval,
    share_interval,
    student,
    wilson_interval,
)


def share(right: int, n: int) -> Score:
    low, high = share_interval(right, n)
    return Score("c.strict", 100 * right / n, interval=(100 * low, 100 * high), n=n, unit="%", bounds=(0.0, 100.0))


@pytest.mark.parametrize(("right", "n"), [(0, 10), (10, 10), (3, 10), (5230, 10_000), (1, 1)])
def test_share_agrees_with_scipy(right, n):
    reference = stats.binomtest(right, n).proportion_ci(0.95, method="exact")
    assert share_interval(right, n) == pytest.approx((reference.low, reference.high), abs=1e-12)


@pytest.mark.parametrize(("right", "n"), [(-1, 10), (11, 10), (0, 0)])
def test_impossible_counts_are_refused(right, n):
    with pytest.raises(DataError, match="expected 0 <= right <= n"):
        share_interval(right, n)


def test_share_covers_at_least_95_percent():
    rng = np.random.default_rng(0)
    drawn = rng.binomial(40, 0.1, 4000)
    covered = [low <= 0.1 <= high for low, high in (share_interval(int(count), 40) for count in drawn)]
    assert np.mean(covered) >= 0.945


def test_students_interval_agrees_with_scipy_and_is_cut_at_the_bounds():
    values = [40.0, 43.0, 47.0, 41.0]
    found = student(float(np.mean(values)), float(np.std(values, ddof=1)), 4)
    assert found == pytest.approx(stats.t.interval(0.95, 3, np.mean(values), stats.sem(values)))
    assert student(50.0, 49.0, 2, (0.0, 100.0)) == (0.0, 100.0)
    with pytest.raises(ConfigError, match="at least two runs"):
        student(1.0, 0.0, 1)


@pytest.mark.parametrize("right", [0, 1000])
def test_runs_that_all_agree_are_no_certainty(right):
    runs = [share(right, 1000)] * 3
    low, high = across_seeds(runs)
    assert (low / 100, high / 100) == pytest.approx(share_interval(3 * right, 3000))
    assert low < high


def test_shares_are_counted_together():
    assert pooled([share(400, 500), share(450, 500)]) == pytest.approx(tuple(100 * end for end in share_interval(850, 1000)))
    mixed = [share(400, 500), share(90, 100)]  # the mean of shares is no share of all samples
    halves = [score.value - score.interval[0] for score in mixed]
    assert pooled(mixed)[0] == pytest.approx(85 - np.hypot(*halves) / 2)


def test_the_interval_holds_both_that_of_the_seeds_and_that_of_the_samples():
    apart = [share(200, 1000), share(800, 1000), share(500, 1000)]
    reference = stats.t.interval(0.95, 2, 50.0, stats.sem([20.0, 80.0, 50.0]))
    assert across_seeds(apart) == pytest.approx((max(reference[0], 0.0), min(reference[1], 100.0)))
    alike = [share(50, 100), share(51, 100)]
    assert across_seeds(alike)[0] <= pooled(alike)[0] < pooled(alike)[1] <= across_seeds(alike)[1]


def test_runs_without_intervals():
    def plain(value):
        return Score("x", value)

    assert across_seeds([plain(3.0)]) is None
    assert across_seeds([plain(3.0), plain(3.0)]) is None  # agreement of two is no certainty, and no width is known
    assert across_seeds([plain(3.0), plain(4.0)]) == pytest.approx(student(3.5, np.sqrt(0.5), 2))


def test_the_interval_over_seeds_covers_the_mean_of_all_seeds():
    """Simulated: seeds whose true shares vary a little near 99.5 %, 200 samples each."""
    rng = np.random.default_rng(3)
    truth = rng.beta(199, 1, (600, 3))
    hits = [
        low <= 99.5 <= high for low, high in (across_seeds([share(int(k), 200) for k in row]) for row in rng.binomial(200, truth))
    ]
    assert np.mean(hits) >= 0.93


def test_seeds_that_are_asked_about_the_same_values_do_not_make_these_more_certain():
    """Simulated: 20 shapes of which each has an effect (sd 8) that all seeds share; seeds have their own (sd 2)."""
    rng, covered, narrow, count = np.random.default_rng(5), 0, 0, 20
    for _ in range(1000):
        shapes = rng.normal(0, 8, count).mean()
        values = 70 + shapes + rng.normal(0, 2, 5)
        half = 1.96 * 8 / np.sqrt(count)
        runs = [
            Score(
                "two_way_choice.accuracy",
                float(value),
                interval=(value - half, value + half),
                n=900,
                unit="%",
                bounds=(0.0, 100.0),
            )
            for value in values
        ]
        low, high = across_seeds(runs)
        covered += low <= 70 <= high
        own, between = pooled(runs), student(values.mean(), values.std(ddof=1), 5)
        assert own == pytest.approx((values.mean() - half, values.mean() + half))
        assert high - low == pytest.approx(np.hypot(own[1] - own[0], between[1] - between[0]))
        others = [Score("c.accuracy", run.value, interval=run.interval, n=900, unit="%", bounds=(0.0, 100.0)) for run in runs]
        narrow += across_seeds(others)[0] <= 70 <= across_seeds(others)[1]
    assert 0.94 < covered / 1000 < 0.99
    assert narrow / 1000 < 0.85  # what independent samples of each seed would allow
    certain = Score("two_way_choice.accuracy", 100.0, interval=(92.0, 100.0), n=900, unit="%", bounds=(0.0, 100.0))
    assert across_seeds([certain, certain]) == (92.0, 100.0)


def test_the_interval_of_a_difference_covers_the_truth_and_is_that_of_hypotenuses():
    first, second = Score("a", 80.0, interval=(72.0, 86.0)), Score("a", 60.0, interval=(50.0, 69.0))
    assert difference_interval(first, second) == pytest.approx((20 - math.hypot(8, 9), 20 + math.hypot(6, 10)))
    assert difference_interval(first, Score("a", 60.0)) is None
    rng, n, hits = np.random.default_rng(0), (60, 90), 0
    for right in zip(rng.binomial(n[0], 0.9, 400), rng.binomial(n[1], 0.6, 400), strict=True):
        shares = [Score("a", count / size, interval=share_interval(count, size)) for count, size in zip(right, n, strict=True)]
        low, high = difference_interval(*shares)
        hits += low <= 0.3 <= high
    assert hits / 400 >= 0.95


def asked_with_effects(rng, *, count, values, alike):
    """Points of questions whose chance of a right answer depends on the values that are compared, and these values."""
    effects = rng.normal(0.0, 0.9, values)
    first = rng.integers(0, values, count)
    second = first ^ 1 if alike else (first + rng.integers(1, values, count)) % values
    chance = 1 / (1 + np.exp(-(0.9 + effects[first] + effects[second] * (1 if not alike else 0))))
    return (rng.random(count) < chance).astype(float), np.stack([first, second], 1)


@pytest.mark.parametrize("alike", [False, True])
def test_the_interval_of_questions_covers_new_values(alike):
    """The truth is the mean over very many values; a binomial interval would hold it in far fewer cases."""
    truth = asked_with_effects(np.random.default_rng(9), count=400_000, values=200_000, alike=alike)[0].mean()
    covered, plain, trials = 0, 0, 300
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        points, values = asked_with_effects(rng, count=1500, values=48, alike=alike)
        low, high = questions_interval(points, values, rng)
        covered += low <= truth <= high
        low, high = wilson_interval(points.mean(), len(points))
        plain += low <= truth <= high
    assert plain / trials < 0.8
    assert 0.92 <= covered / trials <= 1.0


def test_the_interval_of_questions_without_effects_is_that_of_a_share_or_wider():
    rng = np.random.default_rng(0)
    points, values = (rng.random(800) < 0.7).astype(float), np.stack([rng.permutation(100)[:2] for _ in range(800)])
    low, high = questions_interval(points, values, rng)
    plain = wilson_interval(points.mean(), 800)
    assert low < points.mean() < high
    assert 1.0 <= (high - low) / (plain[1] - plain[0]) < 2.0


def test_the_interval_of_questions_that_are_all_right_depends_on_the_values():
    values = np.array([[0, 1], [1, 2], [2, 3], [3, 0]] * 50)
    assert questions_interval(np.ones(200), values, np.random.default_rng(0)) == share_interval(4, 4)
    assert questions_interval(np.zeros(1), values[:1], np.random.default_rng(0)) == share_interval(0, 1)
    half = questions_interval(np.full(200, 0.5), values, np.random.default_rng(0))
    assert half == wilson_interval(0.5, 4)
    with pytest.raises(DataError, match="at least one question"):
        questions_interval(np.empty(0), np.empty((0, 2), np.int64), np.random.default_rng(0))


def test_the_interval_of_questions_knows_neither_order_nor_names_of_values():
    rng = np.random.default_rng(3)
    points, values = asked_with_effects(rng, count=300, values=20, alike=False)
    order = rng.permutation(300)
    found = questions_interval(points, values, np.random.default_rng(1))
    assert questions_interval(points[order], 7 * values[order] + 5, np.random.default_rng(1)) == pytest.approx(found)


@pytest.mark.parametrize("shared", [True, False])
def test_intervals_over_runs_cover_where_values_are_shared_and_where_they_are_not(shared):
    """Each score is a truth of 70, an error of its training and one of its values, which all runs of a study share or none."""
    rng, covered, widths, trials = np.random.default_rng(5), 0, [], 2000
    for _ in range(trials):
        own = np.full(5, rng.normal(0, 2.0)) if shared else rng.normal(0, 2.0, 5)
        values = 70 + rng.normal(0, 1.0, 5) + own
        runs = [
            Score("two_way_choice.accuracy", value, interval=(value - 3.92, value + 3.92), n=900, unit="%", bounds=(0.0, 100.0))
            for value in values
        ]
        low, high = across_seeds(runs, shared=shared)
        covered += low <= 70 <= high
        widths.append(high - low)
        assert across_seeds(runs) == across_seeds(runs, shared=True)
    assert 0.94 <= covered / trials <= 0.985
    assert np.mean(widths) < (10.5 if shared else 5.9)
