"""CVAE: its bound and its conditional likelihood against closed forms, conditions of every kind, what it cannot do."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from safetensors.torch import load, save
from scipy.stats import multivariate_normal
from torch import nn

from molyneux.core import (
    Batch,
    ConfigError,
    DataError,
    Decodes,
    Encodes,
    EstimatesLikelihood,
    Modality,
    NotApplicableError,
    Progress,
    Representation,
    Spec,
    Trainable,
)
from molyneux.learn.encoders.nets import Net
from molyneux.learn.encoders.nets.net import Reshape
from molyneux.learn.likelihoods import Normal
from molyneux.learn.priors.conditional import ConditionalFlow, ConditionalMixture, ConditionalNormal
from molyneux.learn.vaes import CVAE
from molyneux.learn.vaes.cvae import ConditionSizes

SCALE, SIZES, BETA = 0.7, {"y": 3, "a": 2, "b": 4}, 1.3
START = Progress(0, 1)
PRIORS = [None, ConditionalNormal(width=8), ConditionalMixture(3, width=8), ConditionalFlow(layers=2, width=8, bins=4)]


@dataclass(frozen=True)
class LinearNet(Net):
    kinds = frozenset({"tabular"})

    def encoder(self, modality, outputs):
        return nn.Linear(modality.size, outputs)

    def body(self, modality, inputs, parameters):
        return nn.Sequential(nn.Linear(inputs, modality.size), Reshape(parameters, *modality.shape))


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def build(seed=0, **settings):
    torch.manual_seed(seed)
    spec = Spec(tuple(Modality(name, "tabular", (size,)) for name, size in SIZES.items()))
    given = {"target": "y", "latent_dim": 2, "condition_dim": 3, "width": 8, "nets": dict.fromkeys(SIZES, LinearNet())}
    return CVAE(spec, **{**given, "likelihoods": {"y": Normal(scale=SCALE)}, **settings}).eval()


def batch_of(size=6, missing=False):
    views = {name: torch.randn(size, width, generator=noise(width)) for name, width in SIZES.items()}
    present = {"y": torch.arange(size) % 3 > 0, "a": torch.arange(size) % 2 > 0} if missing else {}
    return Batch(views, present)


def array(tensor):
    return tensor.detach().double().numpy()


def dense(layer, inputs):
    return inputs @ array(layer.weight).T + array(layer.bias)


def features_of(model, batch, row):
    total = sum(dense(model.condition.features[name], array(batch.views[name][row])) for name in ("a", "b"))
    for layer in [part for part in model.condition.head if isinstance(part, nn.Linear)]:
        total = dense(layer, np.maximum(total, 0))
    return total


def posterior_of(model, batch, row, features):
    raw = np.maximum(dense(model.encoder, array(batch.views["y"][row])) + dense(model.joining, features), 0)
    raw = dense(model.recognition, raw)
    return raw[:2], np.exp(10 * np.tanh(raw[2:] / 10))


def prior_of(model, features):
    hidden, layers = features, [part for part in model.z_prior.net if isinstance(part, nn.Linear)]
    for layer in layers[:-1]:
        hidden = np.maximum(dense(layer, hidden), 0)
    raw = dense(layers[-1], hidden)
    return raw[:2], np.exp(10 * np.tanh(raw[2:] / 10))


def test_the_loss_is_the_bound():
    model, batch, copies = build(beta=BETA), batch_of(1), 20_000
    features = features_of(model, batch, 0)
    (loc, variance), (prior_loc, prior) = posterior_of(model, batch, 0, features), prior_of(model, features)
    layer = model.decoder.body[0]
    weight, bias, view = array(layer.weight), array(layer.bias), array(batch.views["y"][0])
    misfit = np.square(view - bias - weight @ np.r_[features, loc]).sum() + (np.square(weight[:, 3:]) @ variance).sum()
    distortion = 0.5 * misfit / SCALE**2 + 3 * (math.log(SCALE) + 0.5 * math.log(2 * math.pi))
    rate = 0.5 * (np.log(prior / variance) + (variance + np.square(loc - prior_loc)) / prior - 1).sum()
    many = Batch({name: view.expand(copies, -1) for name, view in batch.views.items()})
    assert model.loss(many, START, noise()).total.item() == pytest.approx(distortion + BETA * rate, rel=5e-3)


def test_the_likelihood_of_the_target_given_the_conditions_is_exact():
    model, batch = build(), batch_of(4)
    model.recognition.bias.data[2:] += 1.0
    found = model.conditional_log_likelihood(batch, 40_000, noise())
    layer = model.decoder.body[0]
    for row in range(4):
        features = features_of(model, batch, row)
        loc, variance = prior_of(model, features)
        weight = array(layer.weight)
        mean = weight @ np.r_[features, loc] + array(layer.bias)
        covariance = (weight[:, 3:] * variance) @ weight[:, 3:].T + SCALE**2 * np.eye(3)
        exact = multivariate_normal(mean, covariance).logpdf(array(batch.views["y"][row]))
        assert found[row].item() == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
def test_the_contract(prior):
    model, batch = build(prior=prior).train(), batch_of(30, missing=True)
    model.loss(batch, START, noise()).total.backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())
    broken = {name: view.where(batch.mask(name)[:, None], torch.nan) for name, view in batch.views.items()}
    partly = Batch(broken, batch.present)
    assert torch.equal(model.loss(batch, START, noise()).total, model.loss(partly, START, noise()).total)
    nothing = model.loss(batch.observe(["a", "b"]), START, noise())
    assert all(abs(term.item()) < 1e-6 for term in (nothing.total, *nothing.terms.values()))
    other = build(seed=5, prior=prior)
    other.load_state_dict(load(save(model.state_dict())))
    assert torch.equal(model.loss(batch, START, noise()).total, other.loss(batch, START, noise()).total)
    whole, alone = (model.represent(item) for item in (batch, batch[4:5]))
    for name, codes in whole.items():
        torch.testing.assert_close(alone[name][0], codes[4])
    likelihood = model.conditional_log_likelihood(batch, 3, noise())
    assert likelihood.isfinite().all()
    assert not likelihood[~batch.mask("y")].any()


@pytest.mark.parametrize("observed", [("a",), ("b",), ("a", "b"), ("y", "a")])
def test_it_generates_the_target_from_any_conditions(observed):
    model, batch = build(prior=PRIORS[2]), batch_of()
    codes = model.encode(batch, observed).rsample(7, noise())
    views = model.decode(codes)
    assert set(views) == {"y"}
    assert views["y"].batch_shape == (7, 6)
    assert model.decode(codes, []) == {}
    only = Batch({name: batch.views[name] for name in observed})
    torch.testing.assert_close(model.encode(only).rsample(7, noise()).private["y"], codes.private["y"])


def test_what_it_cannot_do_is_told():
    model, batch = build(), batch_of()
    lacking = [kind for kind in (Trainable, Encodes, Decodes, EstimatesLikelihood, Representation) if not isinstance(model, kind)]
    assert lacking == [EstimatesLikelihood]
    with pytest.raises(NotApplicableError, match="generates y only given a or b"):
        model.prior(3)
    for observed in ((), ("y",)):
        with pytest.raises(NotApplicableError, match="needs a condition: observe a or b"):
            model.encode(batch, observed)
    codes = model.encode(batch).rsample(1)
    with pytest.raises(NotApplicableError, match="does not generate a: train one that does"):
        model.decode(codes, ["a"])
    with pytest.raises(DataError, match="at least one sample"):
        model.loss(batch[:0], START)


def test_settings_are_checked_together():
    with pytest.raises(ConfigError) as caught:
        build(target="z", latent_dim=0, beta=-1.0, nets={"c": LinearNet()})
    assert len(caught.value.problems) == 4
    with pytest.raises(ConfigError) as caught:
        ConditionSizes(features=0, width=0)
    assert len(caught.value.problems) == 2
    with pytest.raises(ConfigError, match="needs a modality beside its target y"):
        CVAE(Spec((Modality("y", "tabular", (2,)),)), target="y")
