import numpy as np
import pytest
import scipy.linalg
from sklearn.metrics.pairwise import polynomial_kernel

from molyneux.core import DataError
from molyneux.measure.fidelity import frechet_distance, kernel_distance, neighbourhoods
from molyneux.measure.fidelity.distances import GROUPS, kernel_distances, left_out_distances


def left_out_kernel_distances(first, second):
    return kernel_distances(first, second)[1]


def clouds(n, m, size=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, size)) @ rng.normal(size=(size, size)) + 3, rng.normal(size=(m, size)) * 1.5


def test_the_frechet_distance_is_that_of_scipys_matrix_root():
    first, second = clouds(200, 90)
    root = scipy.linalg.sqrtm(np.cov(first, rowvar=False) @ np.cov(second, rowvar=False)).real
    traces = np.trace(np.cov(first, rowvar=False) + np.cov(second, rowvar=False) - 2 * root)
    expected = np.square(first.mean(0) - second.mean(0)).sum() + traces
    assert frechet_distance(first, second) == pytest.approx(expected, rel=1e-8)
    assert frechet_distance(second, first) == pytest.approx(expected, rel=1e-8)
    assert frechet_distance(first + 1e5, second + 1e5) == pytest.approx(expected, rel=1e-6)


def test_the_frechet_distance_of_two_normal_distributions():
    """|m|^2 + sum (s1 - s2)^2 for covariances that commute, of samples with exactly these moments."""
    rng = np.random.default_rng(1)
    white = []
    for noise in rng.normal(size=(2, 500, 3)):
        centred = noise - noise.mean(0)
        white.append(centred @ np.linalg.inv(np.linalg.cholesky(np.cov(centred, rowvar=False))).T)
    first, second = white[0] * [1, 2, 3] + [1, 0, 2], white[1] * [2, 2, 1]
    assert frechet_distance(first, second) == pytest.approx(1 + 4 + 1 + 0 + 4, rel=1e-9)
    assert frechet_distance(first, first) == pytest.approx(0, abs=1e-9)


def test_covariances_without_full_rank_have_a_distance():
    first, second = np.zeros((4, 6)), np.ones((4, 6))
    assert frechet_distance(first, second) == pytest.approx(6)


def test_the_kernel_distance_is_a_double_sum():
    first, second = clouds(23, 31, size=4)

    def kernel(x, y):
        return (x @ y / 4 + 1) ** 3

    own = np.mean([kernel(x, y) for i, x in enumerate(first) for j, y in enumerate(first) if i != j])
    other = np.mean([kernel(x, y) for i, x in enumerate(second) for j, y in enumerate(second) if i != j])
    across = np.mean([kernel(x, y) for x in first for y in second])
    assert kernel_distance(first, second) == pytest.approx(own + other - 2 * across)


def test_the_kernel_distance_has_no_bias():
    """The mean over pairs of samples of one distribution is 0."""
    rng = np.random.default_rng(0)
    found = [kernel_distance(*rng.normal(size=(2, 15, 3))) for _ in range(400)]
    assert abs(np.mean(found)) < 3 * np.std(found) / 20


def test_many_samples_are_summed_in_parts():
    first, second = np.random.default_rng(0).normal(size=(2, 1500, 3))
    kernels = [polynomial_kernel(x, y, 3, 1 / 3, 1) for x, y in ((first, first), (second, second), (first, second))]
    expected = sum((k.sum() - np.trace(k)) / 1500 / 1499 for k in kernels[:2]) - 2 * kernels[2].mean()
    assert kernel_distance(first, second) == pytest.approx(expected, rel=1e-9)


def test_products_in_32_bits_change_the_kernel_distance_by_less_than_a_part_in_ten_million():
    rng = np.random.default_rng(0)
    first, second = (np.maximum(rng.normal(size=(600, 64)) + shift, 0).astype(np.float32) for shift in (0.0, 0.1))
    one, other = (features.astype(np.float64) for features in (first, second))
    kernels = [polynomial_kernel(x, y, 3, 1 / 64, 1) for x, y in ((one, one), (other, other), (one, other))]
    expected = sum((k.sum() - np.trace(k)) / 600 / 599 for k in kernels[:2]) - 2 * kernels[2].mean()
    assert kernel_distance(first, second) == pytest.approx(expected, abs=1e-7 * kernels[2].mean())


def test_the_kernel_distance_of_large_features_is_computed_in_64_bits():
    first, second = np.full((3, 2), 2.0**60), np.zeros((3, 2))
    assert kernel_distance(first, second) == pytest.approx(2.0**360)


@pytest.mark.parametrize(
    ("distance", "left_out"), [(frechet_distance, left_out_distances), (kernel_distance, left_out_kernel_distances)]
)
def test_distances_without_a_group_are_those_of_the_others(distance, left_out):
    first, second = clouds(67, 45)
    rest = left_out(first, second)
    assert len(rest) == GROUPS
    for group in (0, 7, GROUPS - 1):
        parts = (
            [part for place, part in enumerate(np.array_split(cloud, GROUPS)) if place != group] for cloud in (first, second)
        )
        assert rest[group] == pytest.approx(distance(*map(np.concatenate, parts)), rel=1e-8)
    assert left_out(first[:30], second) == []


def test_intervals_cover_the_spread_of_repetitions():
    from molyneux.measure.scores import jackknife_interval

    rng, found, widths = np.random.default_rng(0), [], []
    for _ in range(60):
        first, second = rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 1
        value = frechet_distance(first, second)
        low, high = jackknife_interval(value, left_out_distances(first, second))
        found.append(value)
        widths.append(high - low)
    assert np.mean(widths) / 2 == pytest.approx(1.96 * np.std(found), rel=0.3)


def brute(real, made, k):
    def reach(cloud):
        return np.array([sorted(np.linalg.norm(cloud - x, axis=1))[k] for x in cloud])

    own, other = reach(real), reach(made)
    apart = np.array([[np.linalg.norm(x - y) for y in made] for x in real])
    return (
        (apart <= own[:, None]).any(0),
        (apart <= other).any(1),
        (apart <= own[:, None]).sum(0) / k,
        apart.min(1) <= own,
    )


@pytest.mark.parametrize("k", [1, 3, 5])
def test_neighbourhoods_are_those_of_the_definitions(k):
    real, made = clouds(60, 40, size=2)
    made = made + 2
    found = neighbourhoods(real, made, k=k)
    for got, expected in zip((found.precise, found.recalled, found.density, found.covered), brute(real, made, k), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_a_model_that_repeats_one_true_view_is_precise_and_recalls_nothing():
    real = np.random.default_rng(0).normal(size=(50, 3)) + 1000
    found = neighbourhoods(real, np.repeat(real[:1], 50, 0), k=3)
    assert found.precise.all()
    assert found.recalled.sum() == 1
    assert found.covered.sum() < 25


def test_features_that_cannot_be_compared_are_refused():
    good = np.ones((5, 2))
    for bad in (np.ones((5, 3)), np.ones((1, 2)), np.ones(5)):
        with pytest.raises(DataError, match="expected two sets of features"):
            frechet_distance(good, bad)
    with pytest.raises(DataError, match="expected finite features"):
        kernel_distance(good, np.full((5, 2), np.nan))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint64, bool, np.float16, np.float32])
def test_distances_of_any_numbers_are_those_of_float64(dtype):
    rng = np.random.default_rng(0)
    first, second = ((rng.integers(low, low + 100, (60, 4)) % (2 if dtype is bool else 127)).astype(dtype) for low in (0, 27))
    wide = first.astype(np.float64), second.astype(np.float64)
    for distance in (kernel_distance, frechet_distance):
        assert distance(first, second) == pytest.approx(distance(*wide), rel=1e-9)
    for left_out in (left_out_distances, left_out_kernel_distances):
        assert left_out(first, second) == pytest.approx(left_out(*wide), rel=1e-9)
    found, right = neighbourhoods(first, second), neighbourhoods(*wide)
    assert all(
        np.array_equal(getattr(found, name), getattr(right, name)) for name in ("precise", "recalled", "density", "covered")
    )


@pytest.mark.parametrize("distance", [kernel_distance, frechet_distance, neighbourhoods])
def test_features_that_are_no_real_numbers_are_refused(distance):
    with pytest.raises(DataError, match="expected features that are real numbers, got complex128"):
        distance(np.ones((5, 2), complex), np.ones((5, 2)))
