import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from molyneux.core import ConfigError
from molyneux.measure import Clustering
from molyneux.measure.clustering import adjusted_rand_index, contingency, normalised_mutual_information, purity


@pytest.mark.parametrize("seed", range(8))
def test_scores_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, rng.integers(1, 6), 40)
    clusters = np.where(rng.random(40) < 0.5, labels, rng.integers(0, 4, 40))
    table = contingency(labels, clusters)
    assert normalised_mutual_information(table) == pytest.approx(normalized_mutual_info_score(labels, clusters))
    assert adjusted_rand_index(table) == pytest.approx(adjusted_rand_score(labels, clusters))
    most = [np.bincount(labels[clusters == cluster]).max() for cluster in np.unique(clusters)]
    assert purity(table) == pytest.approx(sum(most) / 40)


def test_codes_that_are_ordered_by_shape_have_clusters_of_shapes(tiny):
    """The oracle's code is the number of the combination: three stretches of eight are the shapes; the tilt is its last digit."""
    measured = Clustering()(tiny.evaluation(tiny.Oracle(), n=900))
    for name, best in (("nmi", 1), ("ari", 1), ("purity", 100)):
        score = tiny.find(measured, f"clustering.{name}", source="image", factor="shape", code="shared")
        assert score.value > 0.7 * best
        assert score.interval[0] > score.chance
        tilt = tiny.find(measured, f"clustering.{name}", source="image", factor="tilt", code="shared")
        assert tilt.value < 0.5 * best
    assert tiny.find(measured, "clustering.purity", source="image", factor="tilt").chance == pytest.approx(30, abs=4)
    assert abs(tiny.find(measured, "clustering.ari", source="image", factor="tilt").chance) < 0.01


def test_samples_without_the_factor_are_left_out(tiny):
    rows = tiny.rows(200)
    factors = tiny.combinations[rows].copy()
    factors[:100, 0] = -1
    factors[:, 1] = 0
    source = tiny.Source(rows, factors=factors)
    measured = Clustering()(tiny.evaluation(tiny.Oracle(), source=source))
    assert tiny.find(measured, "clustering.nmi", source="image", factor="shape").n == 100
    assert tiny.find(measured, "clustering.nmi", source="image", factor="size").note.startswith("the samples show fewer than two")


def test_settings_that_cannot_be_used_are_all_told():
    with pytest.raises(ConfigError) as error:
        Clustering(samples=1, starts=0, permutations=0)
    assert len(error.value.problems) == 3
