"""JMVAE, TELBO and JNF with linear nets and normal noise: losses, posteriors and likelihoods against closed forms."""

import math
from itertools import combinations

import linear_models
import numpy as np
import pytest
import torch
from linear_models import DIM, SCALE, SIZES
from scipy.stats import multivariate_normal
from torch import nn

from molyneux.core import Batch, ConfigError, NotApplicableError, Progress
from molyneux.learn import Stage, Training, fit
from molyneux.learn.vaes import JMVAE, JNF, TELBO

COPIES, BETA, ALPHA = 20_000, 1.3, 0.6
KINDS = (JMVAE, TELBO, JNF)


def build(kind, count=3, **settings):
    model = linear_models.build(kind, count, joint_width=7, **settings).eval()
    if kind is JNF:
        for flow in model.flows.values():  # the identity
            for layer in flow.layers.transforms:
                for parameter in layer.hyper[-1].parameters():
                    parameter.data.zero_()
    return model


def sample_of(model, size=1):
    generator = torch.Generator().manual_seed(4)
    return {name: torch.randn(size, SIZES[i], generator=generator) for i, name in enumerate(model.spec.names)}


def array(tensor):
    return tensor.detach().double().numpy()


def parameters(raw):
    """Mean and variance of an expert, from what its encoder gives."""
    return raw[..., :DIM], np.exp(10 * np.tanh(raw[..., DIM:] / 10))


def expert(model, name, view):
    layer = model.encoders[name]
    return parameters(array(view)[0] @ array(layer.weight).T + array(layer.bias))


def joint(model, views):
    """The posterior of the joint encoder, from its weights alone."""
    encoder, total = model.joint_encoder, 0.0
    for name, view in views.items():
        layer = encoder.features[name]
        total = total + array(view)[0] @ array(layer.weight).T + array(layer.bias)
    for layer in [part for part in encoder.head if isinstance(part, nn.Linear)]:
        total = np.maximum(total, 0) @ array(layer.weight).T + array(layer.bias)
    return parameters(total)


def distortion(model, name, view, loc, variance):
    layer = model.decoders[name].body[0]
    weight, bias = array(layer.weight), array(layer.bias)
    misfit = np.square(array(view)[0] - bias - weight @ loc).sum() + (np.square(weight) @ variance).sum()
    return 0.5 * misfit / SCALE**2 + len(bias) * (math.log(SCALE) + 0.5 * math.log(2 * math.pi))


def kl(loc, variance, other_loc=0.0, other=1.0):
    return 0.5 * (np.log(other / variance) + (variance + np.square(loc - other_loc)) / other - 1).sum()


def loss_of(model, views, stage="", copies=COPIES):
    """The loss, averaged over very many draws of the noise."""
    batch = Batch({name: view.expand(copies, -1) for name, view in views.items()})
    with torch.no_grad():
        return model.loss(batch, Progress(0, 1, stage), torch.Generator().manual_seed(5)).total.item()


def joint_bound(model, views):
    loc, variance = joint(model, views)
    return BETA * kl(loc, variance) + sum(distortion(model, name, view, loc, variance) for name, view in views.items())


def close(value):
    return pytest.approx(value, rel=7e-3)


def test_jmvae():
    model = build(JMVAE, beta=BETA, alpha=ALPHA)
    views = sample_of(model)
    loc, variance = joint(model, views)
    gaps = {name: kl(loc, variance, *expert(model, name, view)) for name, view in views.items()}
    assert loss_of(model, views) == close(joint_bound(model, views) + ALPHA * sum(gaps.values()))
    terms = model.loss(Batch(views), Progress(0, 1)).terms
    assert {name: terms[f"divergence.{name}"].item() for name in gaps} == pytest.approx(gaps, rel=1e-4)


def test_jmvae_where_a_modality_is_missing():
    model = build(JMVAE, beta=BETA, alpha=ALPHA)
    views = sample_of(model)
    seen = {name: view for name, view in views.items() if name != "m1"}
    loc, variance = joint(model, seen)
    total = BETA * kl(loc, variance) + sum(distortion(model, name, view, loc, variance) for name, view in seen.items())
    total += ALPHA * sum(kl(loc, variance, *expert(model, name, view)) for name, view in seen.items())
    batch = Batch({name: view.expand(COPIES, -1) for name, view in views.items()}, {"m1": torch.zeros(COPIES, dtype=torch.bool)})
    assert model.loss(batch, Progress(0, 1), torch.Generator().manual_seed(5)).total.item() == close(total)


def test_telbo_and_its_stages():
    model = build(TELBO, beta=BETA)
    views, alone = sample_of(model), 0.0
    for name, view in views.items():
        loc, variance = expert(model, name, view)
        alone += distortion(model, name, view, loc, variance) + BETA * kl(loc, variance)
    whole = joint_bound(model, views)
    assert loss_of(model, views) == close(whole + alone)
    assert loss_of(model, views, "joint") == close(whole)
    assert loss_of(model, views, "unimodal") == close(alone)


def test_jnf_and_its_stages():
    """With flows that are the identity, -E log q(z|x_m) is the cross entropy of two normals."""
    model = build(JNF, beta=BETA)
    views = sample_of(model)
    loc, variance = joint(model, views)
    entropy = 0.5 * (np.log(2 * np.pi * variance) + 1).sum()
    flows = sum(entropy + kl(loc, variance, *expert(model, name, view)) for name, view in views.items())
    whole = joint_bound(model, views)
    assert loss_of(model, views) == close(whole + flows)
    assert loss_of(model, views, "joint") == close(whole)
    assert loss_of(model, views, "flows") == close(flows)


@pytest.mark.parametrize(
    ("kind", "stage", "moving"),
    [
        (TELBO, "unimodal", ("encoders.",)),
        (TELBO, "joint", ("decoders.", "joint_encoder.")),
        (JNF, "flows", ("encoders.", "flows.")),
        (JNF, "joint", ("decoders.", "joint_encoder.")),
    ],
)
def test_a_stage_trains_its_own_parts(kind, stage, moving):
    model = build(kind).train()
    model.loss(Batch(sample_of(model, 9)), Progress(0, 1, stage), torch.Generator().manual_seed(5)).total.backward()
    names = {
        name.removeprefix("networks.") for name, item in model.named_parameters() if item.grad is not None and item.grad.any()
    }
    assert {name.partition(".")[0] + "." for name in names} == set(moving)


@pytest.mark.parametrize(("kind", "second"), [(TELBO, "unimodal"), (JNF, "flows")])
def test_stages_of_a_training(kind, second):
    from molyneux.data import ArraySource

    model = build(kind)
    source = ArraySource(model.spec, Batch(sample_of(model, 64)))
    stages = (Stage(name="joint", epochs=1), Stage(name=second, epochs=1))
    history = fit(model, source, training=Training(batch_size=32, stages=stages, threads=1, device="cpu"))
    assert [row["stage"] for row in history.rows] == [1, 2]
    other = Training(batch_size=32, stages=(Stage(name="unimodel", epochs=1),), threads=1, device="cpu")
    with pytest.raises(ConfigError, match=f"stages: expected joint and {second}, got 'unimodel'"):
        fit(build(kind), source, training=other)


@pytest.mark.parametrize("kind", [JMVAE, TELBO])
def test_given_several_the_posterior_is_the_product_of_their_experts(kind):
    model = build(kind)
    views = sample_of(model)
    for count in (1, 2):
        for chosen in combinations(model.spec.names, count):
            parts = [expert(model, name, views[name]) for name in chosen]
            precision = sum(1 / variance for _, variance in parts)
            found = model.encode(Batch(views), chosen).shared
            np.testing.assert_allclose(
                array(found.mean)[0], sum(loc / variance for loc, variance in parts) / precision, rtol=1e-4
            )
            np.testing.assert_allclose(array(found.variance)[0], 1 / precision, rtol=1e-4)
    loc, variance = joint(model, views)
    found = model.encode(Batch(views)).shared
    np.testing.assert_allclose(array(found.mean)[0], loc, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(array(found.variance)[0], variance, rtol=1e-4)


def test_given_several_jnf_draws_from_the_product_over_the_prior():
    model = build(JNF, candidates=100, flow_layers=1, flow_width=4)
    for encoder in model.encoders.values():  # narrower than the prior, so that the quotient is a density
        encoder.bias.data[DIM:] -= 1.5
    views = sample_of(model)
    for chosen in (("m0",), ("m1", "m2")):
        parts = [expert(model, name, views[name]) for name in chosen]
        precision = sum(1 / variance for _, variance in parts) - (len(parts) - 1)
        loc = sum(loc / variance for loc, variance in parts) / precision
        found = model.encode(Batch(views), chosen).shared
        drawn = array(found.rsample((1500,), torch.Generator().manual_seed(0)))[:, 0]
        np.testing.assert_allclose(drawn.mean(0), loc, atol=0.06)
        np.testing.assert_allclose(drawn.var(0), 1 / precision, rtol=0.15)
        np.testing.assert_allclose(array(found.mean)[0], loc, atol=0.25)
        if len(chosen) == 1:
            normal = multivariate_normal(loc, np.diag(1 / precision))
            np.testing.assert_allclose(array(found.log_prob(torch.zeros(1, DIM))), normal.logpdf(np.zeros(DIM)), rtol=1e-4)
        else:
            with pytest.raises(NotApplicableError, match="the product of several flows has no density"):
                found.log_prob(torch.zeros(1, DIM))


def evidence(model, views):
    layers = [model.decoders[name].body[0] for name in views]
    weight = np.concatenate([array(layer.weight) for layer in layers])
    bias = np.concatenate([array(layer.bias) for layer in layers])
    covariance = weight @ weight.T + SCALE**2 * np.eye(len(bias))
    return multivariate_normal(bias, covariance).logpdf(np.concatenate([array(view)[0] for view in views.values()]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chosen", [("m0",), ("m0", "m2"), ("m0", "m1", "m2")])
def test_importance_sampling_finds_the_evidence_of_every_subset(kind, chosen):
    model = build(kind)
    for layer in [*model.encoders.values(), model.joint_encoder.head[-1]]:
        layer.bias.data[DIM:] += 1.0  # wide posteriors, whose importance weights vary little
    views = sample_of(model)
    k = 60_000 if len(chosen) == 3 else 10_000
    found = model.log_likelihood(Batch(views).observe(chosen), k, torch.Generator().manual_seed(0))
    assert found.item() == pytest.approx(evidence(model, {name: views[name] for name in chosen}), abs=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_settings_are_checked_together(kind):
    own = {JMVAE: {"alpha": -1.0}, JNF: {"candidates": 0}, TELBO: {}}[kind]
    with pytest.raises(ConfigError) as caught:
        build(kind, **own, joint_layers=0)
    assert len(caught.value.problems) == 1 + len(own)
