"""Linear decoders with normal noise: every term of every bound is known in closed form."""

import math
from itertools import combinations

import pytest
import torch
from linear_models import DIM, SCALE, SIZES, build, evidence, weights
from linear_models import make_exact as exact
from linear_models import views_of as sample_of
from torch.distributions import MultivariateNormal

from molyneux.core import Batch, ConfigError, Progress
from molyneux.learn.objectives import IWAE
from molyneux.learn.vaes import (
    CRMVAE,
    DMVAE,
    HELVAE,
    MMJSD,
    MMVAE,
    MMVM,
    MVAE,
    MVTCAE,
    VAE,
    CoDEVAE,
    GPoE,
    MMVAEPlus,
    MoPoE,
)

COPIES = 40_000
BETA = 1.3


def experts(model, views):
    """Means and variances of the experts, shared and private, without the package's own posteriors."""
    found = {}
    for name, view in views.items():
        raw = model.encoders[name](view)[0].detach()
        loc, free = raw[: 2 * DIM].chunk(2)
        private_loc, private_free = raw[2 * DIM :].chunk(2)
        found[name] = (loc, (10 * torch.tanh(free / 10)).exp(), private_loc, (10 * torch.tanh(private_free / 10)).exp())
    return found


def product(parts, *, prior):
    precision = sum(1 / variance for _, variance in parts) + prior
    return sum(loc / variance for loc, variance in parts) / precision, 1 / precision


def kl(loc, variance):
    return 0.5 * (loc**2 + variance - 1 - variance.log()).sum().item()


def distortion(model, name, view, loc, variance):
    """Expected negative log-likelihood of a view under independent normal codes."""
    weight, bias = weights(model, name)
    misfit = (view[0] - bias - weight @ loc).square().sum() + (weight.square() @ variance).sum()
    return (0.5 * misfit / SCALE**2).item() + len(bias) * (math.log(SCALE) + 0.5 * math.log(2 * math.pi))


def loss_of(model, views):
    """The loss, averaged over very many draws of the noise."""
    batch = Batch({name: view.expand(COPIES, -1) for name, view in views.items()})
    with torch.no_grad():
        return model.loss(batch, Progress(0, 1), torch.Generator().manual_seed(5)).total.item()


def subsets(names):
    return [chosen for size in range(1, len(names) + 1) for chosen in combinations(names, size)]


def close(value):
    return pytest.approx(value, rel=5e-3)


def test_vae():
    model = build(VAE, 1, beta=BETA)
    views = sample_of(model)
    loc, variance, *_ = experts(model, views)["m0"]
    assert loss_of(model, views) == close(distortion(model, "m0", views["m0"], loc, variance) + BETA * kl(loc, variance))


DRAWN = pytest.mark.parametrize("drawn", [(), ("m0", "m2")])


@DRAWN
@pytest.mark.parametrize("reconstruct", ["observed", "all", ("m1",)])
@pytest.mark.parametrize("which", ["all", "joint", "sampled"])
def test_mvae(which, reconstruct, drawn):
    model = build(MVAE, 3, beta=BETA, subsets=which, reconstruct=reconstruct, random_subsets=0, drawn=drawn)
    views = sample_of(model)
    found = experts(model, views)
    total = 0.0
    for chosen in subsets(model.spec.names):
        taken = {"all": True, "joint": len(chosen) == 3, "sampled": len(chosen) in (1, 3)}[which]
        if taken:
            loc, variance = product([found[name][:2] for name in chosen], prior=1)
            total += BETA * kl(loc, variance)
            always = {"observed": (), "all": model.spec.names}.get(reconstruct, reconstruct)
            for name in {*chosen, *always}:
                total += distortion(model, name, views[name], loc, variance)
    assert loss_of(model, views) == close(total)


@DRAWN
def test_mmvae(drawn):
    model = build(MMVAE, 3, beta=BETA, family="normal", divergence="bound", scales={"m1": 0.25}, drawn=drawn)
    views = sample_of(model)
    total = 0.0
    for loc, variance, *_ in experts(model, views).values():
        for name in model.spec.names:
            total += model.scales[name] * distortion(model, name, views[name], loc, variance) / 3
        total += BETA * kl(loc, variance) / 3
    assert loss_of(model, views) == close(total)


def test_the_estimated_divergence_of_mmvae():
    model = build(MMVAE, 2, family="normal")
    views = sample_of(model)
    parts = [MultivariateNormal(loc, variance.diag()) for loc, variance, *_ in experts(model, views).values()]
    prior = MultivariateNormal(torch.zeros(DIM), torch.eye(DIM))
    total = 0.0
    for part in parts:
        codes = part.sample((COPIES,))
        mixture = torch.stack([one.log_prob(codes) for one in parts]).logsumexp(0) - math.log(2)
        total += (mixture - prior.log_prob(codes)).mean().item() / 2
    batch = Batch({name: view.expand(COPIES, -1) for name, view in views.items()})
    rate = model.loss(batch, Progress(0, 1), torch.Generator().manual_seed(5)).terms["rate.shared"].item()
    assert rate == pytest.approx(total, abs=0.02)
    model.divergence = "bound"
    assert rate < model.loss(batch, Progress(0, 1)).terms["rate.shared"].item()


@pytest.mark.parametrize("samples", ["drawn", "stratified"])
@pytest.mark.parametrize("prior", [False, True])
def test_mopoe(samples, prior):
    model = build(MoPoE, 3, beta=BETA, samples=samples, prior_expert=prior)
    views = sample_of(model)
    found = experts(model, views)
    total = 0.0
    for chosen in subsets(model.spec.names):
        loc, variance = product([found[name][:2] for name in chosen], prior=int(prior))
        total += BETA * kl(loc, variance) / 7
        total += sum(distortion(model, name, views[name], loc, variance) for name in model.spec.names) / 7
    assert loss_of(model, views) == close(total)


@DRAWN
@pytest.mark.parametrize("cross", [True, False])
def test_dmvae(cross, drawn):
    model = build(DMVAE, 3, beta=BETA, private_dim={"m0": 1, "m2": 2}, cross=cross, drawn=drawn)
    views = sample_of(model)
    found = experts(model, views)
    joint = product([found[name][:2] for name in model.spec.names], prior=1)
    total = BETA * kl(*joint) + sum(BETA * kl(loc, variance) for loc, variance, *_ in found.values())
    for name, view in views.items():
        sources = [joint] + [found[other][:2] for other in model.spec.names if cross or other == name]
        _, _, private_loc, private_variance = found[name]
        for loc, variance in sources:
            code = (torch.cat([loc, private_loc]), torch.cat([variance, private_variance]))
            total += distortion(model, name, view, *code) + BETA * kl(private_loc, private_variance)
    assert loss_of(model, views) == close(total)


def test_crmvae():
    model = build(CRMVAE, 3, beta=BETA)
    views = sample_of(model)
    found = experts(model, views)
    loc, variance = product([found[name][:2] for name in model.spec.names], prior=0)
    total = BETA * kl(loc, variance)
    for name, view in views.items():
        own_loc, own, *_ = found[name]
        ratio = variance / own
        total += BETA * 0.5 * ((loc - own_loc) ** 2 / own + ratio - 1 - ratio.log()).sum().item()
        total += 0.5 * (distortion(model, name, view, loc, variance) + distortion(model, name, view, own_loc, own))
    assert loss_of(model, views) == close(total)
    with pytest.raises(ConfigError, match="the loss of CRMVAE is no bound with importance weights"):
        build(CRMVAE, objective=IWAE(2))


def test_the_bound_of_an_exact_posterior_is_the_evidence():
    model = build(MVAE, 3, subsets="all")
    exact(model)
    views = sample_of(model)
    total = sum(-evidence(model, views, chosen).item() for chosen in subsets(model.spec.names))
    assert loss_of(model, views) == close(total)


@pytest.mark.parametrize("k", [1, 64])
def test_importance_weights_of_an_exact_posterior_are_the_evidence(k):
    model = build(MVAE, 3)
    exact(model)
    views = {name: torch.randn(50, SIZES[i]) for i, name in enumerate(model.spec.names)}
    batch = Batch(views)
    for chosen in subsets(model.spec.names):
        seen = batch.observe(chosen)
        torch.testing.assert_close(model.log_likelihood(seen, k), evidence(model, views, chosen), atol=1e-3, rtol=1e-4)


SAMPLED = [MMVAE, MoPoE, DMVAE, MMVAEPlus, CoDEVAE, HELVAE, MMVM, MVTCAE, MMJSD, GPoE, CRMVAE]


@pytest.mark.parametrize("kind", SAMPLED)
def test_importance_sampling_finds_the_evidence_of_every_model(kind):
    private = {"private_dim": 1}
    settings = {DMVAE: private, MMVAE: {"family": "normal"}, MMVAEPlus: {**private, "family": "normal"}}.get(kind, {})
    model = build(kind, 2, **settings)
    if kind in (MVTCAE, CRMVAE):  # products without the prior: wider experts, so that they cover the posterior
        for encoder in model.encoders.values():
            encoder.bias.data[DIM:] += 1.0
    views = sample_of(model)
    estimate = model.log_likelihood(Batch(views), 200_000, torch.Generator().manual_seed(0)).item()
    # Weights of wide posteriors have heavy tails: about one draw in 200 is effective, so the estimate has an error of some 0.05.
    assert estimate == pytest.approx(evidence(model, views, model.spec.names).item(), abs=0.12)


@pytest.mark.parametrize("k", [1, 5])
def test_the_importance_weighted_bound_of_an_exact_posterior_is_the_evidence(k):
    model = build(MVAE, 3, subsets="all", objective=IWAE(k))
    exact(model)
    views = sample_of(model)
    total = sum(-evidence(model, views, chosen).item() for chosen in subsets(model.spec.names))
    assert model.loss(Batch(views), Progress(0, 1)).total.item() == pytest.approx(total, rel=1e-4)


BOUNDS = [
    (VAE, {}, [("m0",)]),
    (MVAE, {}, [("m0",), ("m1",), ("m0", "m1")]),
    (MMVAE, {"family": "normal"}, [("m0", "m1")]),
    (MoPoE, {}, [("m0", "m1")]),
    (DMVAE, {"private_dim": 1}, [("m0", "m1")] * 3),
    (DMVAE, {"private_dim": 1, "cross": False}, [("m0", "m1"), ("m0",), ("m1",)]),
]


@pytest.mark.parametrize(("kind", "settings", "bounds"), BOUNDS, ids=lambda item: getattr(item, "__name__", ""))
def test_the_importance_weighted_bounds_tend_to_the_evidence_from_below(kind, settings, bounds):
    views, losses = None, {}
    for k, copies in ((1, 5000), (8, 1000), (20_000, 5)):
        model = build(kind, 1 if kind is VAE else 2, objective=IWAE(k), **settings)
        for encoder in model.encoders.values():  # wide posteriors, whose importance weights vary little
            encoder.bias.data[DIM : 2 * DIM] += 2.0
        views = sample_of(model)
        batch = Batch({name: view.expand(copies, -1) for name, view in views.items()})
        with torch.no_grad():
            losses[k] = model.loss(batch, Progress(0, 1), torch.Generator().manual_seed(5)).total.item()
    total = sum(-evidence(model, views, chosen).item() for chosen in bounds)
    assert losses[1] > losses[8] > losses[20_000] > total - 0.05
    # Stratified over its experts, the bound of MMVAE is the mean of logarithms of means: it stays below (Jensen).
    assert losses[20_000] < total + (1.0 if kind is MMVAE else 0.05)
