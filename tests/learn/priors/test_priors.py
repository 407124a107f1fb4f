"""A density that is fitted to codes: its conditional and marginal, its samples, and the fit."""

import numpy as np
import pytest
import torch
from scipy import integrate, stats
from sklearn.mixture import GaussianMixture

from molyneux.core import ConfigError
from molyneux.learn.posteriors import DiagonalNormal
from molyneux.learn.priors import CodeDensity, ExPostMixture
from molyneux.learn.priors.prior import fit_mixture


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def density(components=3, shared=2, private=1, seed=0):
    """A density with drawn parameters, and scipy's normals of the same."""
    made = CodeDensity(components, shared, private)
    size = shared + private
    made.log_weights.copy_(torch.randn(components, generator=noise(seed)).log_softmax(0))
    made.means.copy_(torch.randn(components, size, generator=noise(seed + 1)))
    lower = 0.4 * torch.randn(components, size, size, generator=noise(seed + 2)).tril(-1)
    made.scale.copy_(lower + torch.diag_embed(0.3 + torch.rand(components, size, generator=noise(seed + 3))))
    pairs = zip(made.means.double().numpy(), made.scale.double().numpy(), strict=True)
    return made, [stats.multivariate_normal(mean, scale @ scale.T) for mean, scale in pairs]


def joint(made, normals, codes):
    return sum(weight * normal.pdf(codes) for weight, normal in zip(made.log_weights.exp().numpy(), normals, strict=True))


def test_the_conditional_is_the_joint_over_the_marginal():
    made, normals = density()
    codes = torch.randn(6, 3, generator=noise(9))
    marginal = made.marginal(6).log_prob(codes[:, :2])
    total = marginal + made.given(codes[:, :2]).log_prob(codes[:, 2:])
    np.testing.assert_allclose(total.exp().numpy(), joint(made, normals, codes.numpy()), rtol=2e-4)
    for row, told in zip(codes[:2].double().numpy(), marginal.exp(), strict=False):
        area = integrate.quad(lambda p, row=row: joint(made, normals, [*row[:2], p]), -12, 12, limit=200)[0]
        assert area == pytest.approx(told.item(), rel=1e-3)


def test_samples_follow_the_density():
    made, normals = density(private=2)
    drawn = made.marginal(1).rsample((40_000,), noise())
    private = made.given(drawn).rsample((), noise(5))
    codes = torch.cat([drawn, private], -1)[:, 0].double().numpy()
    weights = made.log_weights.exp().double().numpy()
    mean = sum(weight * normal.mean for weight, normal in zip(weights, normals, strict=True))
    second = sum(
        weight * (normal.cov_object.covariance + np.outer(normal.mean, normal.mean))
        for weight, normal in zip(weights, normals, strict=True)
    )
    np.testing.assert_allclose(codes.mean(0), mean, atol=0.03)
    np.testing.assert_allclose(codes.T @ codes / len(codes), second, atol=0.06)
    torch.testing.assert_close(made.marginal(1).mean[0], torch.tensor(mean[:2]).float(), rtol=1e-4, atol=1e-5)


def test_samples_and_densities_keep_leading_axes():
    made, _ = density(private=2)
    given = made.given(torch.randn(5, 7, 2, generator=noise()))
    assert given.mean.shape == (5, 7, 2)
    assert given.rsample((3,), noise()).shape == (3, 5, 7, 2)
    assert given.log_prob(torch.zeros(4, 5, 7, 2)).shape == (4, 5, 7)
    lone = given.log_prob(torch.ones(5, 7, 2))
    assert lone[2, 3] == pytest.approx(
        made.given(torch.randn(5, 7, 2, generator=noise())[2:3, 3:4]).log_prob(torch.ones(2)).item()
    )


def test_until_it_is_fitted_a_density_is_standard_normal():
    made, codes = CodeDensity(5, 2, 3), torch.randn(4, 5, generator=noise())
    standard = DiagonalNormal.standard((4, 3))
    torch.testing.assert_close(made.given(codes[:, :2]).log_prob(codes[:, 2:]), standard.log_prob(codes[:, 2:]))


def test_fitting_finds_what_codes_were_drawn_from():
    rng = np.random.default_rng(0)
    kind = rng.integers(2, size=4000)
    shared = np.where(kind, 3.0, -3.0) + 0.1 * rng.standard_normal(4000)
    angle = rng.uniform(0, 2 * np.pi, 4000)
    ring = np.c_[np.cos(angle), np.sin(angle)] * np.where(kind, 1.0, 3.0)[:, None]
    made = CodeDensity(32, 1, 2)
    made.fit(np.c_[shared, ring + 0.02 * rng.standard_normal((4000, 2))], seed=0)
    for place, radius in ((3.0, 1.0), (-3.0, 3.0)):
        drawn = made.given(torch.full((2000, 1), place)).rsample((), noise()).norm(dim=-1)
        assert (drawn - radius).abs().quantile(0.95) < 0.3 * radius
    again = CodeDensity(32, 1, 2)
    again.fit(np.c_[shared, ring], seed=0)
    few = CodeDensity(32, 1, 2)
    few.fit(np.c_[shared, ring][:30], seed=0)
    assert (few.log_weights.exp() > 0).sum() == 3
    assert few.given(torch.zeros(2, 1)).rsample((5,), noise()).isfinite().all()


@pytest.mark.parametrize("settings", [{"components": 0}, {"samples": 0}])
def test_settings_are_checked(settings):
    with pytest.raises(ConfigError, match="expected at least 1, got 0"):
        ExPostMixture(**settings)


def test_the_fit_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    codes = rng.standard_normal((4, 5))[rng.integers(4, size=3000)] * 3 + rng.standard_normal((3000, 5)) @ rng.standard_normal(
        (5, 5)
    )
    centre, spread = codes.mean(0), codes.std(0)
    theirs = GaussianMixture(6, random_state=3).fit((codes - centre) / spread)
    weights, means, scale = fit_mixture(codes, 6, 3)
    np.testing.assert_allclose(weights, theirs.weights_, atol=1e-4)
    np.testing.assert_allclose(means, theirs.means_ * spread + centre, atol=1e-3)
    np.testing.assert_allclose(scale, np.linalg.cholesky(theirs.covariances_) * spread[:, None], atol=1e-3)


def test_dimensions_that_say_nothing_have_a_floor():
    codes = np.c_[np.random.default_rng(0).standard_normal(500), np.zeros(500), np.ones(500)]
    made = CodeDensity(4, 3)
    made.fit(codes, seed=0)
    assert made.marginal(7).rsample((3,)).isfinite().all()
