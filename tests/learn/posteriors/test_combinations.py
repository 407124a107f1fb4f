import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal

from molyneux.core import ConfigError
from molyneux.learn.posteriors import (
    DiagonalLaplace,
    DiagonalNormal,
    MixturePosterior,
    WhereConditional,
    all_subsets,
    mixture_of_experts,
    mixture_of_products,
    product_of_experts,
)

PRESENT = torch.tensor([[True], [True]])


def experts(count=3, size=4, dim=2, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shape = (count, size, dim)
    return DiagonalNormal(torch.randn(shape, generator=generator), torch.randn(shape, generator=generator))


def everyone(stack):
    return torch.ones(stack.loc.shape[:2], dtype=torch.bool)


def test_prior_times_a_standard_expert():
    one = DiagonalNormal(torch.ones(1, 1, 1), torch.zeros(1, 1, 1))
    product = product_of_experts(one, torch.ones(1, 1, dtype=torch.bool), prior_expert=True)
    assert product.mean.item() == pytest.approx(0.5)
    assert product.variance.item() == pytest.approx(0.5)
    assert product.stddev.item() == pytest.approx(0.70711, abs=1e-5)


def test_product_is_the_normalised_product_of_the_densities():
    stack = experts(2, 1, 1)
    product = product_of_experts(stack, PRESENT, prior_expert=True)
    grid = torch.linspace(-12, 12, 40_001).reshape(-1, 1, 1, 1)
    log_density = stack.log_prob(grid).sum(1) - 0.5 * grid.squeeze(1).square().sum(-1)
    density = log_density.flatten().exp()
    density = density / torch.trapezoid(density, grid.flatten())
    torch.testing.assert_close(product.log_prob(grid.squeeze(1)).flatten().exp(), density, atol=1e-5, rtol=1e-4)


def test_product_in_precision_space():
    stack = experts()
    precision = (-stack.log_variance).exp()
    total = precision.sum(0)
    product = product_of_experts(stack, everyone(stack), prior_expert=False)
    torch.testing.assert_close(product.variance, 1 / total)
    torch.testing.assert_close(product.mean, (precision * stack.loc).sum(0) / total)


def test_very_sharp_experts_keep_their_digits():
    stack = DiagonalNormal(torch.tensor([1000.0, 1000.5]).reshape(2, 1, 1), torch.full((2, 1, 1), -9.9))
    product = product_of_experts(stack, PRESENT, prior_expert=False)
    assert product.mean.item() == pytest.approx(1000.25, abs=1e-3)


@given(st.permutations(range(4)), st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_order_of_experts_does_not_matter(order, seed):
    stack = experts(4, seed=seed)
    present = torch.rand(4, 4, generator=torch.Generator().manual_seed(seed)) < 0.6
    value = torch.randn(4, 2)
    for combine in (mixture_of_experts, mixture_of_products, lambda e, p: product_of_experts(e, p, prior_expert=True)):
        first = combine(stack, present).log_prob(value)
        torch.testing.assert_close(combine(stack[torch.tensor(order)], present[list(order)]).log_prob(value), first)


@pytest.mark.parametrize("prior_expert", [True, False])
def test_absent_experts_are_not_heard(prior_expert):
    stack = experts()
    present = torch.tensor([[True, False, True, False], [True, True, False, False], [True, False, False, False]])
    loc = stack.loc.where(present.unsqueeze(-1), torch.nan)
    product = product_of_experts(DiagonalNormal(loc, stack.log_variance), present, prior_expert=prior_expert)
    for sample in range(4):
        heard = present[:, sample]
        alone = stack[heard][:, sample : sample + 1] if heard.any() else None
        if alone is None:
            assert product.loc[sample].tolist() == [0.0, 0.0]
            assert product.log_variance[sample].tolist() == [0.0, 0.0]
        else:
            expected = product_of_experts(alone, torch.ones(len(alone.loc), 1, dtype=torch.bool), prior_expert=prior_expert)
            torch.testing.assert_close(product.loc[sample], expected.loc[0])
            torch.testing.assert_close(product.log_variance[sample], expected.log_variance[0])


def test_no_gradient_comes_from_an_absent_expert():
    loc = torch.tensor([0.3, float("nan")]).reshape(2, 1, 1).requires_grad_()
    log_variance = torch.zeros(2, 1, 1, requires_grad=True)
    present = torch.tensor([[True], [False]])
    for combine in (mixture_of_experts, mixture_of_products, lambda e, p: product_of_experts(e, p, prior_expert=True)):
        loc.grad = log_variance.grad = None
        combine(DiagonalNormal(loc, log_variance), present).log_prob(torch.tensor([[0.9]])).sum().backward()
        assert loc.grad[0].abs() > 0
        assert loc.grad[1].item() == 0.0
        assert log_variance.grad[1].item() == 0.0


def test_one_expert_too_many_of_another_family():
    stack = DiagonalLaplace(torch.zeros(1, 1, 1), torch.zeros(1, 1, 1))
    with pytest.raises(ConfigError, match="DiagonalLaplace"):
        product_of_experts(stack, torch.ones(1, 1, dtype=torch.bool), prior_expert=True)


def test_no_experts_at_all_give_the_prior():
    none = DiagonalNormal(torch.zeros(0, 3, 2), torch.zeros(0, 3, 2))
    product = product_of_experts(none, torch.zeros(0, 3, dtype=torch.bool), prior_expert=False)
    assert product.kl().tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_all_subsets_are_all(count):
    rows = all_subsets(count)
    assert rows.shape == (2**count - 1, count)
    assert len({tuple(row.tolist()) for row in rows}) == 2**count - 1
    assert rows.any(1).all()


def test_mixture_of_products_of_two_has_three_components():
    stack = experts(2)
    mixture = mixture_of_products(stack, everyone(stack))
    both = product_of_experts(stack, everyone(stack), prior_expert=False)
    torch.testing.assert_close(mixture.components.loc, torch.stack([stack.loc[0], stack.loc[1], both.loc]))
    torch.testing.assert_close(mixture.weights, torch.full((3, 4), 1 / 3))


def test_mixture_of_products_takes_subsets_of_the_present_only():
    stack = experts(3, 2)
    present = torch.tensor([[True, False], [True, False], [False, False]])
    mixture = mixture_of_products(stack, present)
    by_subset = dict(zip(map(tuple, all_subsets(3).int().tolist()), mixture.weights[:, 0].tolist(), strict=True))
    valid = {(1, 0, 0), (0, 1, 0), (1, 1, 0)}
    assert by_subset == {subset: pytest.approx(1 / 3 if subset in valid else 0.0) for subset in by_subset}
    assert mixture.kl_bound()[1].item() == 0.0


def test_mixture_of_experts_weighs_the_present():
    stack = experts(3, 2)
    present = torch.tensor([[True, False], [True, False], [False, False]])
    mixture = mixture_of_experts(stack, present)
    assert mixture.weights[:, 0].tolist() == [0.5, 0.5, 0.0]
    torch.testing.assert_close(mixture.mean[0], stack.loc[:2, 0].mean(0))
    assert mixture.mean[1].tolist() == [0.0, 0.0]
    assert mixture.kl_bound()[1].item() == 0.0


WEIGHTS = torch.tensor([[0.2, 0.0], [0.5, 1.0], [0.3, 0.0]])


def mixture(family=DiagonalNormal, weights=WEIGHTS):
    generator = torch.Generator().manual_seed(0)
    shape = (*weights.shape, 2)
    return MixturePosterior(family(3 * torch.randn(shape, generator=generator), torch.randn(shape, generator=generator)), weights)


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
    ours = MixturePosterior(DiagonalNormal(loc, torch.zeros(3, 2, 1)), WEIGHTS)
    codes = ours.rsample((30_000,), torch.Generator().manual_seed(0)).squeeze(-1)
    assert codes.shape == (30_000, 2)
    counts = [((codes[:, 0] / 100).round() == k).sum().item() for k in (-1, 0, 1)]
    assert stats.chisquare(counts, [6000, 15000, 9000]).pvalue > 1e-3
    assert (codes[:, 1].abs() < 50).all()  # a component of weight 0 is never drawn


def test_samples_of_one_batch_choose_on_their_own():
    size = 64
    loc = torch.tensor([-100.0, 100.0]).reshape(2, 1, 1).expand(2, size, 1)
    ours = MixturePosterior(DiagonalNormal(loc, torch.zeros(2, size, 1)), torch.full((2, size), 0.5))
    signs = [ours.rsample((), torch.Generator().manual_seed(seed)).sign().flatten() for seed in (0, 1)]
    assert 10 < (signs[0] > 0).sum() < 54
    assert not torch.equal(signs[0], signs[1])


@pytest.mark.parametrize("family", [DiagonalNormal, DiagonalLaplace])
def test_the_bound_is_above_the_divergence(family):
    ours, prior = mixture(family), family.standard((2, 2))
    codes = ours.rsample((100_000,), torch.Generator().manual_seed(0))
    divergence = (ours.log_prob(codes) - prior.log_prob(codes)).mean(0)
    assert (divergence <= ours.kl_bound() + 0.05).all()
    assert divergence[1].item() == pytest.approx(ours.kl_bound()[1].item(), rel=0.02)  # one component: they are equal


def test_gradient_reaches_the_components():
    parts = torch.randn(2, 3, 2, requires_grad=True)
    MixturePosterior(DiagonalNormal(parts, torch.zeros_like(parts)), torch.full((2, 3), 0.5)).rsample((50,)).sum().backward()
    assert (parts.grad > 0).all()


def test_one_of_two_distributions():
    first, second = DiagonalNormal(torch.full((3, 1), 9.0), torch.full((3, 1), -9.0)), DiagonalNormal.standard((3, 1))
    mixed = WhereConditional(torch.tensor([True, False, True]), first, second).given(torch.zeros(3, 5))
    assert mixed.mean.flatten().tolist() == [9, 0, 9]
    drawn = mixed.rsample((100,), torch.Generator().manual_seed(0))
    assert drawn.shape == (100, 3, 1)
    assert (drawn > 5).all(0).flatten().tolist() == [True, False, True]
