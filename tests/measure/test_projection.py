import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from molyneux.core import ConfigError
from molyneux.measure import Projection, evaluate
from molyneux.measure.projection import nearest_values


def test_neighbours_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    points, values = rng.normal(size=(80, 2)), rng.integers(0, 3, 80)
    points[:, 0] += values
    expected = cross_val_predict(KNeighborsClassifier(7), points, values, cv=LeaveOneOut())
    np.testing.assert_array_equal(nearest_values(points, values, k=7), expected)


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_what_is_seen_has_a_score(tiny, method):
    """The oracle's code is the number of the combination: shapes lie in three stretches."""
    measured = Projection(method=method, samples=200, neighbours=5)(tiny.evaluation(tiny.Oracle(), n=200))
    score = tiny.find(measured, "projection.neighbours", source="image", factor="shape")
    assert score.value > 85
    assert score.controls["all dimensions"] > 95
    assert score.controls["majority"] < 50
    assert score.chance == pytest.approx(100 / 3)
    assert score.n == 200
    assert len(measured.exhibits) == 3


def test_scores_are_asked_for_and_made_under_every_condition(tiny):
    conditions = [tiny.evaluation(tiny.Oracle(), n=60, about=about) for about in ({}, {"split": "other"})]
    assert not evaluate([Projection()], conditions).scores
    found = evaluate([Projection(neighbours=3)], conditions)
    assert {score.about.get("split") for score in found.scores} == {None, "other"}
    assert len(found.exhibits) == 3
    few = evaluate([Projection(neighbours=100)], conditions[:1]).scores
    assert {score.note for score in few} == {"no more than 100 samples have the factor"}
    with pytest.raises(ConfigError, match="neighbours: expected at least 0 and fewer than the 20 samples, got 20"):
        Projection(samples=20, neighbours=20)
