"""HSVAE: its terms from its own draws, and its bound on a likelihood that is known."""

import pytest
import torch
from torch import nn
from torch.distributions import Normal

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec
from molyneux.learn.encoders.nets import Net
from molyneux.learn.encoders.nets.net import Reshape
from molyneux.learn.likelihoods import Normal as NormalLikelihood
from molyneux.learn.posteriors import SpikePrior
from molyneux.learn.vaes import HSVAE

START = Progress(0, 1)


class LinearNet(Net):
    kinds = frozenset({"tabular"})

    def encoder(self, modality, outputs):
        return nn.Linear(modality.size, outputs)

    def body(self, modality, inputs, parameters):
        return nn.Sequential(nn.Linear(inputs, modality.size), Reshape(parameters, *modality.shape))


def linear(**settings):
    torch.manual_seed(2)
    spec = Spec((Modality("table", "tabular", (2,)),))
    likelihoods = {"table": NormalLikelihood(scale=0.5)}
    return HSVAE(spec, latent_dim=1, nets={"table": LinearNet()}, likelihoods=likelihoods, **settings)


def noise(seed=1):
    return torch.Generator().manual_seed(seed)


def test_terms_and_weights(build, batch_of):
    found = {}
    for psi, weight in ((1.0, 1.0), (0.5, 3.0)):
        model = build(HSVAE, psi=psi, gamma_weight=weight, spikes=SpikePrior(2.0, 5.0))
        loss = model.loss(batch_of(model.spec), START, noise())
        terms = {name: term.item() for name, term in loss.terms.items()}
        rate = psi * terms["rate.code"] + weight * terms["rate.probability"]
        assert loss.total.item() == pytest.approx(terms["distortion.image"] + rate, rel=1e-6)
        assert terms["rate.shared"] == pytest.approx(terms["rate.code"] + terms["rate.probability"], rel=1e-5)
        found[psi] = terms
    assert found[1.0] == found[0.5]


def test_the_bound_is_below_the_evidence_and_importance_weights_reach_it():
    model = linear(spikes=SpikePrior(3.0, 2.0, 0.1))
    layer = model.decoders["table"].body[0]
    view = torch.tensor([[0.7, -0.2]])
    grid = torch.linspace(-8, 8, 20_001)
    prior = 0.6 * Normal(0.0, 0.1).log_prob(grid).exp() + 0.4 * Normal(0.0, 1.0).log_prob(grid).exp()
    with torch.no_grad():
        given = Normal(layer(grid.unsqueeze(-1)), 0.5).log_prob(view).sum(-1).exp()
        evidence = torch.trapezoid(prior * given, grid).log().item()
        estimate = model.log_likelihood(Batch({"table": view}), 100_000, noise()).item()
        many = Batch({"table": view.expand(100_000, -1)})
        bounds = {}
        for divergence in ("monte_carlo", "bound"):
            model.divergence = divergence
            bounds[divergence] = -model.loss(many, START, noise()).total.item()
    assert estimate == pytest.approx(evidence, abs=0.01)
    assert bounds["bound"] < bounds["monte_carlo"] + 0.01 < evidence + 0.01


def test_a_new_model_is_near_its_prior(build, batch_of):
    model = build(HSVAE)
    raw = torch.zeros(3, 16)
    assert model.experts(raw).kl().abs().max() < 1e-6
    assert model.experts(raw).mean.abs().max() == 0
    assert model.loss(batch_of(model.spec), START, noise()).terms["rate.probability"] < 2.0


def test_it_learns():
    generator = noise()
    codes = torch.randn(2000, 2, generator=generator) * torch.tensor([2.0, 0.0])
    model = HSVAE(
        Spec((Modality("table", "tabular", (2,)),)),
        latent_dim=2,
        nets={"table": LinearNet()},
        likelihoods={"table": NormalLikelihood(scale=0.1)},
        spikes=SpikePrior(2.0, 2.0),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.04)
    for step in range(200):
        batch = Batch({"table": codes[(step * 100) % 2000 :][:100] + 0.1 * torch.randn(100, 2, generator=generator)})
        optimizer.zero_grad()
        loss = model.loss(batch, Progress(step, 200), generator)
        loss.total.backward()
        optimizer.step()
    spread = model.represent(Batch({"table": codes}))["shared"].std(0)
    assert spread.max() > 0.5
    assert loss.terms["distortion.table"].item() < 40  # with nothing in the code it is about 200, half the variance over 0.01


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"temperature": 0.0}, "temperature"), ({"divergence": "none"}, "divergence"), ({"psi": -1.0}, "psi")],
)
def test_what_cannot_be_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        linear(**settings)
