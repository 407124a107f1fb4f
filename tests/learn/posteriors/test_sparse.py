"""Spike and slab, with a known and an uncertain probability: densities, moments, samples, divergences and gradients."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, stats
from torch.distributions import Beta, kl_divergence

from molyneux.core import CodeDistribution, ConfigError
from molyneux.learn.posteriors import DiagonalNormal, HierarchicalSparse, SparseNormal, SpikePrior
from molyneux.learn.priors import SpikeAndSlab

LOC, VARIANCE, WEIGHT, SPIKE = 0.7, 0.3, 0.6, 0.1


def mixture(shape=(1,), weight=WEIGHT):
    loc = torch.full(shape, LOC, dtype=torch.float64)
    return SparseNormal(
        DiagonalNormal(loc, torch.tensor(VARIANCE, dtype=torch.float64).log()),
        torch.tensor(weight, dtype=torch.float64).logit(),
        SPIKE,
    )


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def test_density_of_the_published_prior():
    values = torch.tensor([0, 0.05, 0.1, 0.2, 1, 2]).double().unsqueeze(-1)
    known = [1.866073, 1.374024, -0.058428, -2.521365, -3.028376, -4.528376]
    assert SpikeAndSlab().of((1,), values).log_prob(values).tolist() == pytest.approx(known, abs=1e-6)


def test_density_agrees_with_scipy():
    values = np.linspace(-4, 4, 50)
    known = WEIGHT * stats.norm.pdf(values, scale=SPIKE) + (1 - WEIGHT) * stats.norm.pdf(values, LOC, math.sqrt(VARIANCE))
    found = mixture().log_prob_per_dimension(torch.from_numpy(values).unsqueeze(-1))
    np.testing.assert_allclose(found.exp().squeeze(-1).numpy(), known)


def test_samples_follow_the_density():
    made: CodeDistribution = mixture()
    drawn = made.rsample((20_000,), noise()).squeeze(-1).numpy()

    def distribution(value):
        return WEIGHT * stats.norm.cdf(value, scale=SPIKE) + (1 - WEIGHT) * stats.norm.cdf(value, LOC, math.sqrt(VARIANCE))

    assert stats.kstest(drawn, distribution).pvalue > 0.01
    assert drawn.mean() == pytest.approx(made.mean.item(), abs=0.02)
    assert drawn.std() == pytest.approx(made.stddev.item(), abs=0.02)


def test_shapes():
    made = mixture((5, 3))
    assert made.rsample((2, 4)).shape == (2, 4, 5, 3)
    assert made.log_prob(torch.zeros(2, 4, 5, 3)).shape == (2, 4, 5)


def test_the_choice_is_hard_and_its_gradient_has_the_right_sign():
    odds = torch.zeros(20_000, 1, dtype=torch.float64, requires_grad=True)
    made = SparseNormal(DiagonalNormal(torch.full_like(odds, 3.0), torch.tensor(-4.0).double()), odds, 0.01)
    drawn = made.rsample((), noise(), temperature=0.5)
    assert ((drawn.abs() < 0.1) | (drawn > 1.5)).all()
    drawn.mean().backward()
    # More spike, smaller codes: d mean / d odds is -(slab mean) w (1 - w); the relaxed choice has a slope of that size.
    slope = odds.grad.sum().item()
    assert -3 * 0.25 * 1.5 < slope < -3 * 0.25 * 0.5
    unreached = torch.autograd.grad(made.rsample((), noise()).sum() + 0 * odds.sum(), odds)[0]
    assert unreached.abs().max() == 0


@pytest.mark.parametrize("settings", [{"weight": 1.0}, {"spike": 0.0}, {"slab": -1.0}, {"weight": 0.0}])
def test_what_cannot_be_is_refused(settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        SpikeAndSlab(**settings)


PRIOR = SpikePrior(4.0, 2.0, 0.1)


def drawn(shape=(4, 3), seed=0):
    generator = torch.Generator().manual_seed(seed)
    loc, log_variance, *ratios = (torch.randn(shape, generator=generator).double() for _ in range(4))
    return HierarchicalSparse(loc, log_variance, torch.stack(ratios), PRIOR)


def test_the_density_is_the_mean_over_probabilities():
    made = drawn((1, 1))
    a, b = (item.item() for item in made.concentrations)
    for value in (-1.0, 0.05, 0.8):
        spike, slab = stats.norm.pdf(value, scale=0.1), stats.norm.pdf(value, made.loc.item(), made.slab.stddev.item())
        mean = integrate.quad(
            lambda gamma, spike=spike, slab=slab: stats.beta.pdf(gamma, a, b) * (gamma * spike + (1 - gamma) * slab), 0, 1
        )[0]
        assert made.log_prob(torch.tensor([[value]]).double()).exp().item() == pytest.approx(mean)


def test_draws_follow_the_marginal():
    made = drawn((1, 1))
    many = HierarchicalSparse(
        *(item.expand(20_000, 1) for item in (made.loc, made.log_variance)), made.log_ratios.expand(2, 20_000, 1), PRIOR
    )
    first = many.draw(torch.Generator().manual_seed(1), temperature=0.5).codes.flatten().numpy()
    second = many.rsample((), torch.Generator().manual_seed(2)).flatten().numpy()
    assert stats.ks_2samp(first, second).pvalue > 0.01
    assert first.mean() == pytest.approx(made.mean.item(), abs=0.03)
    assert first.std() == pytest.approx(made.stddev.item(), abs=0.03)
    assert made.variance.item() == pytest.approx(made.stddev.item() ** 2)


def test_divergence_of_probabilities_agrees_with_torch():
    made = drawn()
    known = kl_divergence(Beta(*made.concentrations), Beta(torch.tensor(4.0).double(), torch.tensor(2.0).double()))
    torch.testing.assert_close(made.kl_of_probability(), known)
    single = HierarchicalSparse(torch.zeros(2, 2), torch.zeros(2, 2))
    assert single.kl_per_dimension().abs().max() < 1e-6


def test_the_bound_is_the_divergence_where_spike_and_slab_lie_apart_and_larger_elsewhere():
    apart = HierarchicalSparse(
        *(torch.full((100_000, 1), number).double() for number in (6.0, -4.0)), prior=SpikePrior(3.0, 3.0, 0.01)
    )
    estimate = {}
    for name, made in (("apart", apart), ("near", apart.where(torch.zeros(100_000, dtype=torch.bool)))):
        made = HierarchicalSparse(made.loc, made.log_variance - float(name == "near"), prior=made.settings)
        one = made.draw(torch.Generator().manual_seed(0), temperature=0.5)
        estimate[name] = (
            (one.given.log_prob(one.codes) - one.prior.log_prob(one.codes)).mean().item(),
            made.kl_of_code().mean().item(),
        )
    assert estimate["apart"][0] == pytest.approx(estimate["apart"][1], rel=0.02)
    assert 0 < estimate["near"][0] < estimate["near"][1]


def test_gradients_reach_every_parameter_without_bias():
    loc, log_variance, log_ratios = (torch.zeros(50_000, 1).double() + 0.5 for _ in range(3))
    ratio = torch.tensor(0.3).double().requires_grad_()
    made = HierarchicalSparse(loc, log_variance, torch.stack([log_ratios * 0 + ratio, log_ratios * 0]), PRIOR)
    one = made.draw(torch.Generator().manual_seed(0), temperature=0.5)
    one.given.log_odds.sigmoid().mean().backward()
    a = 4 * np.exp(0.3)
    assert ratio.grad.item() == pytest.approx(a * 2 / (a + 2) ** 2, rel=0.02)  # d/dr of a / (a + b)


def test_parts_and_places():
    made, mask = drawn((2, 5, 3)), torch.tensor([[True, False, True, True, False], [True] * 5])
    kept = made.where(mask)
    assert torch.equal(kept[0].loc[1], torch.zeros(3).double())
    torch.testing.assert_close(
        kept[0].log_prob(kept[0].loc)[[1, 4]],
        HierarchicalSparse(*(torch.zeros(2, 3).double(),) * 2, prior=PRIOR).log_prob(torch.zeros(2, 3).double()),
    )
    assert torch.equal(kept[1].log_ratios, made.log_ratios[:, 1])
    assert torch.equal(made[0][mask[0]].concentrations[0], made.concentrations[0][0][mask[0]])


@pytest.mark.parametrize("settings", [{"spikes": 0.0}, {"slabs": -1.0}, {"spike": 0.0}])
def test_a_prior_that_cannot_be_is_refused(settings):
    with pytest.raises(Exception, match=next(iter(settings))):
        SpikePrior(**settings)
