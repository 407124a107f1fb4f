"""Nexus: its two losses by hand, its likelihood by brute force, and what its dropout leaves out."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec
from molyneux.data import ArraySource
from molyneux.learn.encoders.nets import Dense
from molyneux.learn.likelihoods import Normal
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.vaes import Nexus
from molyneux.learn.vaes.nexus import forced_perceptual_dropout

SIZES = {"a": 3, "b": 4, "c": 2}
SPEC = Spec(tuple(Modality(name, "tabular", (size,)) for name, size in SIZES.items()))
START = Progress(0, 1)


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def build(**settings):
    torch.manual_seed(2)
    given = {"latent_dim": 2, "private_dim": {"a": 2, "b": 1, "c": 2}, "message_dim": 5, "width": 6}
    nets, likelihoods = dict.fromkeys(SIZES, Dense(width=8, layers=1)), dict.fromkeys(SIZES, Normal(scale=0.7))
    return Nexus(SPEC, **{**given, "nets": nets, "likelihoods": likelihoods, **settings}).eval()


def batch_of(size=4, **present):
    return Batch({name: torch.randn(size, width, generator=noise(width)) for name, width in SIZES.items()}, present)


def array(tensor):
    return tensor.detach().double().numpy()


def dense(net, value):
    """What linear layers with ReLU between them give."""
    layers = [part for part in net.modules() if isinstance(part, nn.Linear)]
    for layer in layers[:-1]:
        value = np.maximum(value @ array(layer.weight).T + array(layer.bias), 0)
    return value @ array(layers[-1].weight).T + array(layers[-1].bias)


def parameters(raw):
    loc, free = np.split(raw, 2, -1)
    return loc, np.exp(10 * np.tanh(free / 10))


def kl(loc, variance):
    return 0.5 * (loc**2 + variance - 1 - np.log(variance)).sum(-1).mean()


def normal(value, loc, scale=1.0):
    return (-0.5 * np.square((value - loc) / scale) - math.log(scale) - 0.5 * math.log(2 * math.pi)).sum(-1)


def test_the_losses():
    """With posteriors so narrow that codes are their means."""
    model, batch = build(beta=1.3, bottom_beta=0.7, gamma=0.4, scales={"b": 0.25}), batch_of()
    last = [[part for part in net.modules() if isinstance(part, nn.Linear)][-1] for net in model.encoders.values()]
    for layer in [*last, model.above[-1][-1]]:
        layer.bias.data[len(layer.bias) // 2 :] = -60.0
    bottom, messages, codes = 0.0, [], {}
    for name, view in batch.views.items():
        loc, variance = parameters(dense(model.encoders[name], array(view)))
        distortion = -normal(array(view), dense(model.decoders[name].body, loc), 0.7).mean()
        bottom += (0.25 if name == "b" else 1.0) * distortion + 0.7 * kl(loc, variance)
        messages.append(dense(model.messages[name], loc))
        codes[name] = loc
    above, variance = parameters(dense(model.above, np.maximum(np.mean(messages, 0), 0)))
    top = 1.3 * kl(above, variance)
    top -= 0.4 * sum(normal(code, dense(model.tops[name].net, above)).mean() for name, code in codes.items())
    assert model.loss(batch, START, noise()).total.item() == pytest.approx(bottom + top, rel=5e-3)


def test_the_top_loss_does_not_train_what_is_below():
    gradients = []
    for weight in (0.0, 3.0):
        model = build(gamma=weight, beta=weight).train()
        model.loss(batch_of(), START, noise()).total.backward()
        gradients.append([parameter.grad for parameter in model.networks.parameters()])
    assert all(torch.equal(one, two) for one, two in zip(*gradients, strict=True))


@pytest.mark.parametrize("chosen", [("a",), ("a", "b", "c")])
def test_importance_sampling_finds_the_evidence_by_brute_force(chosen):
    model, batch = build().requires_grad_(False), batch_of(3)
    for net in model.encoders.values():
        layer = [part for part in net.modules() if isinstance(part, nn.Linear)][-1]
        layer.bias[len(layer.bias) // 2 :] += 0.5
    found = model.log_likelihood(batch.observe(chosen), 20_000, noise())
    codes = model.prior(1).rsample(100_000, noise(3))
    views = model.decode(codes, chosen)
    for row in range(3):
        each = sum(views[name].log_prob(batch.views[name][row : row + 1]) for name in chosen)
        brute = torch.logsumexp(each, 0) - math.log(len(each))
        assert found[row].item() == pytest.approx(brute.item(), abs=0.1)


def test_messages_are_averaged_over_what_is_present():
    model, batch = build(), batch_of(4, b=torch.tensor([True, False, True, False]))
    found = model.encode(batch).mean.shared
    for row, names in ((0, "abc"), (1, "ac")):
        each = [dense(model.messages[n], parameters(dense(model.encoders[n], array(batch.views[n][row])))[0]) for n in names]
        loc, _ = parameters(dense(model.above, np.maximum(np.mean(each, 0), 0)))
        np.testing.assert_allclose(array(found[row]), loc, atol=1e-5)


def test_dropout_keeps_a_random_part_of_what_is_present():
    present = torch.ones(4, 20_000, dtype=torch.bool)
    present[0] = torch.rand(20_000, generator=noise()) < 0.5
    kept = forced_perceptual_dropout(present, 0.6, noise(1))
    assert not (kept & ~present).any()
    assert kept.any(0).all()
    for count in (3, 4):
        rows = present.sum(0) == count
        sizes = torch.bincount(kept[:, rows].sum(0), minlength=5).float() / rows.sum()
        torch.testing.assert_close(sizes[count], torch.tensor(0.4), atol=0.02, rtol=0)
        torch.testing.assert_close(sizes[1:count], torch.full((count - 1,), 0.6 / (count - 1)), atol=0.02, rtol=0)
        shares = kept[:, rows].float().mean(1)[4 - count :]
        torch.testing.assert_close(shares, shares.mean().expand(count), atol=0.02, rtol=0)
    alone = torch.tensor([[True], [False]])
    assert torch.equal(forced_perceptual_dropout(alone, 1.0, noise()), alone)
    assert torch.equal(forced_perceptual_dropout(present, 0.0, noise()), present)


def test_a_prior_fitted_after_training_is_one_of_the_code_above():
    model = build(prior=ExPostMixture(2, 50))
    model.post_fit(ArraySource(SPEC, batch_of(60)), seed=0)
    assert model.prior(5).private["a"] is model.tops["a"]
    drawn = model.prior(2000).rsample(1, noise())[0].shared
    torch.testing.assert_close(drawn.mean(0), model.encode(batch_of(60)).mean.shared.mean(0), atol=0.4, rtol=0)


def test_settings_are_checked_together():
    with pytest.raises(ConfigError) as caught:
        build(private_dim={"a": 2, "b": 1}, dropout=1.5, gamma=-1.0, width=0)
    assert len(caught.value.problems) == 4
