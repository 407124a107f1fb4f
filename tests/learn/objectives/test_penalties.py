"""Objectives of a single formula against that formula, and what all have in common."""

import dataclasses
import inspect

import numpy as np
import pytest
import torch
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from molyneux.core import ConfigError, Progress
from molyneux.core.config import build, plain
from molyneux.learn import objectives
from molyneux.learn.objectives import CCI, DIP, MAT, BetaVAE, Bound, FactorVAE, Objective, WarmupSteps

LISTED = [getattr(objectives, name) for name in objectives.__all__]
ALL = [item for item in LISTED if isinstance(item, type) and issubclass(item, Objective) and not inspect.isabstract(item)]
OBJECTIVES = [item for item in ALL if not issubclass(item, Bound)]


def divergences(sampled):
    """By dimension, from torch's own distributions."""
    posterior = Normal(sampled.posterior.loc, (0.5 * sampled.posterior.log_variance).exp())
    return kl_divergence(posterior, Normal(torch.zeros(()).double(), torch.ones(()).double())).detach().numpy()


def test_all_are_there():
    names = {"BetaTCVAE", "BetaVAE", "CCI", "DIP", "DReG", "ELBO", "FactorVAE", "IWAE", "MAT"}
    assert {item.__name__ for item in ALL} == names


@pytest.mark.parametrize("kind", ALL)
def test_it_is_made_from_a_file_and_written_to_one(kind):
    made = build(Objective, kind.__name__)
    assert made.value == kind()
    assert build(Objective, made.plain).value == kind()
    assert build(Objective, plain(kind())).value == kind()


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_bad_settings_are_told_all_at_once(kind):
    weights = [item.name for item in dataclasses.fields(kind) if item.type == "Weight"]
    with pytest.raises(ConfigError) as caught:
        kind(**dict.fromkeys(weights, -1.0))
    assert len(caught.value.problems) == len(weights) > 0


@pytest.mark.parametrize("kind", OBJECTIVES)
@pytest.mark.parametrize("weight", ["a", None])
def test_weights_that_are_none_are_told_all_at_once(kind, weight):
    weights = [item.name for item in dataclasses.fields(kind) if item.type == "Weight"]
    with pytest.raises(ConfigError) as caught:
        kind(**dict.fromkeys(weights, weight))
    assert [problem.partition(":")[0] for problem in caught.value.problems] == weights


def test_a_weight_that_may_be_left_out_may_be_nothing():
    assert DIP(diagonal=None) == DIP()
    with pytest.raises(ConfigError, match="diagonal: expected a number of at least 0 or a schedule"):
        DIP(diagonal="a")


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_the_rate_is_reported_whatever_is_minimised(kind, sample, cost_of):
    sampled = sample(400, 2)
    total, terms = cost_of(kind(**({"width": 8} if kind is FactorVAE else {})), sampled)
    rate = divergences(sampled).sum(1)
    if kind is MAT:
        assert terms["rate.shared"] != pytest.approx(rate.mean(), rel=0.01)
    else:
        assert terms["rate.shared"] == pytest.approx(rate.mean())
    assert total.requires_grad


def test_beta_weighs_the_divergence(sample, cost_of):
    sampled = sample(progress=Progress(5, 100))
    assert cost_of(BetaVAE(WarmupSteps(10, value=4.0)), sampled)[0].item() == pytest.approx(
        2 * divergences(sampled).sum(1).mean()
    )


def test_free_bits_press_no_dimension_that_tells_less(sample, cost_of):
    sampled = sample(50)
    each = divergences(sampled).mean(0)
    free = float(np.sort(each)[:2].mean())
    total, terms = cost_of(BetaVAE(3.0, free_bits=free), sampled)
    assert total.item() == pytest.approx(3 * np.maximum(free, each).sum())
    assert terms["paid"] == pytest.approx(np.maximum(free, each).sum())
    total.backward()
    pressed = sampled.posterior.loc.grad.abs().sum(0) > 0
    assert pressed.tolist() == (each > free).tolist()
    assert 0 < pressed.sum() < 3


def test_capacity_of_each_sample_and_of_the_batch(sample, cost_of):
    sampled = sample(progress=Progress(1000, 3750))
    rate = divergences(sampled).sum(1)
    target = WarmupSteps(5000, value=5 * float(np.median(rate)))
    each, _ = cost_of(CCI(1.5, target), sampled)
    batch, terms = cost_of(CCI(1.5, target, per="batch"), sampled)
    assert each.item() == pytest.approx(1.5 * np.abs(rate - np.median(rate)).mean())
    assert batch.item() == pytest.approx(1.5 * abs(rate.mean() - np.median(rate)))
    assert terms["gap"] == pytest.approx(batch.item() / 1.5)
    assert each > batch


@pytest.mark.parametrize("kind", ["I", "II"])
def test_covariances_are_matched(kind, sample, cost_of):
    sampled = sample(40)
    means, variances = sampled.posterior.mean.detach().numpy(), sampled.posterior.variance.detach().numpy()
    covariance = np.cov(means.T, ddof=0) + (np.diag(variances.mean(0)) if kind == "II" else 0)
    diagonal = ((np.diag(covariance) - 1) ** 2).sum()
    outside = (covariance**2).sum() - (np.diag(covariance) ** 2).sum()
    rate = divergences(sampled).sum(1).mean()
    factor = {"I": 10, "II": 1}[kind]
    assert cost_of(DIP(kind, 5.0), sampled)[0].item() == pytest.approx(rate + 5 * outside + 5 * factor * diagonal)
    chosen = DIP(kind, 5.0, diagonal=0.5, beta=2.0)
    assert cost_of(chosen, sampled)[0].item() == pytest.approx(2 * rate + 5 * outside + 0.5 * diagonal)


def test_the_covariance_of_kind_two_is_that_of_the_codes(sample):
    sampled = sample(200, 2)
    codes = sampled.posterior.rsample((4000,), torch.Generator().manual_seed(1)).detach().flatten(0, 1)
    means = sampled.posterior.mean.detach()
    expected = torch.cov(means.T, correction=0) + sampled.posterior.variance.mean(0).diag()
    torch.testing.assert_close(torch.cov(codes.T), expected, atol=0.02, rtol=0.01)


def test_standard_codes_have_a_small_total_correlation_and_dependent_ones_a_large_one(sample, cost_of):
    # The sign of FactorVAE's term, with a discriminator that was given the exact log-odds of two normals.
    covariance = torch.tensor([[1.0, 0.8], [0.8, 1.0]]).double()
    joint = MultivariateNormal(torch.zeros(2).double(), covariance)
    codes = joint.sample((50_000,))
    odds = joint.log_prob(codes) - Normal(0.0, 1.0).log_prob(codes).sum(-1)
    assert odds.mean().item() == pytest.approx(-0.5 * torch.logdet(covariance).item(), abs=0.01)
