"""Intervals of samples that stand in sets: against simulation, closed forms and the exact interval."""

import numpy as np
import pytest

from molyneux.core.intervals import share_interval
from molyneux.measure.prediction.prediction import above
from molyneux.measure.prediction.sets import by_sets, design_effect, share_of_sets
from molyneux.measure.scores import Recorder


def recorder():
    return Recorder("prediction", np.random.default_rng(0))


def drawn(rng, sets, size, share, together):
    """Answers of sets: with a probability `together` all of a set are alike, else independent."""
    alike = rng.random((sets, 1)) < together
    return np.where(alike, rng.random((sets, 1)) < share, rng.random((sets, size)) < share)


@pytest.mark.parametrize("together", [0.0, 0.1, 0.5, 1.0])
def test_the_design_effect_is_that_of_answers_that_go_together(together):
    """Of a correlation r within sets of m it is 1 + (m - 1) r (Kish, 1965, section 5.4)."""
    right = drawn(np.random.default_rng(1), 20_000, 4, 0.7, together)
    found = design_effect(right.ravel(), np.arange(20_000).repeat(4))
    assert found == pytest.approx(1 + 3 * together, abs=0.07)


@pytest.mark.parametrize(("share", "together"), [(0.7, 0.1), (0.7, 1.0), (0.97, 0.5), (0.5, 0.3)])
def test_intervals_cover_the_share_as_often_as_they_claim(share, together):
    rng, covered, plain = np.random.default_rng(2), 0, 0
    sets = np.arange(150).repeat(4)
    for _ in range(400):
        right = drawn(rng, 150, 4, share, together).ravel()
        low, high = share_of_sets("accuracy", right, sets, recorder()).interval
        covered += low <= 100 * share <= high
        low, high = share_interval(int(right.sum()), 600)
        plain += low <= share <= high
    assert covered / 400 >= 0.93
    if together >= 0.5:
        assert plain / 400 < 0.9  # samples as the unit claim too much


def test_at_the_edges_sets_are_the_unit():
    """Where no answer is wrong, nothing says that wrong ones come one by one."""
    sets = np.arange(100).repeat(4)
    for right, ends in ((np.ones(400, bool), (1, 100)), (np.zeros(400, bool), (0, 0))):
        score = share_of_sets("accuracy", right, sets, recorder())
        low, high = share_interval(100 * right[0], 100)
        assert score.value == 100.0 * right[0]
        assert score.n == 400
        assert score.interval == pytest.approx((100 * low, 100 * high), abs=0.4)
        assert ends[0] in (0, 1)
    one = np.ones(400, bool)
    one[7] = False
    narrower = share_of_sets("accuracy", one, sets, recorder()).interval
    assert narrower[0] < share_of_sets("accuracy", np.ones(400, bool), sets, recorder()).interval[0] + 1.5


def test_the_order_of_samples_changes_nothing_and_single_samples_have_the_exact_interval():
    rng = np.random.default_rng(3)
    right, sets = rng.random(200) < 0.8, np.arange(50).repeat(4)
    order = rng.permutation(200)
    scores = [share_of_sets("accuracy", right[rows], sets[rows], recorder()) for rows in (slice(None), order)]
    assert scores[0].interval == pytest.approx(scores[1].interval)
    assert share_of_sets("accuracy", right, np.arange(200), recorder()) == recorder().share("accuracy", right)
    assert share_of_sets("accuracy", right[:0], sets[:0], recorder()).value is None


def test_other_scores_are_wider_by_the_root_of_the_design_effect():
    right, sets = np.repeat(np.arange(50) % 5 > 0, 4), np.arange(50).repeat(4)
    score = recorder().score("macro_f1", 80.0, interval=(76.0, 84.0), unit="%", bounds=(0.0, 100.0), n=200)
    (found,) = by_sets([score], right, sets, recorder())
    root = np.sqrt(design_effect(right, sets))
    assert root == pytest.approx(2, abs=0.05)
    assert found.interval == pytest.approx((80 - 4 * root, 80 + 4 * root))
    (cut,) = by_sets([recorder().score("macro_f1", 99.0, interval=(97.0, 100.0), bounds=(0.0, 100.0))], right, sets, recorder())
    assert cut.interval[1] == 100.0


def test_how_far_a_model_is_above_a_control_is_the_difference_of_both():
    rng = np.random.default_rng(4)
    right, control, sets = rng.random(400) < 0.9, rng.random(400) < 0.7, np.arange(100).repeat(4)
    score = above("unbound", right, control, sets, recorder())
    assert score.name == "prediction.above_unbound"
    assert score.value == pytest.approx(100 * (right.mean() - control.mean()))
    assert score.interval[0] < score.value < score.interval[1]
    assert above("unbound", right, right, sets, recorder()).value == 0
