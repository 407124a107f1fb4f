import math

import pytest
import torch
from scipy import stats
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal

from molyneux.learn.posteriors import DiagonalLaplace, DiagonalNormal, Mixture, WhereConditional

WEIGHTS = torch.tensor([[0.2, 0.0], [0.5, 1.0], [0.3, 0.0]])


def mixture(family=DiagonalNormal, weights=WEIGHTS):
    generator = torch.Generator().manual_seed(0)
    shape = (*weights.shape, 2)
    return Mixture(family(3 * torch.randn(shape, generator=generator), torch.randn(shape, generator=generator)), weights)


def test_density_and_moments_agree_with_torch():
    ours = mixture(weights=torch.tensor([[0.2, 0.6], [0.5, 0.1], [0.3, 0.3]]))
    parts = ours.components
    each = Independent(Normal(parts.loc.transpose(0, 1), parts.stddev.transpose(0, 1)), 1)
    theirs = MixtureSameFamily(Categorical(ours.weights.T), each)
    value = torch.randn(4, 2, 2)
    torch.testing.assert_close(ours.log_prob(value), theirs.log_prob(value))
    torch.testing.assert_close(ours.mean, theirs.mean)
    torch.testing.assert_close(ours.stddev, theirs.stddev)


@pytest.mark.parametrize("family", [DiagonalNormal, DiagonalLaplace])
def test_density_by_brute_force(family):
    ours, value = mixture(family), torch.randn(2, 2)
    for sample in range(2):
        total = 0.0
        for component in range(3):
            part = family(ours.components.loc[component, sample], ours.components.log_variance[component, sample])
            total += ours.weights[component, sample].item() * part.log_prob(value[sample]).exp().item()
        assert ours.log_prob(value)[sample].item() == pytest.approx(math.log(total), rel=1e-5)


def test_components_are_drawn_per_sample_by_weight():
    loc = torch.tensor([-100.0, 0.0, 100.0]).reshape(3, 1, 1).expand(3, 2, 1)
    ours = Mixture(DiagonalNormal(loc, torch.zeros(3, 2, 1)), WEIGHTS)
    codes = ours.rsample((30_000,), torch.Generator().manual_seed(0)).squeeze(-1)
    assert codes.shape == (30_000, 2)
    counts = [((codes[:, 0] / 100).round() == k).sum().item() for k in (-1, 0, 1)]
    assert stats.chisquare(counts, [6000, 15000, 9000]).pvalue > 1e-3
    assert (codes[:, 1].abs() < 50).all()  # a component of weight 0 is never drawn


def test_samples_of_one_batch_choose_on_their_own():
    size = 64
    loc = torch.tensor([-100.0, 100.0]).reshape(2, 1, 1).expand(2, size, 1)
    ours = Mixture(DiagonalNormal(loc, torch.zeros(2, size, 1)), torch.full((2, size), 0.5))
    signs = [ours.rsample((), torch.Generator().manual_seed(seed)).sign().flatten() for seed in (0, 1)]
    assert 10 < (signs[0] > 0).sum() < 54
    assert not torch.equal(signs[0], signs[1])


def test_stratified_samples_come_from_every_component():
    ours = mixture()
    codes = ours.stratified(20_000, torch.Generator().manual_seed(0))
    assert codes.shape == (20_000, 3, 2, 2)
    torch.testing.assert_close(codes.mean(0), ours.components.loc, atol=0.1, rtol=0)


@pytest.mark.parametrize("family", [DiagonalNormal, DiagonalLaplace])
def test_the_bound_is_above_the_divergence(family):
    ours, prior = mixture(family), family.standard((2, 2))
    codes = ours.rsample((100_000,), torch.Generator().manual_seed(0))
    divergence = (ours.log_prob(codes) - prior.log_prob(codes)).mean(0)
    assert (divergence <= ours.kl_bound() + 0.05).all()
    assert divergence[1].item() == pytest.approx(ours.kl_bound()[1].item(), rel=0.02)  # one component: they are equal


def test_gradient_reaches_the_components():
    parts = torch.randn(2, 3, 2, requires_grad=True)
    Mixture(DiagonalNormal(parts, torch.zeros_like(parts)), torch.full((2, 3), 0.5)).rsample((50,)).sum().backward()
    assert (parts.grad > 0).all()


def test_one_of_two_distributions():
    first, second = DiagonalNormal(torch.full((3, 1), 9.0), torch.full((3, 1), -9.0)), DiagonalNormal.standard((3, 1))
    mixed = WhereConditional(torch.tensor([True, False, True]), first, second).given(torch.zeros(3, 5))
    assert mixed.mean.flatten().tolist() == [9, 0, 9]
    drawn = mixed.rsample((100,), torch.Generator().manual_seed(0))
    assert drawn.shape == (100, 3, 1)
    assert (drawn > 5).all(0).flatten().tolist() == [True, False, True]
