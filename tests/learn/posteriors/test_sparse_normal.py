"""Spike and slab: density, moments, samples and the gradient of the choice."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from molyneux.core import CodeDistribution, ConfigError
from molyneux.learn.posteriors import DiagonalNormal, SparseNormal
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
