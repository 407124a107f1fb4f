import math

import pytest
import torch
from scipy import stats
from torch.distributions import Laplace, Normal, kl_divergence

from molyneux.core import CodeDistribution
from molyneux.learn.posteriors import DiagonalLaplace, DiagonalNormal, expert_parameters

SHAPE = (5, 3)


def draw(family, seed=0):
    generator = torch.Generator().manual_seed(seed)
    loc = torch.randn(SHAPE, generator=generator)
    return family(loc, torch.randn(SHAPE, generator=generator))


def reference(distribution):
    if isinstance(distribution, DiagonalNormal):
        return Normal(distribution.loc, distribution.log_variance.exp().sqrt())
    return Laplace(distribution.loc, (distribution.log_variance.exp() / 2).sqrt())


def standard(family):
    return Normal(0.0, 1.0) if family is DiagonalNormal else Laplace(0.0, 1.0)


@pytest.fixture(params=[DiagonalNormal, DiagonalLaplace])
def family(request):
    return request.param


def test_moments_and_density_agree_with_torch(family):
    ours = draw(family)
    theirs = reference(ours)
    value = torch.randn(4, *SHAPE)
    torch.testing.assert_close(ours.mean, theirs.mean)
    torch.testing.assert_close(ours.stddev, theirs.stddev)
    torch.testing.assert_close(ours.variance, theirs.variance)
    torch.testing.assert_close(ours.log_prob(value), theirs.log_prob(value).sum(-1))


def test_divergence_agrees_with_torch(family):
    ours = draw(family)
    torch.testing.assert_close(ours.kl_per_dimension(), kl_divergence(reference(ours), standard(family)))
    torch.testing.assert_close(ours.kl(), ours.kl_per_dimension().sum(-1))


def test_divergence_by_hand():
    """(0 + 1 + 1 - 1) / 2 of mean 1 and log-variance 0, (1 + 0.25 + exp(-1) - 1) / 2 of mean -0.5 and log-variance -1."""
    posterior = DiagonalNormal(torch.tensor([[1.0, -0.5]], dtype=torch.float64), torch.tensor([[0.0, -1.0]], dtype=torch.float64))
    assert posterior.kl().item() == pytest.approx(0.8089397206, abs=1e-10)


def test_divergence_agrees_with_monte_carlo(family):
    ours, prior = draw(family), family.standard(SHAPE)
    codes = ours.rsample((200_000,), torch.Generator().manual_seed(1))
    estimates = ours.log_prob(codes) - prior.log_prob(codes)
    error = estimates.std(0) / math.sqrt(len(estimates))
    assert ((estimates.mean(0) - ours.kl()).abs() < 5 * error).all()


def test_the_prior_has_no_divergence_from_itself(family):
    # A standard deviation of 1/n, as a softmax would give it, cannot reach the prior; log-variance 0 does.
    torch.testing.assert_close(family.standard((2, 24)).kl(), torch.zeros(2), atol=1e-5, rtol=0)


@pytest.mark.parametrize(("size", "floor"), [(10, 18.076), (16, 36.392), (24, 64.294), (32, 94.918)])
def test_divergence_of_a_standard_deviation_of_one_over_n(size, floor):
    posterior = DiagonalNormal(torch.zeros(1, size), torch.full((1, size), 2 * math.log(1 / size + 1e-6)))
    assert posterior.kl().item() == pytest.approx(floor, abs=1e-3)


def test_samples_follow_the_distribution(family):
    ours = family(torch.tensor([[0.7]]), torch.tensor([[-1.0]]))
    sample = ours.rsample((20_000,), torch.Generator().manual_seed(2)).flatten().numpy()
    scale = math.exp(-0.5)
    known = stats.norm(0.7, scale) if family is DiagonalNormal else stats.laplace(0.7, scale / math.sqrt(2))
    assert stats.kstest(sample, known.cdf).pvalue > 1e-3


def test_samples_are_reparameterised(family):
    loc, log_variance = torch.zeros(1, 2, requires_grad=True), torch.zeros(1, 2, requires_grad=True)
    family(loc, log_variance).rsample((3,)).square().sum().backward()
    assert loc.grad.abs().min() > 0
    assert log_variance.grad.abs().min() > 0


def test_the_same_generator_gives_the_same_samples(family):
    ours = draw(family)
    first, second = (ours.rsample((2,), torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(first, ours.rsample((2,), torch.Generator().manual_seed(4)))


def test_where_puts_the_prior_and_hides_nan(family):
    loc = torch.tensor([[1.0], [float("nan")]], requires_grad=True)
    kept = family(loc, torch.zeros_like(loc)).where(torch.tensor([True, False]))
    assert kept.loc.tolist() == [[1.0], [0.0]]
    assert kept.kl()[1].item() == pytest.approx(0.0, abs=1e-6)
    kept.rsample((), torch.Generator().manual_seed(0)).sum().backward()
    assert loc.grad.tolist() == [[1.0], [0.0]]


def test_expert_parameters_bound_the_variance_once_and_softly():
    raw = torch.tensor([[0.5, 0.0], [3.0, 1000.0]])
    loc, log_variance = expert_parameters(raw)
    assert loc.tolist() == [[0.5], [3.0]]
    assert log_variance[0].item() == 0.0
    assert log_variance[1].item() == pytest.approx(10.0)
    small = expert_parameters(torch.tensor([[0.0, 0.1]]))[1].item()
    assert small == pytest.approx(0.1, abs=1e-4)
    assert expert_parameters(raw.to(torch.bfloat16))[1].dtype == torch.float32


def test_it_is_a_code_distribution(family):
    distribution: CodeDistribution = draw(family)
    assert distribution.rsample((7,)).shape == (7, *SHAPE)
