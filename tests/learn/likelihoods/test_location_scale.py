import math

import pytest
import torch
from torch import distributions as reference

from molyneux.core import ConfigError, Modality
from molyneux.learn.likelihoods import Bernoulli, Laplace, Normal

TOUCH = Modality("touch", "series", (7, 2))
BATCH = torch.Size((3, 4))
FAMILIES = {Normal: reference.Normal, Laplace: reference.Laplace}


@pytest.fixture(params=[Normal, Laplace])
def likelihood(request):
    return request.param


def raw_and_target():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(12, 1, 7, 2, generator=generator), torch.randn(4, 7, 2, generator=generator)


def test_log_probability_with_a_given_scale(likelihood):
    raw, target = raw_and_target()
    views = likelihood(scale=0.3).head(TOUCH)(raw, BATCH)
    loc = raw.reshape(3, 4, 7, 2)
    theirs = FAMILIES[likelihood](loc, 0.3)
    torch.testing.assert_close(views.log_prob(target), theirs.log_prob(target).sum((-1, -2)))
    assert torch.equal(views.mean, loc)
    assert views.stddev.item() == pytest.approx(theirs.stddev.flatten()[0].item())
    sample = views.sample((20_000,), torch.Generator().manual_seed(0))
    torch.testing.assert_close(sample.std(0), theirs.stddev, rtol=0.1, atol=0)
    torch.testing.assert_close(sample.mean(0), loc, atol=0.02, rtol=0)


def test_the_log_probability_is_the_same_without_gradient_and_nothing_else_is_written(likelihood):
    raw, target = raw_and_target()
    kept = raw.clone(), target.clone()
    head = likelihood(scale=0.3).head(TOUCH)
    with torch.no_grad():
        without = head(raw, BATCH).log_prob(target)
    assert torch.equal(raw, kept[0])
    assert torch.equal(target, kept[1])
    found = head(raw.requires_grad_(), BATCH).log_prob(target.requires_grad_())
    assert torch.equal(found, without)
    found.sum().backward()
    torch.testing.assert_close(target.grad, -raw.grad.reshape(3, 4, 7, 2).sum(0))


def test_a_learned_scale_is_learned(likelihood):
    raw, target = raw_and_target()
    head = likelihood(scale="learned").head(TOUCH)
    (log_scale,) = head.parameters()
    optimiser = torch.optim.Adam([log_scale], 0.05)
    for _ in range(300):
        optimiser.zero_grad()
        (-head(raw, BATCH).log_prob(target).mean()).backward()
        optimiser.step()
    distance = target - raw.reshape(3, 4, 7, 2)
    best = distance.square().mean().sqrt() if likelihood is Normal else distance.abs().mean()
    assert log_scale.exp().item() == pytest.approx(best.item(), rel=1e-2)


def test_the_optimal_scale_is_the_best_scale(likelihood):
    raw, target = raw_and_target()
    weight = torch.ones(BATCH)
    best = likelihood(scale="optimal").head(TOUCH)(raw, BATCH).fitted(target, weight).log_prob(target).sum()
    for scale in torch.linspace(0.2, 4.0, 77).tolist():
        assert likelihood(scale=scale).head(TOUCH)(raw, BATCH).log_prob(target).sum() <= best + 1e-3


def test_the_gradient_of_the_optimal_scale_is_that_of_d_log_sigma():
    raw, target = raw_and_target()
    raw.requires_grad_()
    views = Normal(scale="optimal").head(TOUCH)(raw, BATCH)
    (-views.fitted(target, torch.ones(BATCH)).log_prob(target)).sum().backward()
    gradient, raw.grad = raw.grad, None
    squared = (raw.reshape(3, 4, 7, 2) - target).square().mean()
    (12 * 14 * 0.5 * squared.log()).backward()
    torch.testing.assert_close(gradient, raw.grad)


def test_the_optimal_scale_does_not_look_at_absent_samples(likelihood):
    raw, target = raw_and_target()
    weight = torch.ones(BATCH)
    weight[:, 1] = 0
    far = target.clone()
    far[1] = 1000.0
    head = likelihood(scale="optimal").head(TOUCH)
    assert head(raw, BATCH).fitted(far, weight).log_scale == head(raw, BATCH).fitted(target, weight).log_scale
    assert head(raw, BATCH).fitted(target, torch.zeros(BATCH)).log_prob(target).isfinite().all()


def test_evaluation_uses_the_remembered_scale(likelihood):
    raw, target = raw_and_target()
    head = likelihood(scale="optimal").head(TOUCH)
    for _ in range(200):
        fitted = head(raw, BATCH).fitted(target, torch.ones(BATCH))
    head.eval()
    judged = head(raw, BATCH).fitted(10 * target, torch.ones(BATCH))
    assert judged.log_scale.item() == pytest.approx(fitted.log_scale.item(), abs=1e-3)
    assert "log_scale" in head.state_dict()


def test_a_perfect_reconstruction_has_a_finite_density(likelihood):
    raw = torch.zeros(12, 1, 7, 2, requires_grad=True)
    views = likelihood(scale="optimal").head(TOUCH)(raw, BATCH).fitted(torch.zeros(4, 7, 2), torch.ones(BATCH))
    log_probability = views.log_prob(torch.zeros(4, 7, 2))
    log_probability.sum().backward()
    assert log_probability.isfinite().all()
    assert raw.grad.isfinite().all()


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan, "large"])
def test_scales_that_cannot_be_used(likelihood, scale):
    with pytest.raises(ConfigError, match="scale"):
        likelihood(scale=scale)


@pytest.mark.parametrize("kind", [Normal, Bernoulli])
def test_every_view_under_every_distribution(kind):
    modality, rng = Modality("image", "image", (3, 4, 4), "uint8"), torch.Generator().manual_seed(0)
    made = kind().head(modality)(torch.randn(10, 1, 3, 4, 4, generator=rng), torch.Size((2, 5)))
    value = torch.rand(7, 3, 4, 4, generator=rng)
    found = made.log_prob_of_each(value)
    assert found.dtype == torch.float64
    assert found.shape == (2, 5, 7)
    for row in range(7):
        torch.testing.assert_close(found[..., row].float(), made.log_prob(value[row].expand(5, 3, 4, 4)))
