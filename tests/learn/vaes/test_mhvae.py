"""MHVAE: its posterior and losses by hand in NumPy, its likelihood by brute force, and the subsets it draws."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from torch import nn

from molyneux.core import Batch, ConfigError, Modality, NotApplicableError, Progress, Spec
from molyneux.learn.encoders.nets import Dense
from molyneux.learn.likelihoods import Normal
from molyneux.learn.vaes import MHVAE
from molyneux.learn.vaes.mhvae import drawn_subsets

SIZES = {"a": 3, "b": 4, "c": 2}
SPEC = Spec(tuple(Modality(name, "tabular", (size,)) for name, size in SIZES.items()))
START = Progress(0, 1)
LEVELS, SIZE = 3, 2


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def build(**settings):
    torch.manual_seed(2)
    nets, likelihoods = dict.fromkeys(SIZES, Dense(width=8, layers=1)), dict.fromkeys(SIZES, Normal(scale=0.7))
    given = {"latent_dim": LEVELS * SIZE, "levels": LEVELS, "width": 6, "nets": nets, "likelihoods": likelihoods}
    return MHVAE(SPEC, **{**given, **settings}).eval()


def batch_of(size=4, **present):
    return Batch({name: torch.randn(size, width, generator=noise(width)) for name, width in SIZES.items()}, present)


def array(tensor):
    return tensor.detach().double().numpy()


def dense(net, value, *, last=False):
    """What linear layers with ReLU between them give; with `last`, after the last one too."""
    layers = [part for part in net.modules() if isinstance(part, nn.Linear)]
    for number, layer in enumerate(layers):
        value = value @ array(layer.weight).T + array(layer.bias)
        value = np.maximum(value, 0) if last or number + 1 < len(layers) else value
    return value


def parameters(raw):
    loc, free = np.split(raw, 2, -1)
    return loc, np.exp(10 * np.tanh(free / 10))


def product(parts):
    precision = sum(1 / variance for _, variance in parts)
    return sum(loc / variance for loc, variance in parts) / precision, 1 / precision


def normal(value, loc, variance):
    return -0.5 * (np.square(value - loc) / variance + np.log(2 * np.pi * variance)).sum(-1)


def kl(loc, variance, other_loc, other):
    return 0.5 * (np.log(other / variance) + (variance + np.square(loc - other_loc)) / other - 1).sum(-1)


def described(model, views):
    found = {}
    for name, view in views.items():
        value, found[name] = dense(model.encoders[name], array(view)), []
        for net in model.up[name]:
            value = dense(net, value, last=True)
            found[name].append(value)
    return found


def factors(model, views, codes):
    """For each level, from the lowest: the factor of the posterior and its prior, given the codes of the levels."""
    features, levels, found = described(model, views), model.levels, []
    for level in range(LEVELS):
        if level + 1 == LEVELS:
            prior = (np.zeros(SIZE), np.ones(SIZE))
            experts = [parameters(dense(levels.top, each[level])) for each in features.values()]
        else:
            hidden = dense(levels.down[level], codes[level + 1], last=True)
            prior = parameters(dense(levels.priors[level], hidden))
            each = [np.broadcast_to(item[level], (*hidden.shape[:-1], 6)) for item in features.values()]
            experts = [parameters(dense(levels.experts[level], np.concatenate([hidden, item], -1))) for item in each]
        found.append((product([prior, *experts]), prior))
    return found


@pytest.mark.parametrize("chosen", [("a",), ("b", "c"), ("a", "b", "c")])
def test_the_posterior_given_any_modalities(chosen):
    model, batch = build(), batch_of()
    views = {name: batch.views[name] for name in chosen}
    posterior = model.encode(batch, chosen).shared
    drawn = posterior.rsample((5,), noise())
    codes = np.split(array(drawn), LEVELS, -1)
    total = sum(normal(code, *factor) for code, (factor, _) in zip(codes, factors(model, views, codes), strict=True))
    np.testing.assert_allclose(array(posterior.log_prob(drawn)), total, rtol=1e-4, atol=1e-4)
    means = np.split(array(posterior.mean), LEVELS, -1)
    for mean, ((loc, _), _) in zip(means, factors(model, views, means), strict=True):
        np.testing.assert_allclose(mean, np.broadcast_to(loc, mean.shape), atol=1e-5)
    prior = model.prior(4).shared
    total = sum(normal(code, *given) for code, (_, given) in zip(codes, factors(model, views, codes), strict=True))
    np.testing.assert_allclose(array(prior.log_prob(drawn)), total, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("subsets", ["all", "drawn"])
def test_the_loss_is_the_mean_over_the_subsets(subsets):
    """Against many draws of the codes in NumPy."""
    model, batch, copies = build(beta=1.3, subsets=subsets), batch_of(1), 12_000
    random, losses = np.random.default_rng(0), []
    for chosen in (chosen for size in (1, 2, 3) for chosen in combinations(SIZES, size)):
        views = {name: batch.views[name] for name in chosen}
        codes, rate = [np.zeros((copies, SIZE))] * LEVELS, 0.0
        for level in reversed(range(LEVELS)):
            (loc, variance), prior = factors(model, {n: v.expand(copies, -1) for n, v in views.items()}, codes)[level]
            codes[level] = loc + np.sqrt(variance) * random.standard_normal((copies, SIZE))
            rate = rate + kl(loc, variance, *prior)
        views = {name: dense(model.decoders[name].body, codes[0]) for name in SIZES}
        distortion = -sum(normal(array(batch.views[n]), view, np.full(SIZES[n], 0.49)) for n, view in views.items())
        losses.append((distortion + 1.3 * rate).mean())
    many = Batch({name: view.expand(copies, -1) for name, view in batch.views.items()})
    with torch.no_grad():
        assert model.loss(many, START, noise()).total.item() == pytest.approx(np.mean(losses), rel=0.01)


@pytest.mark.parametrize("chosen", [("a",), ("a", "b", "c")])
def test_importance_sampling_finds_the_evidence_by_brute_force(chosen):
    model, batch = build().requires_grad_(False), batch_of(3)
    for layer in [model.levels.top, *(net[-1] for net in model.levels.experts)]:  # wide experts: weights vary little
        layer.bias[SIZE:] += 3.0
    found = model.log_likelihood(batch.observe(chosen), 20_000, noise())
    views = model.decode(model.prior(1).rsample(100_000, noise(3)), chosen)
    for row in range(3):
        each = sum(views[name].log_prob(batch.views[name][row : row + 1]) for name in chosen)
        brute = torch.logsumexp(each, 0) - math.log(len(each))
        assert found[row].item() == pytest.approx(brute.item(), abs=0.1)


def test_all_non_empty_subsets_of_what_is_present_are_drawn_alike():
    present = torch.ones(3, 28_000, dtype=torch.bool)
    present[1] = torch.arange(28_000) % 2 == 0
    kept = drawn_subsets(present, noise())
    assert not (kept & ~present).any()
    numbers = (kept * torch.tensor([[1], [2], [4]])).sum(0)
    for rows, expected in ((present[1], [1, 2, 3, 4, 5, 6, 7]), (~present[1], [1, 4, 5])):
        shares = torch.bincount(numbers[rows], minlength=8) / rows.sum()
        assert torch.nonzero(shares).flatten().tolist() == expected
        torch.testing.assert_close(shares[expected], torch.full((len(expected),), 1 / len(expected)), atol=0.015, rtol=0)
    assert not drawn_subsets(torch.zeros(3, 5, dtype=torch.bool), noise()).any()


def test_settings_are_checked_together():
    with pytest.raises(ConfigError) as caught:
        build(levels=4, subsets="some", beta=-1.0, width=0)
    assert len(caught.value.problems) == 4
    model = build()
    observation = model.observe(batch_of())
    with pytest.raises(NotApplicableError, match="experts on every level"):
        model.joint(observation.experts, observation.present)
