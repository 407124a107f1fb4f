import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from molyneux.core import SpecError
from molyneux.measure.posterior_gap import active_units, gaussian_kl, marginal_kl, sliced_wasserstein


def clouds(n=400, dimensions=3, seed=0):
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(dimensions, dimensions))
    return rng.normal(size=(n, dimensions)) @ mixing + 0.5, rng.normal(size=(n, dimensions))


def test_marginal_kl_agrees_with_torch():
    codes, prior = clouds()
    fitted = [Normal(torch.from_numpy(draws.mean(0)), torch.from_numpy(draws.std(0))) for draws in (codes, prior)]
    assert marginal_kl(codes, prior) == pytest.approx(kl_divergence(*fitted).numpy())


def test_gaussian_kl_agrees_with_torch():
    codes, prior = clouds()
    moments = [(torch.from_numpy(draws.mean(0)), torch.from_numpy(np.cov(draws, rowvar=False))) for draws in (codes, prior)]
    fitted = [MultivariateNormal(mean, covariance) for mean, covariance in moments]
    assert gaussian_kl(codes, prior) == pytest.approx(kl_divergence(*fitted).item())


def test_gaussian_kl_sees_correlations_that_the_marginals_do_not():
    rng = np.random.default_rng(0)
    first = rng.normal(size=20_000)
    codes = np.stack([first, 0.9 * first + np.sqrt(1 - 0.81) * rng.normal(size=20_000)], 1)
    prior = rng.normal(size=(20_000, 2))
    assert marginal_kl(codes, prior).sum() < 0.01
    assert gaussian_kl(codes, prior) == pytest.approx(-0.5 * np.log(1 - 0.81), abs=0.03)


def test_codes_that_fill_no_space_are_infinitely_far():
    prior = np.random.default_rng(0).normal(size=(50, 2))
    assert gaussian_kl(np.stack([prior[:, 0]] * 2, 1), prior) > 10
    assert gaussian_kl(np.zeros((50, 2)), prior) == np.inf


def test_sliced_wasserstein_of_a_shift_is_its_length_over_the_root_of_the_dimensions():
    codes = np.random.default_rng(0).normal(size=(500, 4))
    shift = np.array([3.0, 0.0, -1.0, 2.0])
    distance = sliced_wasserstein(codes, codes + shift, np.random.default_rng(1), projections=20_000)
    assert distance == pytest.approx(np.linalg.norm(shift) / 2, rel=0.02)


def test_in_one_dimension_it_bounds_scipys_distance():
    first, second = (cloud[:, :1] for cloud in clouds())
    distance = sliced_wasserstein(first, second, np.random.default_rng(0))
    assert distance >= wasserstein_distance(first[:, 0], second[:, 0])
    assert distance == pytest.approx(np.sqrt(np.mean((np.sort(first[:, 0]) - np.sort(second[:, 0])) ** 2)))


@given(st.integers(0, 50))
def test_distances_are_not_negative_and_vanish_at_home(seed):
    codes, prior = clouds(50, 2, seed)
    assert (marginal_kl(codes, prior) >= 0).all()
    assert gaussian_kl(codes, prior) >= -1e-9
    assert gaussian_kl(codes, codes) == pytest.approx(0, abs=1e-9)
    assert sliced_wasserstein(codes, codes[::-1], np.random.default_rng(0)) == pytest.approx(0, abs=1e-12)


def test_active_units_vary():
    means = np.random.default_rng(0).normal(size=(1000, 4)) * [1.0, 0.05, 0.2, 0.0]
    assert active_units(means) == 2


def test_shapes_have_to_fit():
    with pytest.raises(SpecError, match="two clouds"):
        marginal_kl(np.zeros((5, 2)), np.zeros((5, 3)))
