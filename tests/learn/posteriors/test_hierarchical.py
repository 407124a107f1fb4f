"""Spike and slab with uncertain probabilities: marginals, divergences and gradients."""

import numpy as np
import pytest
import torch
from scipy import integrate, stats
from torch.distributions import Beta, kl_divergence

from molyneux.learn.posteriors import HierarchicalSparse, SpikePrior

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
def test_what_cannot_be_is_refused(settings):
    with pytest.raises(Exception, match=next(iter(settings))):
        SpikePrior(**settings)
