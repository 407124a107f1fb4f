"""The decomposition of the divergence: closed forms, brute force over all batches, and disentanglement_lib's formula."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch.distributions import Normal

from molyneux.core import ConfigError, TrainingError
from molyneux.learn.objectives import BetaTCVAE
from molyneux.learn.objectives.total_correlation import aggregated, decompose, stratified_weights
from molyneux.learn.posteriors import DiagonalNormal


def densities(sampled):
    """log q(z_i,d | x_j), (B, B, D)."""
    posterior = Normal(sampled.posterior.loc, (0.5 * sampled.posterior.log_variance).exp())
    return posterior.log_prob(sampled.codes.unsqueeze(1))


def test_a_batch_that_is_the_data_set_gives_the_total_correlation_of_a_normal():
    # Posterior means of covariance R - v and posteriors of variance v: the aggregated posterior is normal with covariance R.
    generator = torch.Generator().manual_seed(0)
    correlation = torch.tensor([[1.0, 0.7, 0.2], [0.7, 1.0, 0.4], [0.2, 0.4, 1.0]]).double()
    variance, size = 0.25, 3000
    factor = torch.linalg.cholesky(correlation - variance * torch.eye(3).double())
    raw = torch.randn(size, 3, generator=generator).double()
    raw = (raw - raw.mean(0)) @ torch.linalg.inv(torch.linalg.cholesky(torch.cov(raw.T, correction=0))).T
    posterior = DiagonalNormal(raw @ factor.T, torch.tensor(math.log(variance)).double())
    parts = decompose(posterior, posterior.rsample((), generator), torch.tensor(-math.log(size)).double())
    assert parts.total_correlation.item() == pytest.approx(-0.5 * torch.logdet(correlation).item(), abs=0.03)
    assert parts.dimensions.item() == pytest.approx(0.0, abs=0.03)
    assert parts.information.item() == pytest.approx(0.5 * torch.logdet(correlation).item() - 1.5 * math.log(variance), abs=0.05)


def test_the_parts_are_the_divergence(sample, cost_of):
    sampled = sample(7)
    parts = decompose(sampled.posterior, sampled.codes, torch.tensor(-math.log(7.0)))
    prior = Normal(0.0, 1.0).log_prob(sampled.codes).sum(-1)
    estimate = (sampled.posterior.log_prob(sampled.codes) - prior).mean()
    assert sum(parts).item() == pytest.approx(estimate.item())
    each = densities(sampled)
    joint = (each.sum(-1).logsumexp(1) - math.log(7)).mean()
    product = (each.logsumexp(1) - math.log(7)).sum(-1).mean()
    assert parts.total_correlation.item() == pytest.approx((joint - product).item())
    assert parts.dimensions.item() == pytest.approx((product - prior.mean()).item())


@pytest.mark.parametrize("samples", [None, 1000])
def test_without_a_size_its_gradient_is_that_of_disentanglement_lib(samples, sample, cost_of):
    gradients = []
    for theirs in (False, True):
        sampled = sample(9)
        if theirs:
            each = densities(sampled)
            correlation = (each.sum(-1).logsumexp(1) - each.logsumexp(1).sum(-1)).mean()
            total = 5 * correlation + sampled.posterior.kl().mean()
        else:
            total, terms = cost_of(BetaTCVAE(6.0, samples=samples), sampled)
            correlation = terms["total_correlation"]
        total.backward()
        gradients.append(
            (float(torch.as_tensor(correlation).detach()), sampled.posterior.loc.grad, sampled.posterior.log_variance.grad)
        )
    torch.testing.assert_close(gradients[0][1:], gradients[1][1:])
    assert gradients[0][0] - gradients[1][0] == pytest.approx(2 * math.log(9))


def test_the_loss_is_the_published_estimate_and_the_parts_have_no_constants(sample, cost_of):
    # Chen et al., section 4.1: log q(z) is estimated by log 1 / (N M) sum_j q(z | x_j), and so is each log q(z_d).
    size, samples, dimensions = 16, 1000, 3
    sampled, weights = sample(size), {"alpha": 0.2, "beta": 6.0, "gamma": 0.5}
    total, terms = cost_of(BetaTCVAE(**weights, samples=samples), sampled)
    each, excess = densities(sampled), math.log(size * samples)
    joint = (each.sum(-1).logsumexp(1) - excess).mean()
    product = (each.logsumexp(1) - excess).sum(-1).mean()
    own = sampled.posterior.log_prob(sampled.codes).mean()
    prior = Normal(0.0, 1.0).log_prob(sampled.codes).sum(-1).mean()
    published = {"alpha": own - joint, "beta": joint - product, "gamma": product - prior}
    expected = sampled.posterior.kl().mean() + sum((weights[name] - 1) * part for name, part in published.items())
    assert total.item() == pytest.approx(expected.item())

    names = ("information", "total_correlation", "dimensions")
    _, of_batch = cost_of(BetaTCVAE(**weights), sample(size))
    assert [terms[name] for name in names] == pytest.approx([of_batch[name] for name in names])
    assert sum(terms[name] for name in names) == pytest.approx((own - prior).item())
    assert 0 < terms["information"] <= math.log(size)
    constants = [math.log(samples) * factor for factor in (1, dimensions - 1, -dimensions)]
    assert [part.item() for part in published.values()] == pytest.approx(
        [terms[name] + constant for name, constant in zip(names, constants, strict=True)]
    )


def test_the_gradient_of_the_aggregated_posterior():
    codes, loc, log_variance = torch.randn(3, 5, 3, generator=torch.Generator().manual_seed(0)).double()
    weights = torch.randn(5, 5, generator=torch.Generator().manual_seed(1)).double()

    def both(*parameters):
        joint, product = aggregated(DiagonalNormal(*parameters[1:]), parameters[0], weights)
        return joint, product, 2 * joint - 3 * product

    assert torch.autograd.gradcheck(both, [item.requires_grad_() for item in (codes, loc, log_variance)])


def test_weights_weigh_the_parts(sample, cost_of):
    sampled = sample(5)
    parts = decompose(sampled.posterior, sampled.codes, torch.tensor(-math.log(5.0)))
    expected = sampled.posterior.kl().mean() + parts.information - 0.5 * parts.total_correlation + 2 * parts.dimensions
    total, terms = cost_of(BetaTCVAE(beta=0.5, alpha=2.0, gamma=3.0), sampled)
    assert total.item() == pytest.approx(expected.item())
    assert terms["information"] == pytest.approx(parts.information.item())
    assert cost_of(BetaTCVAE(1.0), sampled)[0].item() == pytest.approx(sampled.posterior.kl().mean().item())


def test_stratified_weights_have_no_bias_over_all_batches(sample):
    # For a code of sample 0, the weighted sum over the batch is, in the mean over the others drawn, the mean over the data set.
    size, batch = 6, 4
    each = densities(sample(size))[0].sum(-1).exp().detach().numpy()
    weights = stratified_weights(batch, size).numpy()
    assert weights.sum(1) == pytest.approx(1.0)
    orders = [(0, *others) for others in itertools.permutations(range(1, size), batch - 1)]
    found = [weights[0] @ each[list(order)] for order in orders]
    assert np.mean(found) == pytest.approx(each.mean())
    plain = [each[list(order)].mean() for order in orders]
    assert np.mean(plain) != pytest.approx(each.mean(), rel=0.05)


def test_stratified_weights_are_used(sample, cost_of):
    sampled = sample(4)
    weights = stratified_weights(4, 50).log().unsqueeze(-1)
    each = densities(sampled)
    joint, product = (each.sum(-1) + weights[..., 0]).logsumexp(1), (each + weights).logsumexp(1).sum(-1)
    _, terms = cost_of(BetaTCVAE(samples=50, estimator="stratified"), sampled)
    assert terms["total_correlation"] == pytest.approx((joint - product).mean().item(), rel=1e-6)


def test_what_cannot_be_is_refused(sample, cost_of):
    with pytest.raises(ConfigError, match="stratified weights need the size"):
        BetaTCVAE(estimator="stratified")
    with pytest.raises(TrainingError, match="got 5 for a batch of 6"):
        cost_of(BetaTCVAE(samples=5), sample(6))
