import numpy as np
import pytest
from sklearn.cross_decomposition import CCA
from sklearn.decomposition import PCA

from molyneux.core import ConfigError, NotApplicableError
from molyneux.measure import Synergy
from molyneux.measure.embeddings import _principal, fit_embedding, numbers_of
from molyneux.measure.synergy import fit_projections


def vectors(n=300):
    rng = np.random.default_rng(0)
    common = rng.normal(size=(n, 2))
    first = np.c_[common + 0.3 * rng.normal(size=(n, 2)), rng.normal(size=n)] @ rng.normal(size=(3, 3)) + 5
    second = np.c_[common + 0.5 * rng.normal(size=(n, 2)), rng.normal(size=(n, 2))] @ rng.normal(size=(4, 4)) - 2
    return first, second


def test_canonical_correlations_are_those_of_scikit_learn():
    first, second = vectors()
    found = fit_projections(first, second, 3)
    one, other = CCA(3, max_iter=5000, tol=1e-10).fit(first, second).transform(first, second)
    expected = [np.corrcoef(one[:, k], other[:, k])[0, 1] for k in range(3)]
    np.testing.assert_allclose(found.canonical, expected, atol=1e-4)
    projected = [(v - mean) @ w for v, mean, w in zip((first, second), found.means, found.directions, strict=True)]
    np.testing.assert_allclose(np.cov(projected[0], rowvar=False), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(np.cov(np.hstack(projected), rowvar=False)[:3, 3:], np.diag(found.canonical), atol=1e-9)


def test_correlations_are_cosines_of_whole_pairs():
    first, second = vectors()
    found = fit_projections(first, second, 2)
    one, other = ((v - mean) @ w for v, mean, w in zip((first, second), found.means, found.directions, strict=True))
    expected = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(one, other, strict=True)]
    np.testing.assert_allclose(found.correlations(first, second), expected)
    second[:7, 0] = np.nan
    np.testing.assert_allclose(found.correlations(first, second), expected[7:])


def test_directions_without_variance_are_left_out():
    first, second = vectors()
    whole = fit_projections(first, second, 3).canonical
    twice = fit_projections(np.hstack([first, first, np.ones((300, 1))]), second, 3).canonical
    np.testing.assert_allclose(twice, whole, atol=1e-6)
    assert fit_projections(first[:50], second[:50], 3) is None


def test_principal_directions_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(400, 8)) * np.arange(1, 9)
    centred = data - data.mean(0)
    found = _principal(centred, rng.normal(size=(8, 8)), 3)
    np.testing.assert_allclose(np.abs(found.T @ PCA(3).fit(data).components_.T), np.eye(3), atol=1e-6)


def test_symbols_are_one_hot(tiny):
    numbers = numbers_of(tiny.spec.modality("text"), tiny.views["text"])
    assert numbers.shape == (24, tiny.spec.modality("text").size * 27)
    assert (numbers.sum(1) == tiny.spec.modality("text").size).all()
    evaluation = tiny.evaluation(tiny.Oracle(), n=150)
    embedding = fit_embedding(evaluation, "text", evaluation, dimensions=4, samples=150)
    assert embedding(tiny.views["text"]).shape == (24, 4)


def test_an_oracle_is_as_correlated_as_the_truth_and_another_model_is_not(tiny):
    settings = {"dimensions": 5, "components": 3}
    oracle = Synergy(**settings)(tiny.evaluation(tiny.Oracle(), n=500))
    assert len(oracle.scores) == 3
    for about in ({"source": "image", "target": "text"}, {"source": "prior", "target": ("image", "text")}):
        score = tiny.find(oracle, "synergy.correlation", **about)
        assert score.controls["true pairs"] > 0.6
        assert score.value == pytest.approx(score.controls["true pairs"], abs=0.06)
        assert abs(score.controls["unpaired"]) < 0.15
        assert score.interval[0] < score.value < score.interval[1]
        assert score.n == 500
    random = Synergy(**settings)(tiny.evaluation(tiny.Independent(), n=500))
    assert abs(tiny.find(random, "synergy.correlation", source="prior").value) < 0.15


def test_pairs_that_lack_a_view_are_left_out(tiny):
    present = {"text": np.arange(400) % 2 == 0}
    measured = Synergy(dimensions=4)(tiny.evaluation(tiny.Oracle(), source=tiny.Source(tiny.rows(400), present=present)))
    assert tiny.find(measured, "synergy.correlation", source="text", target="image").n == 200
    with pytest.raises(NotApplicableError, match="at least 100 samples"):
        Synergy()(tiny.evaluation(tiny.Oracle(), n=60))
    with pytest.raises(ConfigError) as error:
        Synergy(samples=5, components=0, dimensions=0)
    assert len(error.value.problems) == 3
