"""Calibration of labels and numbers, whose probabilities are right, too sure, or constant."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch.distributions import Bernoulli, Independent, Normal

from molyneux.core import Batch, ConfigError, Modality, NotApplicableError, Spec, Target
from molyneux.data import ArraySource
from molyneux.measure import Calibration, Evaluation
from molyneux.measure.prediction.calibration import calibration_error, quantile_error

SPEC = Spec(
    (Modality("x", "tabular", (3,)),),
    targets=(Target("tags", "multilabel", ("a", "b", "c")), Target("size", "number", shape=(2,))),
)


class Knowing:
    """Knows the probabilities of the labels, and the mean of the numbers up to unit noise; `sure` scales what it says."""

    def __init__(self, sure=1.0):
        self.sure = sure

    def predict(self, batch, observed=None):
        known = batch.views["x"].double()
        logits = torch.logit(known) * self.sure
        numbers = Normal(known[:, :2], torch.full_like(known[:, :2], 1 / self.sure))
        return {"tags": Independent(Bernoulli(logits=logits), 1), "size": Independent(numbers, 1)}


def evaluation(model, n=4000):
    rng = np.random.default_rng(0)
    known = rng.uniform(0.02, 0.98, (n, 3)).astype(np.float32)
    tags = (rng.random((n, 3)) < known).astype(np.uint8)
    size = (known[:, :2] + rng.normal(size=(n, 2))).astype(np.float32)
    targets = {"tags": torch.from_numpy(tags), "size": torch.from_numpy(size)}
    return Evaluation(model, ArraySource(SPEC, Batch({"x": torch.from_numpy(known)}, targets=targets)), seed=1), known, tags, size


def scores_of(model):
    found, *data = evaluation(model)
    return {(score.about["target"], score.name.partition(".")[2]): score for score in Calibration()(found).scores}, data


def test_right_probabilities_are_calibrated_and_those_of_an_overconfident_model_are_not():
    right, (known, tags, size) = scores_of(Knowing())
    sure, _ = scores_of(Knowing(3.0))
    for target in ("tags", "size"):
        assert right[target, "error"].value < 0.02
        assert right[target, "error"].interval[0] <= right[target, "error"].value <= right[target, "error"].interval[1]
        assert sure[target, "error"].interval[0] > right[target, "error"].interval[1]
        assert right[target, "log_loss"].value < min(sure[target, "log_loss"].value, right[target, "log_loss"].chance)
    expected = -(tags * np.log(known) + (1 - tags) * np.log(1 - known)).sum(1).mean()
    assert right["tags", "log_loss"].value == pytest.approx(expected, rel=1e-5)
    assert right["tags", "brier"].value == pytest.approx(((known - tags) ** 2).sum(1).mean(), rel=1e-5)
    density = stats.norm.logpdf(size, known[:, :2]).sum(1).mean()
    assert right["size", "log_loss"].value == pytest.approx(-density, rel=1e-5)
    best = -stats.norm.logpdf(size, size.mean(0), size.std(0)).sum(1).mean()
    assert right["size", "log_loss"].chance == pytest.approx(best, rel=1e-5)


def test_quantile_error_by_hand():
    assert quantile_error(((np.arange(10) + 0.5) / 10)[:, None]) == pytest.approx(0)
    assert quantile_error(np.zeros((1000, 1))) == pytest.approx(0.5)
    assert quantile_error(np.full((1000, 1), 0.5)) == pytest.approx(0.25)


@pytest.mark.parametrize("bins", [0, -3])
def test_no_bins_are_refused(bins):
    with pytest.raises(ConfigError, match=f"bins: expected at least 1, got {bins}"):
        Calibration(bins=bins)


def test_a_source_without_targets_is_told():
    source = ArraySource(Spec(SPEC.modalities), Batch({"x": torch.zeros(4, 3)}))
    with pytest.raises(NotApplicableError, match="calibration needs targets"):
        Calibration()(Evaluation(Knowing(), source))


def test_ties_share_bins_whatever_the_order_of_the_samples():
    """A prior of 40 % that is so, said of every sample: sorted rows gave .4, shuffled ones .04."""
    right = np.repeat([True, False], [400, 600])
    said = np.full(1000, 0.4006)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(1000)
        assert calibration_error(said, right[order], 15) == pytest.approx(0.0006)
    assert calibration_error(said, right, 15) == pytest.approx(0.0006)


def test_without_ties_bins_have_equally_many_samples():
    rng = np.random.default_rng(0)
    said = rng.random(107)
    right = rng.random(107) < said
    parts = np.array_split(np.argsort(said), 15)
    expected = sum(abs(said[part].mean() - right[part].mean()) * len(part) for part in parts) / 107
    assert calibration_error(said, right, 15) == pytest.approx(expected, abs=1e-6)


def test_ties_that_a_border_divides_are_in_both_bins_in_proportion():
    """Two bins of three samples: the four of .6, of which one is right, are in the first with two and in the second with two."""
    said = np.array([0.1, 0.6, 0.6, 0.6, 0.6, 0.9])
    right = np.array([False, True, False, False, False, True])
    first, second = abs(0.1 + 2 * 0.6 - 0.5), abs(0.9 + 2 * 0.6 - 1.5)
    for order in (np.arange(6), np.array([0, 4, 3, 2, 1, 5])):
        assert calibration_error(said[order], right[order], 2) == pytest.approx((first + second) / 6)


def test_confidences_that_differ_by_rounding_are_ties():
    right = np.repeat([True, False], 50)
    said = 0.5 + np.linspace(0, 1e-8, 100)
    assert calibration_error(said, right, 10) == pytest.approx(0.0, abs=1e-6)


def test_an_error_of_nothing_is_not_certain():
    """Forty answers that are right, said with certainty, are as likely as not from a model that is wrong once in forty."""

    class Sure:
        def predict(self, batch, observed=None):
            return {"kind": Bernoulli(logits=torch.full((len(batch),), 40.0))}

    spec = Spec((Modality("x", "tabular", (1,)),), targets=(Target("kind", "agreement"),))
    batch = Batch({"x": torch.zeros(40, 1)}, targets={"kind": torch.ones(40, dtype=torch.int64)})
    (error, *_) = Calibration()(Evaluation(Sure(), ArraySource(spec, batch), seed=1)).scores
    assert error.value == pytest.approx(0.0, abs=1e-9)
    assert error.interval == pytest.approx((0.0, 0.0876), abs=1e-3)
