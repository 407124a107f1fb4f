"""Weighted products, consensus of dependent experts and Hellinger pooling, against densities on a grid and matrices."""

import numpy as np
import pytest
import torch
from torch.distributions import Normal, kl_divergence

from molyneux.core import ConfigError
from molyneux.learn.posteriors import (
    DiagonalLaplace,
    DiagonalNormal,
    HierarchicalSparse,
    all_subsets,
    consensus_of_experts,
    hellinger_pool,
    moment_matched,
    product_of_experts,
    weighted_product,
)

GRID = torch.linspace(-25, 25, 20_001)
PRESENT = torch.tensor([[True, True, False, False], [True, False, True, False], [True, True, True, False]])


def experts(count=3, size=4, dim=2, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shape = (count, size, dim)
    return DiagonalNormal(torch.randn(shape, generator=generator), torch.randn(shape, generator=generator))


def weights(count=3, dim=2, seed=1):
    return torch.rand(count, dim, generator=torch.Generator().manual_seed(seed)) + 0.1


def everyone(stack):
    return torch.ones(stack.loc.shape[:2], dtype=torch.bool)


def pooled(stack, present):
    return moment_matched(hellinger_pool(stack, present))


POOLS = {
    "weighted": lambda stack, present: weighted_product(stack, present, weights()[: len(present)]),
    "consensus": lambda stack, present: consensus_of_experts(stack, present, 0.4),
    "hellinger": pooled,
}
every_pool = pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)


@every_pool
def test_absent_experts_are_not_heard_and_nothing_gives_the_prior(pool):
    stack = experts()
    hidden = DiagonalNormal(stack.loc.where(PRESENT.unsqueeze(-1), torch.nan).requires_grad_(), stack.log_variance)
    found = pool(hidden, PRESENT)
    for sample in range(3):
        heard = PRESENT[:, sample]
        one = stack[:, sample : sample + 1]
        if heard.all():
            alone = pool(one, heard[:, None])
        else:
            other = DiagonalNormal(torch.full_like(one.loc, 50.0), one.log_variance)
            alone = pool(DiagonalNormal(one.loc.where(heard[:, None, None], other.loc), one.log_variance), heard[:, None])
        torch.testing.assert_close(found.loc[sample], alone.loc[0])
        torch.testing.assert_close(found.log_variance[sample], alone.log_variance[0])
    assert found.loc[3].tolist() == pytest.approx([0.0, 0.0], abs=1e-6)
    assert found.log_variance[3].tolist() == pytest.approx([0.0, 0.0], abs=1e-6)
    (found.loc.sum() + found.log_variance.sum()).backward()
    assert hidden.loc.grad.isfinite().all()
    assert hidden.loc.grad[~PRESENT].abs().max() == 0


@every_pool
def test_one_expert_is_itself(pool):
    stack = experts(1)
    found = pool(stack, everyone(stack))
    torch.testing.assert_close(found.loc, stack.loc[0])
    torch.testing.assert_close(found.log_variance, stack.log_variance[0])


@every_pool
def test_only_normal_experts(pool):
    with pytest.raises(ConfigError, match="DiagonalLaplace"):
        pool(DiagonalLaplace(torch.zeros(3, 4, 2), torch.zeros(3, 4, 2)), PRESENT)


def test_the_weighted_product_is_the_normalised_product_of_powers():
    stack, power = experts(3, 1, 1), weights(3, 1)
    found = weighted_product(stack, everyone(stack), power)
    share = power / power.sum(0)
    log_density = (share.unsqueeze(1) * stack.log_prob_per_dimension(GRID.reshape(-1, 1, 1, 1))).sum(1).flatten()
    density = log_density.exp() / torch.trapezoid(log_density.exp(), GRID)
    torch.testing.assert_close(found.log_prob(GRID.reshape(-1, 1, 1)).flatten().exp(), density, atol=1e-5, rtol=1e-4)


def test_equal_experts_make_no_weighted_product_more_certain():
    stack = experts(1).loc.expand(3, -1, -1)
    same = DiagonalNormal(stack, torch.full_like(stack, -1.0))
    torch.testing.assert_close(weighted_product(same, everyone(same), weights()).log_variance, same.log_variance[0])
    known = product_of_experts(same, everyone(same), prior_expert=False)
    assert (known.log_variance < same.log_variance[0]).all()


@pytest.mark.parametrize("which", ["weighted", "consensus"])
def test_subsets_are_those_of_their_members(which):
    stack, members = experts(), all_subsets(3)

    def pool(present, members=None):
        if which == "weighted":
            return weighted_product(stack, present, weights(), members=members)
        return consensus_of_experts(stack, present, 0.4, members=members)

    found = pool(PRESENT, members)
    for row, subset in enumerate(members):
        alone = pool(PRESENT & subset.unsqueeze(-1))
        torch.testing.assert_close(found.loc[row], alone.loc)
        torch.testing.assert_close(found.log_variance[row], alone.log_variance)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.95])
def test_the_consensus_is_that_of_the_covariance_matrix(correlation):
    stack = experts(4, 3, 2, seed=5)
    found = consensus_of_experts(stack, everyone(stack), correlation)
    for b in range(3):
        for d in range(2):
            spread = stack.stddev[:, b, d].double().numpy()
            covariance = correlation * np.outer(spread, spread)
            np.fill_diagonal(covariance, spread**2)
            inverse = np.linalg.inv(covariance)
            assert found.variance[b, d].item() == pytest.approx(1 / inverse.sum(), rel=1e-3)
            mean = inverse.sum(0) @ stack.loc[:, b, d].double().numpy() / inverse.sum()
            assert found.loc[b, d].item() == pytest.approx(mean, rel=1e-3, abs=1e-3)
    if not correlation:
        product = product_of_experts(stack, everyone(stack), prior_expert=False)
        torch.testing.assert_close(found.loc, product.loc)
        torch.testing.assert_close(found.log_variance, product.log_variance)


def test_what_correlated_experts_repeat_counts_less():
    # n equally certain experts: the variance of their mean, sigma^2 (1 + (n - 1) rho) / n.
    same = DiagonalNormal(torch.zeros(4, 1, 1), torch.zeros(4, 1, 1))
    for correlation in (0.0, 0.5, 0.9):
        found = consensus_of_experts(same, everyone(same), correlation).variance.item()
        assert found == pytest.approx((1 + 3 * correlation) / 4, rel=1e-4)


def test_the_hellinger_pool_is_the_squared_sum_of_roots():
    stack = experts(3, 1, 1)
    pool = hellinger_pool(stack, everyone(stack))
    assert pool.weights.sum(0).item() == pytest.approx(1.0)
    root = stack.log_prob_per_dimension(GRID.reshape(-1, 1, 1, 1)).mul(0.5).exp().sum(1).flatten()
    density = root.square() / torch.trapezoid(root.square(), GRID)
    torch.testing.assert_close(pool.log_prob(GRID.reshape(-1, 1, 1)).flatten().exp(), density, atol=1e-5, rtol=1e-3)
    normal = moment_matched(pool)
    mean = torch.trapezoid(GRID * density, GRID)
    assert normal.loc.item() == pytest.approx(mean.item(), abs=1e-4)
    assert normal.variance.item() == pytest.approx(torch.trapezoid((GRID - mean) ** 2 * density, GRID).item(), rel=1e-3)


def test_the_hellinger_pool_is_between_product_and_mixture():
    stack = DiagonalNormal(torch.tensor([-1.0, 1.0]).reshape(2, 1, 1), torch.zeros(2, 1, 1))
    found = pooled(stack, everyone(stack)).variance.item()
    assert 0.5 < found < 2.0  # of the product, and of the mixture
    far = DiagonalNormal(torch.tensor([-20.0, 20.0]).reshape(2, 1, 1), torch.zeros(2, 1, 1))
    weight = hellinger_pool(far, everyone(far)).weights.flatten()
    assert weight.tolist() == pytest.approx([0.5, 0.0, 0.5], abs=1e-6)


def test_divergence_of_one_normal_distribution_from_another():
    first, second = experts(seed=1), experts(seed=2)
    known = kl_divergence(Normal(first.loc, first.stddev), Normal(second.loc, second.stddev)).sum(-1)
    torch.testing.assert_close(first.kl_to(second), known)
    torch.testing.assert_close(first.kl_to(DiagonalNormal.standard((3, 4, 2))), first.kl())


def test_detached_distributions_are_the_same_without_gradients():
    loc = torch.zeros(2, 3, 2, requires_grad=True)
    value = torch.randn(5, 2, 3, 2)
    for one in (
        DiagonalNormal(loc, loc + 1),
        DiagonalLaplace(loc, loc),
        HierarchicalSparse(loc, loc, torch.stack([loc, loc + 1])),
    ):
        torch.testing.assert_close(one.detach().log_prob(value), one.log_prob(value))
        assert not one.detach().log_prob(value).requires_grad
    pool = hellinger_pool(DiagonalNormal(loc, loc), torch.ones(2, 3, dtype=torch.bool))
    assert not pool.detach().log_prob(value[:, 0]).requires_grad
    torch.testing.assert_close(pool.detach().log_prob(value[:, 0]), pool.log_prob(value[:, 0]))
