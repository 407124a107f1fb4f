"""Priors fitted after training: the density, its conditional, and the models that use it."""

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from molyneux.core import ConfigError, Progress, PostFit
from molyneux.data import ArraySource
from molyneux.learn.posteriors import DiagonalNormal
from molyneux.learn.priors import CodeDensity, ExPostMixture, Somewhere, collect_codes
from molyneux.learn.vaes import DMVAE, MVAE

START = (Progress(0, 10), torch.Generator().manual_seed(1))


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


@pytest.mark.parametrize("model", [DMVAE, MVAE])
def test_a_model_settles(model, build, batch_of):
    settings = {"private_dim": {"image": 2}} if model is DMVAE else {}
    made = build(model, 2, prior=ExPostMixture(components=4, samples=600), **settings)
    plain = build(model, 2, **settings)
    batch = batch_of(made.spec, 600)
    assert isinstance(made, PostFit)
    source = ArraySource(made.spec, batch)
    before = made.prior(10).rsample(1, noise())[0].shared.std()
    with torch.no_grad():
        for part in made.encoders.values():
            *_, last = [item for item in part.modules() if isinstance(item, torch.nn.Linear)]
            last.bias[:4] = 5.0
    made.post_fit(source, seed=3)
    drawn = made.prior(4000).rsample(1, noise())[0]
    codes, private = collect_codes(made, made.spec, source, 600, seed=3)
    np.testing.assert_allclose(drawn.shared.mean(0).numpy(), codes.mean(0), atol=0.2)
    assert drawn.shared.mean() > 1.0 > abs(before - 1)
    assert set(drawn.private) == set(private)
    loss, other = (item.loss(batch, *START) for item in (made, plain))
    assert loss.terms.keys() == other.terms.keys()
    assert made.log_likelihood(batch[:5], 3, noise()).isfinite().all()
    twin = build(model, 2, prior=ExPostMixture(components=4, samples=600), **settings)
    twin.load_state_dict(made.state_dict())
    assert torch.equal(twin.prior(9).rsample(2, noise()).shared, made.prior(9).rsample(2, noise()).shared)


def test_what_is_not_observed_follows_the_prior_given_the_shared_code(build, batch_of):
    model = build(DMVAE, 2, private_dim=2, prior=ExPostMixture(components=2, samples=50))
    for made in (*model.fitted.private.values(), model.fitted.shared):
        made.means.normal_(generator=noise())
        made.scale.mul_(0.01)
    batch = batch_of(model.spec, 40, missing=0.5)
    posterior = model.encode(batch)
    codes = posterior.rsample(3, noise())
    mask = batch.mask("image")
    means = model.fitted.private["image"].given(codes.shared).means
    nearest = (codes.private["image"].unsqueeze(-2) - means).norm(dim=-1).amin(-1)
    assert nearest[:, ~mask].max() < 0.1 < nearest[:, mask].median()
    torch.testing.assert_close(posterior.log_prob(codes)[:, mask], model.encode(batch[mask]).log_prob(codes[:, mask]))
    nothing = batch.observe([])
    assert model.log_likelihood(nothing, 4, noise()).abs().max() < 1e-4


def test_one_of_two_distributions():
    first, second = DiagonalNormal(torch.full((3, 1), 9.0), torch.full((3, 1), -9.0)), DiagonalNormal.standard((3, 1))
    mixed = Somewhere(torch.tensor([True, False, True]), first, second).given(torch.zeros(3, 5))
    assert mixed.mean.flatten().tolist() == [9, 0, 9]
    drawn = mixed.rsample((100,), noise())
    assert drawn.shape == (100, 3, 1)
    assert (drawn > 5).all(0).flatten().tolist() == [True, False, True]


@pytest.mark.parametrize("settings", [{"components": 0}, {"samples": 0}])
def test_settings_are_checked(settings):
    with pytest.raises(ConfigError, match="expected at least 1, got 0"):
        ExPostMixture(**settings)
