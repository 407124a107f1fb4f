"""Intervals hold as often as they claim, near the edges too: simulated from populations whose true value is known."""

import numpy as np
import pytest

from molyneux.core import Score
from molyneux.core.intervals import across_seeds, pooled, share_interval, weighted_interval, wilson_interval
from molyneux.measure.posterior_gap import gaussian_kl
from molyneux.measure.prediction.class_scores import (
    balanced_accuracy,
    class_scores,
    label_scores,
    macro_f1,
    precision_interval,
    ranking_score,
    recall_interval,
)
from molyneux.measure.prediction.number_scores import number_scores
from molyneux.measure.scores import Recorder, grouped_interval, mean_interval
from molyneux.measure.transfer import _gap

DRAWS = 300
LEAST = 0.93
"""Of 300 samples of 95 % intervals, 95.0 ± 2.5 % hold."""


def recorder(seed=0):
    return Recorder("prediction", np.random.default_rng(seed))


def covered(scores, true):
    return np.mean([score.interval[0] <= true <= score.interval[1] for score in scores])


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("right", [0.97, 0.8])
def test_intervals_of_classes_hold_for_forty_samples(classes, right):
    joint = np.full((classes, classes), (1 - right) / (classes - 1) / classes)
    np.fill_diagonal(joint, right / classes)
    rng, found = np.random.default_rng(7), {"accuracy": [], "balanced_accuracy": [], "macro_f1": []}
    for draw in range(DRAWS):
        truth, predicted = np.divmod(rng.choice(classes**2, 40, p=joint.ravel()), classes)
        for score in class_scores(predicted, truth, np.full(classes, 1 / classes), recorder(draw)):
            found[score.name.partition(".")[2]].append(score)
    for name, statistic in (("balanced_accuracy", balanced_accuracy), ("macro_f1", macro_f1)):
        assert covered(found[name], 100 * statistic(joint)) >= LEAST, name
        widths = [np.mean([np.ptp(score.interval) for score in scores]) for scores in (found[name], found["accuracy"])]
        assert widths[0] < 1.5 * widths[1], name


@pytest.mark.parametrize(("share", "apart"), [(0.5, 2.8), (0.2, 3.0), (0.8, 2.8)])
def test_intervals_of_average_precision_hold_for_forty_samples(share, apart):
    def drawn(rng, n):
        truth = (rng.random(n) < share).astype(int)
        odds = rng.normal(size=n) + apart * truth
        return np.stack([-odds, odds], 1), truth

    whole, truth = drawn(np.random.default_rng(0), 400_000)
    true = ranking_score(whole, truth, recorder()).value
    samples = [drawn(np.random.default_rng(seed), 40) for seed in range(1, DRAWS + 1)]
    assert 93 < true < 99.5
    assert covered([ranking_score(*sample, recorder()) for sample in samples], true) >= LEAST


def test_intervals_of_labels_hold_for_forty_samples():
    rng, found = np.random.default_rng(3), {}
    for draw in range(DRAWS):
        truth = (rng.random((40, 3)) < 0.4).astype(np.uint8)
        wrong = rng.random((40, 3)) < 0.03
        given = np.where(wrong, 1 - truth, truth) * 0.8 + 0.1
        for score in label_scores(given, truth, np.full(3, 0.4), ("a", "b", "c"), recorder(draw)):
            if "label" not in score.about or score.about["label"] == "a":
                found.setdefault((score.name.partition(".")[2], "label" in score.about), []).append(score)
    true = 100 * 2 * 0.4 * 0.97 / (0.4 + 0.4 * 0.97 + 0.6 * 0.03)
    for key in (("micro_f1", False), ("macro_f1", False), ("f1", True)):
        assert covered(found[key], true) >= LEAST, key


def test_at_a_hundred_percent_intervals_are_about_as_wide_as_that_of_accuracy():
    truth = np.repeat([0, 1], 20)
    given = np.eye(2)[truth] * 0.8 + 0.1
    scores = [*class_scores(truth, truth, np.full(2, 0.5), recorder()), ranking_score(given, truth, recorder())]
    scores += label_scores(given, np.eye(2, dtype=np.uint8)[truth], np.full(2, 0.5), ("a", "b"), recorder())
    exact = 100 * share_interval(40, 40)[0]
    assert scores[0].interval == pytest.approx((exact, 100.0))
    for score in scores[1:]:
        assert score.value == 100.0
        assert score.interval[1] == 100.0
        assert 80 < score.interval[0] < exact + 5, score.name
    signs = [score for score in number_scores(*3 * [truth[:, None] - 0.5], recorder()) if score.unit == "%"]
    assert len(signs) == 6
    assert all(80 < score.interval[0] < score.interval[1] == 100.0 for score in signs)


def test_at_nought_percent_the_same():
    truth = np.repeat([0, 1], 20)
    for score in class_scores(1 - truth, truth, np.full(2, 0.5), recorder()):
        assert score.value == 0.0
        assert 0.0 == score.interval[0] < 5 < score.interval[1] < 20


def test_a_rare_class_that_is_right_three_times_is_not_certain():
    counts = np.diag([997.0, 3.0])
    assert recall_interval(counts)[0] < 0.75
    assert precision_interval(np.ones(1), np.array([3]))[0] == pytest.approx(wilson_interval(1.0, 3)[0])


def test_errors_without_bounds_and_perfect_correlation_say_that_they_do_not_know():
    values = np.linspace(-1, 1, 30)[:, None]
    found = {score.name.partition(".")[2]: score for score in number_scores(values, values, values, recorder())}
    for name in ("mae", "mse", "r2", "correlation"):
        assert found[name].value == (0.0 if name in ("mae", "mse") else pytest.approx(1.0))
        assert found[name].interval is None


def test_score_intervals_are_those_of_scipy():
    from scipy.stats import binomtest

    for right, n in ((0, 7), (3, 7), (7, 7), (38, 40)):
        expected = binomtest(right, n).proportion_ci(method="wilson")
        assert wilson_interval(right / n, n) == pytest.approx((expected.low, expected.high))


def test_a_weighted_sum_of_independent_parts_adds_squares_and_of_equal_parts_adds_lengths():
    ends = [(0.0, 1.5), (0.5, 2.0)]
    values = [0.5, 1.0]
    assert weighted_interval(values, ends, [1.0, 1.0]) == pytest.approx((1.5 - np.hypot(0.5, 0.5), 1.5 + np.hypot(1, 1)))
    assert weighted_interval(values, ends, [1.0, 1.0], shared=9.0) == pytest.approx((0.5, 3.5))


def test_scores_that_are_no_shares_of_samples_are_not_counted_as_shares():
    """Balanced accuracy of 100 % over three runs keeps the interval by class, which is wider than that of 120 right samples."""
    low = 100 * recall_interval(np.diag([36.0, 4.0]))[0]
    balanced = [Score("a.b", 100.0, {}, (low, 100.0), 40, "%", bounds=(0.0, 100.0)) for _ in range(3)]
    shares = [Score("a.b", 100.0, {}, (100 * share_interval(40, 40)[0], 100.0), 40, "%", bounds=(0.0, 100.0)) for _ in range(3)]
    assert pooled(shares)[0] == pytest.approx(100 * share_interval(120, 120)[0])
    assert pooled(balanced)[0] == pytest.approx(100 - (100 - low) / np.sqrt(3))
    assert across_seeds(balanced)[0] < pooled(shares)[0]


def test_divergences_lie_within_their_intervals_which_hold():
    """The value of every sample is in its interval, and so is the true divergence as often as the interval claims."""
    variance, shift, dimensions = 0.49, 0.3, 4
    true = dimensions * 0.5 * (variance - 1 - np.log(variance) + shift**2)
    held = []
    for draw in range(DRAWS // 3):
        rng = np.random.default_rng(draw)
        codes, prior = shift + np.sqrt(variance) * rng.normal(size=(500, dimensions)), rng.normal(size=(500, dimensions))
        low, high = grouped_interval(gaussian_kl, codes, prior, bounds=(0.0, None))
        assert low <= gaussian_kl(codes, prior) <= high
        held.append(low <= true <= high)
    assert np.mean(held) >= 0.9


def test_few_samples_have_no_interval_of_a_divergence():
    assert grouped_interval(gaussian_kl, np.random.default_rng(0).normal(size=(39, 1)), np.ones((100, 1))) is None


def test_intervals_of_means_hold_for_ten_samples():
    samples = [np.random.default_rng(draw).normal(size=10) for draw in range(DRAWS)]
    found = [mean_interval(values, np.random.default_rng(draw)) for draw, values in enumerate(samples)]
    assert np.mean([low <= 0 <= high for low, high in found]) >= LEAST


def test_intervals_of_correlations_hold_for_twenty_samples():
    found = []
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        truth = rng.normal(size=(20, 1))
        given = 0.8 * truth + 0.6 * rng.normal(size=(20, 1))
        found += [score for score in number_scores(given, truth, truth, recorder(draw)) if score.name == "prediction.correlation"]
    assert covered(found, 0.8) >= LEAST


def test_intervals_of_gaps_between_groups_hold_at_the_edge():
    """Of 40 samples a third of which are apart, nearly all right: a bootstrap had no interval in half of the draws."""
    found = []
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        apart = rng.random(40) < 0.3
        right = rng.random(40) < np.where(apart, 0.97, 0.99)
        found.append(_gap(right, apart, recorder(draw)))
    assert covered(found, 2.0) >= LEAST
    none = np.zeros(4, bool)
    assert _gap(none, none, recorder()).value is None
