"""Accuracy by the value of a factor, and calibration, against scikit-learn and samples drawn from the probabilities."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from sklearn import metrics
from torch.distributions import Bernoulli, Categorical

from molyneux.core import Batch, ConfigError, Factor, Modality, NotApplicableError, Score, Spec, SpecError, Target
from molyneux.measure import Breakdown, Calibration, Evaluation
from molyneux.measure.prediction.calibration import brier, calibration_error, log_loss

KIND = Factor("kind", ("true", "colour", "shape", "rare"))
SPEC = Spec(
    (Modality("left", "tabular", (3,)),),
    (KIND,),
    targets=(Target("fits", "agreement"), Target("kind of", "class", ("a", "b", "c"))),
)


@dataclass
class Samples:
    """The view holds the three probabilities of the class; `fits` is read from the first of them."""

    views: np.ndarray
    codes: np.ndarray
    fits: np.ndarray
    kinds: np.ndarray
    known: np.ndarray
    spec: Spec = SPEC

    def __len__(self):
        return len(self.codes)

    def batch(self, indices):
        rows = np.asarray(indices)
        return Batch(
            {"left": torch.from_numpy(self.views[rows])},
            factors=torch.from_numpy(self.codes[rows].reshape(len(rows), -1)),
            targets={"fits": torch.from_numpy(self.fits[rows]), "kind of": torch.from_numpy(self.kinds[rows])},
            known={"fits": torch.from_numpy(self.known[rows])},
        )


class Reads(torch.nn.Module):
    """Predicts what the view says."""

    def predict(self, batch, observed):
        return {"fits": Bernoulli(probs=batch.views["left"][:, 0]), "kind of": Categorical(probs=batch.views["left"])}


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    views = rng.dirichlet((1, 1, 1), 2000).astype(np.float32)
    kinds = np.array([rng.choice(3, p=row / row.sum()) for row in views.astype(np.float64)])
    codes = rng.choice(4, 2000, p=[0.6, 0.25, 0.145, 0.005])
    return Samples(views, codes, (rng.random(2000) < 0.5).astype(np.int64), kinds, rng.random(2000) < 0.9)


def scores_of(measure, samples):
    return measure(Evaluation(Reads(), samples, seed=3)).scores


def test_accuracy_by_the_value_of_a_factor(samples):
    scores = {
        tuple(score.about.values()): score
        for score in scores_of(Breakdown(targets=("fits",)), samples)
        if score.name == "breakdown.accuracy"
    }
    assert list(scores) == [("fits", "kind", "true"), ("fits", "kind", "colour"), ("fits", "kind", "shape")]  # too few are rare
    for code, value in enumerate(KIND.values[:3]):
        rows = (samples.codes == code) & samples.known
        right = (samples.views[rows, 0] > 0.5) == samples.fits[rows]
        score = scores["fits", "kind", value]
        assert (score.n, score.chance) == (rows.sum(), 50.0)
        assert score.value == pytest.approx(100 * right.mean())
        usual = int(samples.fits[samples.known].mean() > 0.5)
        assert score.controls["constant"] == pytest.approx(100 * (samples.fits[rows] == usual).mean())


def test_the_lowest_value_stands_beside_the_mean(samples):
    found = scores_of(Breakdown(targets=("kind of",), factors=("kind",)), samples)
    lowest = next(score for score in found if score.name == "breakdown.lowest")
    accuracies = {score.about["value"]: score.value for score in found if score.name == "breakdown.accuracy"}
    assert lowest.value == min(accuracies.values())
    assert lowest.note == f"of the value {min(accuracies, key=accuracies.get)}"
    assert lowest.chance == pytest.approx(100 / 3)


def test_calibration_of_probabilities_that_are_right(samples):
    scores = {score.name: score for score in scores_of(Calibration(targets=("kind of",)), samples)}
    assert scores["calibration.error"].value < 0.05
    given = samples.views.astype(np.float64)
    expected = metrics.log_loss(samples.kinds, given / given.sum(1, keepdims=True))
    assert scores["calibration.log_loss"].value == pytest.approx(expected, rel=1e-5)
    assert scores["calibration.brier"].value < scores["calibration.brier"].chance
    assert scores["calibration.log_loss"].value < scores["calibration.log_loss"].chance


def test_calibration_error_by_hand():
    confidence, right = np.array([0.6, 0.7, 0.9, 1.0]), np.array([True, False, True, True])
    assert calibration_error(confidence, right, 2) == pytest.approx((abs(0.65 - 0.5) + abs(0.95 - 1.0)) / 2)
    assert calibration_error(confidence, right, 100) == pytest.approx(np.mean([0.4, 0.7, 0.1, 0.0]))
    given, truth = np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([1, 0])
    assert brier(given, truth) == pytest.approx([0.08, 0.5])
    assert log_loss(given, truth) == pytest.approx(-np.log([0.8, 0.5]))


def test_crossed_factors_are_those_of_the_joint_values(samples):
    rng = np.random.default_rng(1)
    spec = replace(SPEC, factors=(KIND, Factor("side", ("left", "right"))))
    sides = rng.integers(-1, 2, len(samples.codes))  # -1: absent
    both = Samples(samples.views, np.stack([samples.codes, sides], 1), samples.fits, samples.kinds, samples.known, spec)
    measure = Breakdown(targets=("kind of",), factors=("kind",), crossed=(("side", "kind"),), least=30)
    scores = {
        score.about["value"]: score
        for score in scores_of(measure, both)
        if score.name == "breakdown.accuracy" and score.about["factor"] == ("side", "kind")
    }
    counted = {
        (side, kind): (sides == code) & (samples.codes == place)
        for code, side in enumerate(("left", "right"))
        for place, kind in enumerate(KIND.values)
    }
    assert set(scores) == {values for values, rows in counted.items() if rows.sum() >= 30}
    assert len(scores) == 6
    for values, score in scores.items():
        rows = counted[values]
        right = samples.views[rows].argmax(1) == samples.kinds[rows]
        assert (score.n, score.value) == (rows.sum(), pytest.approx(100 * right.mean()))
        assert Score.from_json(score.to_json()) == score


@pytest.mark.parametrize("names", [(), ("kind",), ("kind", "kind")])
def test_fewer_than_two_factors_cannot_be_crossed(names):
    with pytest.raises(ConfigError, match="at least two different"):
        Breakdown(crossed=(names,))


def test_what_cannot_be_measured(samples):
    with pytest.raises(SpecError, match="kindd"):
        Breakdown(factors=("kindd",)).check(SPEC)
    with pytest.raises(SpecError, match="sides"):
        Breakdown(crossed=(("kind", "sides"),)).check(SPEC)
    nothing = Samples(samples.views, samples.codes, samples.fits, samples.kinds, np.zeros(2000, bool))
    with pytest.raises(NotApplicableError, match="known of no sample"):
        Breakdown(targets=("fits",))(Evaluation(Reads(), nothing, seed=3))
