"""MAT-VAE: the sparse prior's divergence, and both estimators of the discrepancy against loops and populations."""

import itertools

import numpy as np
import pytest
import torch
from scipy import stats

from molyneux.core import ConfigError
from molyneux.learn.objectives import MAT
from molyneux.learn.objectives.mat import _tensor_sum, squared_mmd
from molyneux.learn.priors import SpikeAndSlab

SCALES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
ESTIMATORS = ["published", "paired"]


def kernel(x, y):
    """Summed over scales and dimensions, as a loop."""
    return sum(2 * s / (2 * s + (a - b) ** 2) for s in SCALES for a, b in zip(x, y, strict=True))


def by_loops(first, second, estimator):
    size = len(first)
    within = sum(kernel(batch[i], batch[j]) for batch in (first, second) for i, j in itertools.permutations(range(size), 2))
    across = [
        kernel(first[i], second[j]) for i, j in itertools.product(range(size), repeat=2) if estimator == "published" or i != j
    ]
    return within / (size * (size - 1)) - 2 * sum(across) / len(across)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("far", [1.0, 1e4])
def test_it_is_what_the_formula_says(estimator, far):
    generator = torch.Generator().manual_seed(0)
    first, second = torch.randn(2, 5, 3, generator=generator).double()
    second[0] *= far
    found = squared_mmd(first, second, SCALES, estimator).item()
    assert found == pytest.approx(by_loops(first.numpy(), second.numpy(), estimator), abs=1e-3)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_neither_estimator_has_a_bias(estimator):
    # All independent samples of two from {0, 1} and of two from {0, 1, 3}, uniform: their mean is the population's discrepancy.
    values = [torch.tensor(item).double().unsqueeze(-1) for item in ([0.0, 1.0], [0.0, 1.0, 3.0])]
    samples = [list(itertools.product(range(len(item)), repeat=2)) for item in values]
    found = [
        squared_mmd(values[0][list(a)], values[1][list(b)], SCALES, estimator).item() for a, b in itertools.product(*samples)
    ]
    means = [[np.mean([kernel(a, b) for a, b in itertools.product(x.numpy(), y.numpy())]) for x in values] for y in values]
    assert np.mean(found) == pytest.approx(means[0][0] + means[1][1] - 2 * means[0][1])
    assert min(found) < 0 < np.mean(found)


def test_equal_samples():
    # The published estimator of two equal samples (0, 1) is the sum over scales of k(0, 1) - 1; they are not independent.
    codes = torch.tensor([[0.0], [1.0]]).double()
    published = squared_mmd(codes, codes.clone(), SCALES)
    assert published.item() == pytest.approx(sum(2 * s / (2 * s + 1) - 1 for s in SCALES))
    assert published.item() == pytest.approx(-2.67, abs=0.005)
    assert squared_mmd(codes, codes.clone(), SCALES, "paired").item() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_its_gradient(estimator):
    generator = torch.Generator().manual_seed(0)
    first, second = torch.randn(2, 4, 3, generator=generator).double()
    assert torch.autograd.gradcheck(lambda codes: squared_mmd(first, codes, SCALES, estimator), second.requires_grad_())


def test_the_compiled_sum_is_the_tensors(sample):
    first, second = torch.randn(2, 60, 8, generator=torch.Generator().manual_seed(0))
    gradients = []
    for sums in (lambda codes: squared_mmd(first, codes, SCALES), lambda codes: _by_tensors(first, codes)):
        codes = second.clone().requires_grad_()
        sums(codes).backward()
        gradients.append(codes.grad)
    torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-5)


def _by_tensors(first, codes):
    size = len(codes)
    within = _tensor_sum(first, None, SCALES) + _tensor_sum(codes, None, SCALES)
    return 2 * within / (size * (size - 1)) - 2 * _tensor_sum(first, codes, SCALES) / size**2


def test_the_cost_is_both_terms_with_their_weights(sample, cost_of):
    settings, sampled = MAT(beta=0.3, weight=0.7), sample(30)
    state = sampled.generator.get_state()
    total, terms = cost_of(settings, sampled)
    codes = sampled.codes.detach().numpy()
    prior = np.log(0.8 * stats.norm.pdf(codes, scale=0.05) + 0.2 * stats.norm.pdf(codes))
    loc, scale = sampled.posterior.loc.detach().numpy(), sampled.posterior.stddev.detach().numpy()
    rate = (stats.norm.logpdf(codes, loc, scale) - prior).sum(1).mean()
    reference = SpikeAndSlab().of((30, 3), sampled.codes).rsample((), sampled.generator.set_state(state))
    discrepancy = by_loops(reference.detach().numpy(), codes, "published")
    assert terms == pytest.approx({"rate.shared": rate, "mmd": discrepancy}, rel=1e-5)
    assert total.item() == pytest.approx(0.3 * rate + 0.7 * discrepancy)
    assert cost_of(MAT(0.3, 0.7, mmd="paired"), sample(30))[0].item() != total.item()


def test_codes_of_the_prior_match_it():
    prior = SpikeAndSlab().of((400, 2))
    first, second, dense = (prior.rsample((), torch.Generator().manual_seed(seed)) for seed in (0, 1, 2))
    assert abs(squared_mmd(first, second, SCALES).item()) < 0.05
    assert squared_mmd(first, 3 * dense + 1, SCALES).item() > 1


def test_what_cannot_be_is_refused():
    with pytest.raises(ConfigError) as caught:
        MAT(mmd="biased", scales=())
    assert len(caught.value.problems) == 2
