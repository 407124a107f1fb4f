"""Downstream scores of codes whose content is known."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, DataError, Factor, Modality, NotApplicableError, Posterior, Spec, Target
from molyneux.measure import Downstream, Evaluation
from molyneux.measure.prediction.downstream import control_features, projection_matrices

WORDS = ("<pad>", "<bos>", "<eos>", *(f"w{number}" for number in range(9)))
SPEC = Spec((Modality("text", "text", (6,), "uint8", WORDS, 0, 1, 2),), (Factor("label", ("a", "b", "c")),))


@dataclass
class Fixed:
    mean: torch.Tensor

    def rsample(self, sample_shape=(), generator=None):
        return self.mean.expand(*sample_shape, *self.mean.shape)

    def log_prob(self, value):
        return torch.zeros(value.shape[:-1])


class Texts:
    """Texts of three random words; the first is one of three that belong to the label, in a share of the texts."""

    def __init__(self, size=1200, *, told=1.0, absent=0.0, present=1.0):
        rng = np.random.default_rng(0)
        labels = rng.integers(0, 3, size)
        topic = np.where(rng.random(size) < told, labels, rng.integers(0, 3, size))
        words = np.stack([3 + topic, *(6 + rng.integers(0, 6, (2, size)))], 1)
        self.ids = np.concatenate([rng.permuted(words, axis=1), np.full((size, 1), 2), np.zeros((size, 2))], 1).astype(np.uint8)
        self.labels = np.where(rng.random(size) < absent, -1, labels)
        self.present = rng.random(size) < present
        self.spec = SPEC

    def __len__(self):
        return len(self.ids)

    def batch(self, indices):
        mask = {} if self.present.all() else {"text": torch.from_numpy(self.present[indices])}
        return Batch({"text": torch.from_numpy(self.ids[indices])}, mask, torch.from_numpy(self.labels[indices, None]))


class Knows:
    """A code that has the label as a corner of a triangle, after `knows`, or nothing but noise."""

    def __init__(self, knows=True):
        self.knows = knows

    def encode(self, batch, observed=None):
        ids = batch.views["text"].long()
        topic = torch.nn.functional.one_hot(((ids - 3) * ((ids >= 3) & (ids < 6))).sum(1), 3).float()
        noise = torch.randn(len(ids), 3, generator=torch.Generator().manual_seed(int(ids.sum())))
        return Posterior(Fixed(3 * topic + 0.1 * noise if self.knows else noise))


def measured(model, source, **settings):
    evaluation = Evaluation(model, source, seed=1, batch_size=300, origin={"world": "texts"})
    return {
        (score.name.partition(".")[2], score.about.get("classifier", score.about.get("per_class"))): score
        for score in Downstream(**settings)(evaluation).scores
    }


def test_a_code_that_knows_the_label_predicts_it():
    scores = measured(Knows(), Texts())
    for which in ("published", "logistic"):
        score = scores["accuracy", which]
        assert score.value > 99
        assert score.n == 600
        assert score.chance == pytest.approx(100 / 3)
        assert score.about | {"classifier": ""} == {"source": "text", "code": "shared", "factor": "label", "classifier": ""}
        assert score.controls["bag of words"] == 100
        assert score.controls["majority"] < 40
    assert scores["few_shot", "10"].value > 95
    assert scores["few_shot", "1"].interval[0] < scores["few_shot", "1"].value


def test_noise_predicts_nothing_though_the_words_know():
    scores = measured(Knows(False), Texts(), shots=(10,))
    for score in scores.values():
        assert score.value < 42
    assert scores["accuracy", "logistic"].controls["bag of words"] == 100
    assert scores["few_shot", "10"].controls["bag of words"] > 60


def test_words_that_know_half_the_labels_bound_everything():
    scores = measured(Knows(), Texts(6000, told=0.5), shots=())
    expected = 100 * (0.5 + 0.5 / 3)
    assert scores["accuracy", "logistic"].value == pytest.approx(expected, abs=4)
    assert scores["accuracy", "logistic"].controls["bag of words"] == pytest.approx(expected, abs=4)
    assert list(scores) == [("accuracy", "published"), ("accuracy", "logistic")]


def test_absent_labels_are_left_out_and_few_samples_are_told():
    scores = measured(Knows(), Texts(200, absent=0.5), shots=(1, 50))
    assert scores["accuracy", "logistic"].n == pytest.approx(50, abs=10)
    assert scores["few_shot", "50"].value is None
    assert scores["few_shot", "50"].note == "fewer than 50 samples of some value to fit"


def test_controls_stand_in_the_order_of_the_codes():
    source = Texts(400, present=0.7)
    evaluation = Evaluation(Knows(), source, seed=1, batch_size=64)
    matrices = projection_matrices(evaluation, ("text",), 5)
    features = control_features(evaluation, ("text",), matrices, samples=300)
    table = evaluation.table(("text",), 300)
    kept = np.flatnonzero(source.present[:300])
    assert features["random projection"].shape == (len(kept), 5)
    assert (table.factors[:, 0] == source.labels[kept]).all()
    expected = np.zeros((len(kept), len(WORDS)))
    for row, ids in enumerate(source.ids[kept]):
        expected[row, ids[:3]] = 1
    assert (features["bag of words"].toarray() == expected).all()


def test_pictures_have_a_projection_and_no_bag(tiny):
    found = Downstream(labels=("shape",), shots=(5,))(tiny.evaluation(tiny.Oracle(), n=300))
    score = tiny.find(found, "downstream.accuracy", source="image", classifier="logistic")
    assert set(score.controls) == {"majority", "random projection"}
    assert {score.about["factor"] for score in found.scores} == {"shape"}
    assert "bag of letters" in tiny.find(found, "downstream.accuracy", source="text", classifier="logistic").controls


class Targets(Texts):
    """The same texts, whose label is a target that is unknown of every fifth."""

    def __init__(self, size=1200, **changes):
        super().__init__(size, **changes)
        self.spec = Spec(SPEC.modalities, targets=(Target("topic", "class", ("a", "b", "c")), Target("size", "number")))

    def batch(self, indices):
        values = {"topic": torch.from_numpy(self.labels[indices]), "size": torch.zeros(len(indices))}
        known = {"topic": torch.from_numpy(indices % 5 > 0)}
        return Batch(super().batch(indices).views, targets=values, known=known)


def test_targets_are_labels_too_and_training_samples_are_fitted_on():
    scores = measured(Knows(), Targets(), shots=(10,))
    assert scores["accuracy", "logistic"].about["target"] == "topic"
    assert scores["accuracy", "logistic"].value > 99
    assert scores["accuracy", "logistic"].n == 480
    evaluation = Evaluation(Knows(), Targets(), seed=1, batch_size=300, train=Targets(500))
    found = [
        score for score in Downstream(labels=["topic"], shots=(5,))(evaluation).scores if score.name == "downstream.accuracy"
    ]
    assert {score.n for score in found} == {960}
    assert all(score.value > 99 and score.controls["bag of words"] == 100 for score in found)
    with pytest.raises(ConfigError, match="no factor and no class target 'size'"):
        Downstream(labels=["size"])(evaluation)


def test_sources_without_factors_are_told_so(tiny):
    source = Texts(50)
    source.spec = Spec(SPEC.modalities)
    with pytest.raises(NotApplicableError, match="known factors or class targets"):
        Downstream()(Evaluation(Knows(), source))


def test_bad_settings_are_told_at_once():
    with pytest.raises(ConfigError) as caught:
        Downstream(shots=(0,), draws=0, samples=1, regularization=0)
    assert len(caught.value.problems) == 4


def test_codes_that_are_not_finite_are_refused():
    class Endless(Knows):
        def encode(self, batch, observed=None):
            return Posterior(Fixed(super().encode(batch).shared.mean / (torch.arange(len(batch)) != 7)[:, None]))

    with pytest.raises(DataError, match=r"^codes shared given text: expected finite numbers, got .* in row 7, dimension 0"):
        measured(Endless(), Texts(200))
