"""OGMGE: ratios and coefficients by hand, which gradients change and by how much, and a modality that dominates."""

import copy
import math
from dataclasses import replace

import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec, Target
from molyneux.learn import FusionPredictor
from molyneux.learn.encoders import MLP, Identity
from molyneux.learn.fusion import Concatenation, LowRank
from molyneux.learn.predictors import OGMGE, Head
from molyneux.learn.predictors.imputations import ShaSpec
from molyneux.learn.predictors.objectives.gradient_modulation import alone, discrepancy_ratios, modulation

START, LINEAR = Progress(2, 10), Head(layers=0)


@pytest.fixture
def build(spec_of, encoders):
    """Builds a small model with modulation and, of the same weights, one without."""

    def make(count=3, tasks=1, *, fusion=None, head=LINEAR, **settings):
        models = []
        for objectives in ((OGMGE(**settings),), ()):
            torch.manual_seed(0)
            others = {} if fusion is None else {"fusion": fusion}
            models.append(FusionPredictor(spec_of(count, tasks), encoders=encoders, head=head, objectives=objectives, **others))
        return models

    return make


NAMES = {"force%2E1": "force.1", "table": "table", "position": "position"}


def gradients(model, batch, progress=START, seed=0):
    model.train().zero_grad()
    loss = model.loss(batch, progress, torch.Generator().manual_seed(seed))
    loss.total.backward()
    return loss, {name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None}


@pytest.mark.parametrize("settings", [{"fusion": Concatenation((7, 5))}, {"imputation": ShaSpec(width=9)}])
def test_layers_between_vectors_and_a_linear_head_are_not_taken_for_none(spec_of, encoders, batch_of, settings):
    torch.manual_seed(0)
    model = FusionPredictor(spec_of(3), encoders=encoders, head=LINEAR, objectives=(OGMGE(),), **settings).train()
    step = model.training_step(batch_of(model.spec), START)
    expected = {name: found["y"].logits for name, found in model.alone(step.encodings).items()}
    for name, found in alone(step).items():
        torch.testing.assert_close(found["y"].logits, expected[name])
    assert all(ratio.isfinite() for ratio in discrepancy_ratios(step).values())


def test_coefficients_by_hand():
    """Two numbers each, a linear head: softmax of W_m z_m + b / 2, as in Peng et al., equations 8 to 10."""
    spec = Spec((Modality("a", "tabular", (2,)), Modality("v", "tabular", (1,))), targets=(Target("y", "class", ("no", "yes")),))
    model = FusionPredictor(spec, encoders={"tabular": Identity()}, head=Head(layers=0), objectives=(OGMGE(0.3),)).train()
    layer = model.answers.outputs["y"].last
    layer.weight.data = torch.tensor([[0.0, 0.0, 0.0], [1.0, 2.0, 0.5]])
    layer.bias.data = torch.tensor([0.0, 0.4])
    batch = Batch(
        {"a": torch.tensor([[1.0, 0.5], [-1.0, 0.0]]), "v": torch.tensor([[1.0], [2.0]])}, targets={"y": torch.tensor([1, 0])}
    )

    def right(logit, sign):
        return 1 / (1 + math.exp(-sign * logit))

    a = right(2.0 + 0.2, 1) + right(-1.0 + 0.2, -1)
    v = right(0.5 + 0.2, 1) + right(1.0 + 0.2, -1)
    terms = model.loss(batch, START).terms
    assert a > v
    assert terms["a/modulation"].item() == pytest.approx(1 - math.tanh(0.3 * a / v), rel=1e-5)
    assert terms["v/modulation"] == 1


def test_with_several_modalities_the_ratio_is_to_the_mean_of_the_others():
    ratios = {"a": torch.tensor(2.0), "b": torch.tensor(1.0), "c": torch.tensor(0.4)}
    assert modulation(ratios, 0.5) == {"a": 1 - torch.tanh(torch.tensor(1.0)), "b": 1, "c": 1}


@pytest.mark.parametrize("tasks", [1, 5])
def test_ratios_of_any_fusion_and_all_targets(build, batch_of, tasks):
    model = build(3, tasks, fusion=LowRank(6, 3), head=Head(7))[0].eval()
    batch = batch_of(model.spec)
    step = model.training_step(batch, START)
    found = discrepancy_ratios(step)
    logs = {name: torch.zeros(()) for name in model.spec.names}
    for target in model.spec.targets:
        shares = {}
        for name in model.spec.names:
            distribution = model.predict(batch, [name])[target.name]
            size = max(distribution.event_shape.numel(), 1)
            shares[name] = (distribution.log_prob(batch.targets[target.name].float()) / size).exp().mean()
        for name in shares:
            others = [share for other, share in shares.items() if other != name]
            logs[name] += (shares[name] / torch.stack(others).mean()).log() / tasks
    for name, ratio in found.items():
        torch.testing.assert_close(ratio, logs[name].exp(), rtol=1e-4, atol=1e-5)


def test_gradients_of_encoders_are_scaled_and_no_others(build, batch_of):
    modulated, plain = build(noise="none", alpha=0.5)
    batch = batch_of(plain.spec)
    loss, changed = gradients(modulated, batch)
    usual = gradients(plain, batch)[1]
    coefficients = {name: loss.terms[f"{name}/modulation"] for name in plain.spec.names}
    assert sorted(value < 1 for value in coefficients.values())[-1]
    torch.testing.assert_close(loss.total, plain.loss(batch, START).total)
    for key, gradient in usual.items():
        part, name = key.split(".")[:2]
        coefficient = coefficients[NAMES[name]] if part == "encoders" else 1.0
        torch.testing.assert_close(changed[key], coefficient * gradient)


def test_noise_is_as_large_as_the_gradient_and_can_be_repeated(spec_of):
    spec = spec_of(4)
    spec = replace(spec, modalities=(spec.modality("table"), spec.modality("values")))
    wide = {"tabular": MLP((200,), 20)}
    torch.manual_seed(0)
    model = FusionPredictor(spec, encoders=wide, head=Head(layers=0), objectives=(OGMGE(),))
    batch = Batch({item.name: torch.randn(30, *item.shape) for item in spec.modalities}, targets={"y": torch.arange(30) % 3})
    loss, noisy = gradients(model, batch)
    again, other = gradients(model, batch)[1], gradients(model, batch, seed=1)[1]
    model.objectives = torch.nn.ModuleList()
    usual = gradients(model, batch)[1]
    assert all(torch.equal(noisy[name], again[name]) for name in noisy)
    places = {id(parameter): key for key, parameter in model.named_parameters()}
    for name in spec.names:
        for parameter in model.encoders[name].parameters():
            key = places[id(parameter)]
            if parameter.numel() > 1000:
                noise = (noisy[key] - loss.terms[f"{name}/modulation"] * usual[key]) / usual[key].std()
                assert noise.mean().abs() < 0.1
                assert noise.std() == pytest.approx(1, abs=0.1)
                assert not torch.equal(noisy[key], other[key])
    assert torch.equal(noisy["answers.outputs.y.last.weight"], usual["answers.outputs.y.last.weight"])


@pytest.mark.parametrize(("step", "modulated"), [(0, False), (3, True), (5, True), (6, False)])
def test_between_shares_of_the_training_alone(build, batch_of, step, modulated):
    model, plain = build(begin=0.3, end=0.6)
    batch, progress = batch_of(plain.spec), Progress(step, 10)
    loss, found = gradients(model, batch, progress)
    usual = gradients(plain, batch, progress)[1]
    assert any(not torch.equal(found[name], usual[name]) for name in usual) == modulated
    assert any(loss.terms[f"{name}/modulation"] < 1 for name in plain.spec.names) == modulated


def test_a_gradient_is_changed_once_and_none_without_a_step(build, batch_of):
    model, plain = build()
    batch = batch_of(plain.spec)
    gradients(model, batch)
    usual = gradients(plain, batch)[1]
    model.zero_grad()
    model.predict(batch)["y"].log_prob(batch.targets["y"]).mean().neg().backward()
    assert all(torch.equal(parameter.grad, usual[name]) for name, parameter in model.named_parameters())
    model.train().loss(batch, START)  # its gradient is never asked for
    model.eval().zero_grad()
    model.loss(batch, START).total.backward()
    assert all(torch.equal(parameter.grad, usual[name]) for name, parameter in model.named_parameters())


def test_a_copy_of_a_model_under_way_is_a_model_of_its_own(build, batch_of):
    model, plain = build()
    batch = batch_of(plain.spec)
    model.train().loss(batch, START)
    other = copy.deepcopy(model)
    loss, found = gradients(other, batch)
    assert all(torch.equal(found[name], value) for name, value in gradients(model, batch)[1].items())
    assert all(parameter.grad is not None for parameter in other.parameters())
    assert any(value != 1 for name, value in loss.terms.items() if "modulation" in name)


def test_absent_modalities_are_left_alone(build, batch_of):
    model = build(2)[0]
    batch = batch_of(model.spec)
    views = {**batch.views, "table": torch.full_like(batch.views["table"], torch.nan)}
    loss, found = gradients(model, replace(batch, views=views, present={"table": torch.zeros(12, dtype=torch.bool)}))
    assert loss.terms["table/modulation"] == loss.terms["force.1/modulation"] == 1
    assert all(value.isfinite().all() for value in found.values())


def test_settings_that_cannot_work_are_refused(spec_of):
    with pytest.raises(ConfigError, match=r"begin, end: expected 0 <= begin < end <= 1, got 0\.5 and 0\.2"):
        OGMGE(begin=0.5, end=0.2)
    with pytest.raises(ConfigError, match="OGMGE: expected at least two modalities, got table"):
        FusionPredictor(spec_of(), modalities=("table",), objectives=(OGMGE(),))


def trained(objectives, batch):
    """The discrepancy ratio of the louder modality after 60 steps of gradient descent."""
    spec = Spec(
        (Modality("loud", "tabular", (4,)), Modality("quiet", "tabular", (4,))), targets=(Target("y", "class", ("a", "b")),)
    )
    torch.manual_seed(0)
    model = FusionPredictor(spec, encoders={"tabular": MLP((16,), 8)}, head=Head(layers=0), objectives=objectives).train()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(60):
        optimizer.zero_grad()
        model.loss(batch, Progress(step, 60), torch.Generator().manual_seed(step)).total.backward()
        optimizer.step()
    return discrepancy_ratios(model.training_step(batch, START))["loud"].item()


def test_the_modality_that_dominates_does_so_less():
    random, y = torch.Generator().manual_seed(0), torch.arange(200) % 2
    views = {
        name: torch.randn(200, 4, generator=random) + size * y.unsqueeze(1) for name, size in (("loud", 2.5), ("quiet", 0.8))
    }
    batch = Batch(views, targets={"y": y})
    usual, balanced = trained((), batch), trained((OGMGE(0.8, noise="none"),), batch)
    assert 1 < balanced < usual - 0.05
