"""The VAE with an objective: what it reports, whom it counts, what it generates from, and how a file says it."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, Modality, Progress, Spec, Trainable, TrainingError, config
from molyneux.data import Ynoc
from molyneux.learn.encoders.nets import Recurrent
from molyneux.learn.objectives import CCI, DIP, ELBO, MAT, BetaTCVAE, BetaVAE, FactorVAE, Warmup, WarmupSteps
from molyneux.learn.posteriors import SparseNormal
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.vaes import AE, VAE, Aggressive

START = Progress(0, 10)
STATISTICS = [BetaTCVAE(), DIP("II"), CCI(capacity=3.0, per="batch"), BetaVAE(free_bits=0.2)]
MODEL = Annotated[config.Factory[Trainable], config.Supplied(("spec",), "molyneux.learn")]


def noise(seed=1):
    return torch.Generator().manual_seed(seed)


def test_beta_is_short_for_an_objective(build, batch_of):
    short, whole = build(VAE, beta=WarmupSteps(4, value=3.0)), build(VAE, objective=BetaVAE(WarmupSteps(4, value=3.0)))
    batch = batch_of(short.spec)
    losses = [model.loss(batch, Progress(2, 10), noise()) for model in (short, whole)]
    assert torch.equal(losses[0].total, losses[1].total)
    terms = {name: term.item() for name, term in losses[0].terms.items()}
    assert losses[0].total.item() == pytest.approx(terms["distortion.image"] + 1.5 * terms["rate.shared"])
    assert build(VAE, beta=None, objective=CCI()).criterion.settings == CCI()
    assert build(VAE, beta=None).criterion.settings == BetaVAE(1.0)
    with pytest.raises(ConfigError, match="beta: the objective CCI has its own weights"):
        build(VAE, beta=1.0, objective=CCI())


@pytest.mark.parametrize("objective", STATISTICS, ids=lambda item: type(item).__name__)
def test_what_is_absent_enters_no_statistic(objective, build, batch_of):
    model = build(VAE, objective=objective)
    batch = batch_of(model.spec, 12)
    mask = torch.arange(12) % 3 > 0
    posterior_noise = torch.randn(1, 12, 4, generator=noise())
    model.family = type("Fixed", (model.family,), {"_noise": lambda self, shape, _: posterior_noise.expand(shape)})
    part = model.loss(replace(batch, present={"image": mask}), START).total
    posterior_noise = posterior_noise[:, mask]
    whole = model.loss(batch[mask], START).total
    assert part.item() == pytest.approx(8 / 12 * whole.item(), rel=1e-5)


OF_TWO = [
    MAT(),
    DIP("I"),
    DIP("II"),
    FactorVAE(width=8, layers=2),
    BetaTCVAE(samples=500, estimator="stratified"),
]


@pytest.mark.parametrize("objective", OF_TWO, ids=lambda item: type(item).__name__)
def test_a_lone_sample_has_no_statistic(objective, build, batch_of):
    model = build(VAE, objective=objective)
    batch = batch_of(model.spec, 1)
    loss = model.loss(batch, START, noise())
    assert loss.terms.keys() == {"distortion.image", "rate.shared"}
    assert loss.terms["rate.shared"] > 0
    assert loss.total.item() == loss.terms["distortion.image"].item()
    with pytest.raises(TrainingError, match="at least 2 present samples in a batch for its statistics, got 1: raise batch_size"):
        model.train().loss(batch, START, noise())


@pytest.mark.parametrize(
    ("objective", "cost"),
    [
        (BetaTCVAE(), lambda rate: rate),  # of one sample the total correlation is 0
        (CCI(2.0, capacity=0.5, per="batch"), lambda rate: 2 * abs(rate - 0.5)),
        (BetaVAE(3.0), lambda rate: 3 * rate),
    ],
    ids=["BetaTCVAE", "CCI", "BetaVAE"],
)
def test_a_lone_sample_costs_what_needs_no_other(objective, cost, build, batch_of):
    model = build(VAE, objective=objective).train()
    loss = model.loss(batch_of(model.spec, 1), START, noise())
    expected = loss.terms["distortion.image"].item() + cost(loss.terms["rate.shared"].item())
    assert loss.total.item() == pytest.approx(expected, rel=1e-5)


def test_the_sparse_prior_is_what_the_model_generates_from(build, batch_of):
    model = build(VAE, objective=MAT())
    prior = model.prior(4000).shared
    assert isinstance(prior, SparseNormal)
    assert (prior.rsample((), noise()).abs() < 0.15).float().mean().item() == pytest.approx(0.8 + 0.2 * 0.12, abs=0.02)
    batch = batch_of(model.spec, 6, missing=0.5)
    codes = model.prior(6).rsample(3, noise())
    absent = ~batch.present["image"]
    torch.testing.assert_close(model.encode(batch).log_prob(codes)[:, absent], model.prior(6).log_prob(codes)[:, absent])
    fitted = build(VAE, objective=MAT(), prior=ExPostMixture(components=2))
    assert not isinstance(fitted.prior(3).shared, SparseNormal)


def test_an_aggressive_step_spares_the_decoder(build, batch_of):
    plain, model = (build(VAE, aggressive=settings).train() for settings in (None, Aggressive(3, fraction=0.5)))
    batch = batch_of(model.spec)
    for step in range(8):
        gradients = []
        for one in (plain, model):
            one.zero_grad()
            one.loss(batch, Progress(step, 8), noise()).total.backward()
            gradients.append({name: parameter.grad for name, parameter in one.named_parameters()})
        spared = step in (0, 1, 3)
        for name, gradient in gradients[1].items():
            if name.startswith("networks.decoders.") and spared:
                assert gradient is None
            else:
                assert torch.equal(gradient, gradients[0][name])
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_an_aggressive_step_spares_a_decoder_that_reads_word_by_word(text_model):
    model, batch = text_model(VAE, aggressive=Aggressive(2, fraction=1.0))
    model.train().loss(batch, Progress(0, 8), noise()).total.backward()
    encoder = {name for name, _ in model.encoders.named_parameters()}
    shared = {id(parameter) for parameter in model.encoders.parameters()}
    assert encoder
    assert all(parameter.grad is not None for parameter in model.encoders.parameters())
    own = [parameter for parameter in model.decoders.parameters() if id(parameter) not in shared]
    assert own
    assert all(parameter.grad is None for parameter in own)


@pytest.fixture
def text_model():
    """A model of sentences as the published ones are, and a batch for it."""

    def make(kind, **settings):
        source = Ynoc().source("train", 8, seed=0)
        nets = {name: Recurrent(embedding=4, width=32) for name in source.spec.names}
        return kind(source.spec, latent_dim=4, nets=nets, **settings), source.batch(np.arange(8))

    return make


def test_parameters_are_as_many_as_published(text_model):
    counts = [sum(parameter.numel() for parameter in text_model(kind)[0].parameters()) for kind in (VAE, AE)]
    assert counts == [13_929, 13_797]


def test_a_model_in_a_file_of_the_user_is_found_by_its_path(monkeypatch, batch_of):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    settings = {"class_path": "mvtcae.MVTCAE", "init_args": {"latent_dim": 3, "alpha": 0.5, "beta": {"value": 2.0}}}
    spec = Spec((Modality("a", "tabular", (3,)), Modality("b", "label", (), "int64", ("x", "y"))))
    model = config.build(MODEL, settings).value.make(spec=spec)
    assert (model.latent_dim, model.alpha) == (3, 0.5)
    assert model.criterion.settings == ELBO(Warmup(2.0))
    first = model.loss(batch_of(spec), Progress(10, 10), noise()).total.item()
    model.criterion = ELBO().build(3)
    terms = model.loss(batch_of(spec), Progress(10, 10), noise()).terms
    assert first == pytest.approx(sum(term.item() for term in terms.values()) + terms["rate.shared"].item(), rel=1e-5)
    settings["init_args"]["alpha"] = 2.0
    with pytest.raises(ConfigError, match=r"alpha: expected a number in 0\.\.1"):
        config.build(MODEL, settings).value.make(spec=spec)
    settings["init_args"]["alhpa"] = 2.0
    with pytest.raises(ConfigError, match='alhpa: unknown setting of MVTCAE; did you mean "alpha"'):
        config.build(MODEL, settings)


def test_a_file_says_it():
    settings = {
        "class_path": "VAE",
        "init_args": {
            "objective": {"class_path": "CCI", "init_args": {"capacity": {"value": 10, "steps": 5000}}},
            "aggressive": {"encoder_steps": 5},
        },
    }
    recipe = config.build(MODEL, settings).value
    model = recipe.make(spec=Spec((Modality("a", "tabular", (3,)),)))
    assert isinstance(model, Trainable)
    assert model.criterion.settings == CCI(capacity=WarmupSteps(5000, value=10.0))
    assert model.aggressive == Aggressive(5)
    settings["init_args"]["objective"]["init_args"]["per"] = "word"
    with pytest.raises(ConfigError, match=r"objective\.init_args\.per: expected one of sample, batch, got 'word'"):
        config.build(MODEL, settings)


@pytest.mark.parametrize(("settings", "problems"), [({"encoder_steps": 0, "fraction": 0.0}, 2), ({"fraction": 1.5}, 1)])
def test_aggressive_settings_are_checked(settings, problems):
    with pytest.raises(ConfigError) as caught:
        Aggressive(**settings)
    assert len(caught.value.problems) == problems
