import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from molyneux.core import ConfigError, NotApplicableError, Posterior
from molyneux.measure import LatentProbe, Leakage
from molyneux.measure.prediction import perceptron_predictions
from molyneux.measure.prediction.leakage import _residuals, explained, shared_factors


def coded(tiny, private):
    """A model whose shared code has shape and size, and whose private codes are functions of the combinations."""

    class Model(tiny.Oracle):
        prior = tiny.Independent.prior

        def encode(self, batch, observed=None):
            rows = super().encode(batch, observed).shared.mean[:, 0].long().numpy()
            point = type(super().encode(batch, observed).shared)
            codes = tiny.combinations[rows]
            shared = np.c_[np.eye(3)[codes[:, 0]], codes[:, 1]]
            return Posterior(
                point(torch.from_numpy(shared).float()),
                {name: point(torch.from_numpy(private(codes)).float()) for name in ("image", "text")},
            )

    return Model()


def noise(codes):
    return np.random.default_rng(len(codes)).normal(size=(len(codes), 2))


def test_private_noise_leaks_nothing_and_a_copy_of_a_factor_everything(tiny):
    nothing = Leakage()(tiny.evaluation(coded(tiny, noise), n=1000))
    for kind in ("linear", "mlp"):
        score = tiny.find(nothing, "leakage.factor", code="private.image", factor="shape", classifier=kind)
        assert score.interval[0] < 3 < 10
        assert abs(score.value) < 12
        assert score.controls["shared code"] == pytest.approx(100)
    everything = Leakage()(tiny.evaluation(coded(tiny, lambda codes: codes.astype(float)), n=1000))
    for kind in ("linear", "mlp"):
        assert tiny.find(everything, "leakage.factor", code="private.image", factor="shape", classifier=kind).value > 95
    assert tiny.find(nothing, "leakage.modality", code="private.image", modality="text").value < 3
    score = tiny.find(everything, "leakage.modality", code="private.image", modality="text")
    assert score.interval[0] > 50
    assert score.controls["other sample"] < 5
    assert score.controls["shared code"] > 99


def test_only_factors_that_two_modalities_show_can_leak(tiny):
    """The tilt is shown by the image alone: that its private code knows it is no leakage."""
    evaluation = tiny.evaluation(coded(tiny, noise), n=100)
    assert shared_factors(evaluation, "image") == ("shape", "size")
    unread = tiny.evaluation(coded(tiny, noise), n=100, readers={}, exact={})
    assert shared_factors(unread, "image") == ("shape", "size", "tilt")
    only = tiny.evaluation(coded(tiny, noise), n=100, readers={"image": tiny.Reader("image", factors=("size",))})
    assert shared_factors(only, "text") == ("size",)


def test_models_without_private_codes_leak_nothing_that_can_be_measured(tiny):
    with pytest.raises(NotApplicableError, match="needs a model with private codes"):
        Leakage()(tiny.evaluation(tiny.Oracle()))
    with pytest.raises(ConfigError, match=r"samples: expected at least 20, got 3.*\n?.*permutations"):
        Leakage(samples=3, permutations=0)
    with pytest.raises(ConfigError, match="unknown classifier 'tree'"):
        Leakage(classifiers=["tree"])


def test_explained_variance_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    codes, targets = rng.normal(size=(2, 300, 3))
    targets += codes @ rng.normal(size=(3, 3))
    found = explained(_residuals(codes, targets, codes, targets))
    fit = LinearRegression().fit(codes, targets).predict(codes)
    assert found == pytest.approx(100 * r2_score(targets, fit, multioutput="variance_weighted"), abs=0.1)
    assert explained(np.zeros((3, 2))) == 0


def test_a_perceptron_finds_what_no_linear_classifier_does():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(2000, 2))
    labels = (codes[:, 0] * codes[:, 1] > 0).astype(int)
    first, again = (perceptron_predictions(codes[:1000], labels[:1000], codes[1000:], seed=1)[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert (first == labels[1000:]).mean() > 0.9


def test_probes_of_joint_codes_and_permuted_labels(tiny):
    evaluation = tiny.evaluation(coded(tiny, noise), n=240)
    plain = LatentProbe()(evaluation).scores
    more = LatentProbe(classifiers=["linear", "mlp"], joint=True, permutations=2)(evaluation)
    assert {score.about["code"] for score in more.scores} == {"shared", "private.image", "private.text", "joint"}
    assert len(more.scores) == 2 * (len(plain) + 3 * 3)
    about = {"source": "image", "code": "joint", "factor": "shape"}
    for kind in ({}, {"classifier": "mlp"}):
        score = next(score for score in more.scores if score.about == {**about, **kind})
        assert score.value > 95
        assert abs(score.controls["permuted labels"] - 100 / 3) < 20
    with pytest.raises(ConfigError, match="permutations: expected at least 0, got -1"):
        LatentProbe(permutations=-1)
