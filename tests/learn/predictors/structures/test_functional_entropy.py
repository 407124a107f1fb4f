"""RMFE: the functional Fisher information of linear models in closed form, its bound, and what it does to training."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec, Target
from molyneux.learn import FusionPredictor
from molyneux.learn.encoders import MLP, Identity, RecurrentSteps
from molyneux.learn.fusion import BottleneckAttention, EarlyFusion, KalmanFilter, LowRank, MulT, NLGate
from molyneux.learn.predictors import RMFE, Head
from molyneux.learn.predictors.objectives.functional_entropy import divergences, repeat

START, LINEAR = Progress(0, 10), Head(layers=0)
VIEWS = (Modality("a", "tabular", (3,)), Modality("b", "tabular", (2,)))
NUMBER, CLASS = Target("y", "number"), Target("y", "class", ("p", "q", "r"))


def linear(target, **settings):
    torch.manual_seed(0)
    spec = Spec(VIEWS, targets=(target,))
    return FusionPredictor(spec, encoders={"tabular": Identity()}, head=LINEAR, objectives=(RMFE(**settings),)).train()


def samples(target, size=6):
    random = torch.Generator().manual_seed(4)
    y = torch.randn(size, generator=random) if target is NUMBER else torch.arange(size) % 3
    return Batch({item.name: torch.randn(size, *item.shape, generator=random) for item in VIEWS}, targets={"y": y})


def loss_of(model, batch, seed=0):
    return model.loss(batch, START, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("perturbed", ["encodings", "inputs"])
def test_of_a_linear_model_of_a_number_in_closed_form(perturbed):
    """f = (s w eps)^2 / (2 sigma^2), so |grad f|^2 / f = 2 s^2 |w|^2 / sigma^2, whatever eps is."""
    model, batch = linear(NUMBER, weight=0.01, scale=0.7, perturbed=perturbed), samples(NUMBER)
    output = model.answers.outputs["y"]
    output.log_scale.data.fill_(0.3)
    loss = loss_of(model, batch)
    total = loss.terms["nll.y"]
    for name, weight in zip("ab", output.last.weight[0].split([3, 2]), strict=True):
        size = 0.7**2 * batch.views[name].square().mean()
        expected = 2 * size * weight.square().sum() / torch.tensor(0.6).exp()
        torch.testing.assert_close(loss.terms[f"{name}/information"], expected.detach(), rtol=1e-4, atol=1e-6)
        total = total + 0.01 / expected
    torch.testing.assert_close(loss.total, total, rtol=1e-4, atol=1e-5)


def test_of_a_linear_model_of_classes_by_hand():
    """The cross-entropy of p and p' has the gradient s W^T (p' - p)."""
    model, batch = linear(CLASS, samples=3), samples(CLASS)
    layer = model.answers.outputs["y"].last
    vectors = torch.cat([batch.views["a"], batch.views["b"]], 1)
    p = layer(vectors).softmax(1).repeat(3, 1)
    noise = torch.randn(18, 3, generator=torch.Generator().manual_seed(0))
    size = batch.views["a"].square().mean().sqrt()
    other = torch.cat([batch.views["a"].repeat(3, 1) + size * noise, batch.views["b"].repeat(3, 1)], 1)
    logs = layer(other).log_softmax(1)
    slopes = size * (logs.exp() - p) @ layer.weight[:, :3]
    expected = (slopes.square().sum(1) / -(p * logs).sum(1)).mean()
    torch.testing.assert_close(loss_of(model, batch).terms["a/information"], expected.detach(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("tasks", [1, 2, 3, 5])
def test_it_bounds_the_functional_entropy(spec_of, encoders, batch_of, tasks):
    """The log-Sobolev inequality: E f log f - E f log E f <= I / 2, for every sample."""
    torch.manual_seed(0)
    model = FusionPredictor(spec_of(2, tasks), encoders=encoders, head=Head(9), objectives=(RMFE(samples=4000),)).train()
    for layer in model.answers.outputs.values():
        nn.init.normal_(layer.last.weight, std=2.0)
    batch = batch_of(model.spec, 1)
    information = loss_of(model, batch).terms["table/information"]
    with torch.no_grad():
        encodings = model.encodings(batch)
        reference, table = model.distributions(encodings), encodings["table"]
        size = table.vector.square().mean().sqrt()
        many = {name: repeat(encoding, 4000) for name, encoding in encodings.items()}
        noisy = replace(many["table"], vector=many["table"].vector + size * torch.randn(4000, 4))
        found = model.distributions({**many, "table": noisy})
        f = sum(divergences(reference[name], found[name], 4000) for name in found)
        entropy = (f * f.log()).mean() - f.mean() * f.mean().log()
    assert 0 < entropy <= information / 2


@pytest.mark.parametrize("target", [CLASS, NUMBER])
def test_an_ignored_modality_has_little_information_and_learning_raises_it(target):
    batch = samples(target, 30)
    model = linear(target, weight=1e-3)
    model.answers.outputs["y"].last.weight.data[:, 3:] *= 1e-3
    before = loss_of(model, batch).terms
    assert before["b/information"] < 1e-4 * before["a/information"]
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for step in range(20):
        optimizer.zero_grad()
        loss_of(model, batch, step).total.backward()
        optimizer.step()
    assert loss_of(model, batch).terms["b/information"] > 100 * before["b/information"]


RISKY = [
    EarlyFusion(RecurrentSteps("lstm", 4)),
    MulT(4, 2, 1, self_layers=1, dropout=0.1),
    NLGate(slots=3),
    BottleneckAttention(4, heads=2, feedforward=5),
    KalmanFilter(3, 4),
    LowRank(4, 2),
]


@pytest.mark.parametrize("fusion", RISKY, ids=repr)
@pytest.mark.parametrize("perturbed", ["encodings", "inputs"])
def test_any_fusion_has_gradients_of_gradients_and_keeps_its_mode(spec_of, batch_of, fusion, perturbed):
    torch.manual_seed(0)
    settings = RMFE(weight=1.0, samples=2, perturbed=perturbed)
    encoders = {} if isinstance(fusion, EarlyFusion | MulT) else {"series": RecurrentSteps("lstm", 4), "tabular": MLP((4,), 4)}
    model = FusionPredictor(spec_of(3, 2), encoders=encoders, fusion=fusion, head=Head(5, dropout=0.1), objectives=(settings,))
    modes = {name: part.training for name, part in model.train().named_modules()}
    batch = replace(batch_of(model.spec, 5), present={"table": torch.tensor([True, False, True, True, False])})
    loss = loss_of(model, batch)
    loss.total.backward()
    assert {name: part.training for name, part in model.named_modules()} == modes
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name
    added = sum(1 / (loss.terms[f"{name}/information"] + 1e-12) for name in model.spec.names)
    torch.testing.assert_close(loss.total, sum(loss.terms[f"nll.{target.name}"] for target in model.spec.targets) + added)


def test_statistics_of_batch_normalisation_are_those_of_the_training_alone(spec_of, batch_of):
    states = []
    for objectives in ((RMFE(samples=2, perturbed="inputs"),), ()):
        torch.manual_seed(0)
        model = FusionPredictor(
            spec_of(2), encoders={"series": RecurrentSteps(width=4)}, objectives=objectives, head=LINEAR
        ).train()
        model.answers.hidden.append(nn.BatchNorm1d(model.answers.features))
        model.loss(batch_of(model.spec), START, torch.Generator().manual_seed(0))
        states.append(model.answers.hidden.state_dict())
    assert states[0]["0.num_batches_tracked"] == 1
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_absent_views_reach_no_information(spec_of, encoders, batch_of):
    for perturbed in ("encodings", "inputs"):
        torch.manual_seed(0)
        model = FusionPredictor(spec_of(2), encoders=encoders, objectives=(RMFE(samples=2, perturbed=perturbed),)).train()
        batch = batch_of(model.spec)
        none = replace(batch, present={"table": torch.zeros(12, dtype=torch.bool)})
        assert loss_of(model, none).terms["table/information"] == 0
        views = {**batch.views, "table": batch.views["table"].where(torch.arange(12).unsqueeze(1) < 6, torch.nan)}
        damaged = replace(batch, views=views, present={"table": torch.arange(12) < 6})
        assert loss_of(model, damaged).total.isfinite()
        assert model.eval().loss(damaged, START).terms.keys() == {"nll.y", "accuracy.y"}


def test_symbols_have_no_perturbation():
    text = Modality("words", "text", (4,), "uint8", ("", "a", "b"), padding=0)
    spec = Spec((*VIEWS, text), targets=(CLASS,))
    with pytest.raises(ConfigError, match="perturbed: expected inputs of numbers, got symbols in words: choose encodings"):
        FusionPredictor(spec, objectives=(RMFE(perturbed="inputs"),))
