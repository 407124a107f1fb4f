"""The contract of the training structures: any number of modalities, missing ones, one sample, gradients, storage, settings."""

from dataclasses import replace
from typing import Annotated

import pytest
import torch

from molyneux.core import Predicts, Progress, Representation, Trainable
from molyneux.core.config import Factory, Supplied, build
from molyneux.learn import MCTN, FusionPredictor, GradientBlending, Training, fit, load_weights, save_model
from molyneux.learn.fusion import LowRank
from molyneux.learn.predictors import OGMGE, RMFE, Blending, Head, Predictor

START = Progress(1, 10)
FUSED = {
    "blending": (GradientBlending, ()),
    "pooled": (GradientBlending, ()),
    "modulation": (FusionPredictor, (OGMGE(),)),
    "entropy": (FusionPredictor, (RMFE(weight=1e-3, samples=3),)),
    "entropy of inputs": (FusionPredictor, (RMFE(weight=1e-3, samples=3, perturbed="inputs"),)),
    "all of them": (GradientBlending, (OGMGE(noise="none"), RMFE(weight=1e-3, samples=2))),
}
CASES = [(name, count) for name in FUSED for count in (2, 3, 4)] + [("translation", count) for count in (2, 3)]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def make(request, spec_of, encoders):
    """Builds one structure for so many modalities; translation has sequences alone."""
    name, count = request.param

    def made(seed=0):
        torch.manual_seed(seed)
        spec = spec_of(4, 5)
        if name == "translation":
            first, second = spec.modality("force.1"), spec.modality("position")
            third = replace(second, name="third", shape=(4, 5))
            return MCTN(replace(spec, modalities=(first, second, third)[:count]), hidden=6, head=Head(7))
        kind, objectives = FUSED[name]
        spec = replace(spec, modalities=spec.modalities[:count])
        settings = {"blending": Blending(every=1, window=1), "blended": name == "pooled"} if kind is GradientBlending else {}
        return kind(spec, encoders=encoders, fusion=LowRank(6, 3), head=Head(7), objectives=objectives, **settings)

    return made


def loss_of(model, batch):
    torch.manual_seed(0)
    return model.loss(batch, START, torch.Generator().manual_seed(0))


def probabilities(model, batch, observed=None):
    return model.predict(batch, observed)["y"].probs


def samples(batch_of, model, size=12):
    batch = batch_of(model.spec, size)
    lengths = {name: lengths.clamp(max=model.spec.modality(name).max_length) for name, lengths in batch.lengths.items()}
    return replace(batch, lengths=lengths)


def test_it_has_every_ability_and_its_gradient_reaches_every_parameter(make, batch_of):
    model = make().train()
    assert isinstance(model, Predictor)
    assert all(isinstance(model, ability) for ability in (Trainable, Predicts, Representation))
    loss = loss_of(model, samples(batch_of, model, 24))
    loss.total.backward()
    assert loss.total.isfinite()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name


def test_the_same_generator_gives_the_same_loss_and_gradient(make, batch_of):
    found = []
    for _ in range(2):
        model = make().train()
        loss = loss_of(model, samples(batch_of, model))
        loss.total.backward()
        found.append((loss.total, [parameter.grad for parameter in model.parameters()]))
    assert torch.equal(found[0][0], found[1][0])
    assert all(torch.equal(*pair) for pair in zip(found[0][1], found[1][1], strict=True))


def test_one_sample_can_be_trained_on_and_none_predicted(make, batch_of):
    model = make().train()
    batch = samples(batch_of, model)
    loss = loss_of(model, batch[:1])
    loss.total.backward()
    assert loss.total.isfinite()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in model.parameters())
    assert probabilities(model.eval(), batch[:0]).shape == (0, 3)


def test_samples_of_a_batch_do_not_see_each_other(make, batch_of):
    model = make().eval()
    batch, order = samples(batch_of, model), torch.randperm(12, generator=torch.Generator().manual_seed(0))
    whole = probabilities(model, batch)
    torch.testing.assert_close(probabilities(model, batch[order]), whole[order], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(probabilities(model, batch[4:5])[0], whole[4], rtol=1e-4, atol=1e-5)


def test_a_missing_modality_only_changes_its_own_samples(make, batch_of):
    model = make().eval()
    batch, mask = samples(batch_of, model), torch.arange(12) % 2 == 0
    whole = probabilities(model, batch)
    for name in model.spec.names:
        others = [other for other in model.spec.names if other != name]
        partly, alone = probabilities(model, replace(batch, present={name: mask})), probabilities(model, batch, others)
        torch.testing.assert_close(partly[mask], whole[mask], rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(partly[~mask], alone[~mask], rtol=1e-4, atol=1e-5)
    nothing = probabilities(model, batch, [])
    torch.testing.assert_close(nothing, nothing[:1].expand(12, -1))


def test_what_is_absent_unknown_or_beyond_a_length_reaches_no_loss_and_no_gradient(make, batch_of):
    batch, mask, found = samples(batch_of, make()), torch.arange(12) >= 5, []
    known = dict.fromkeys(batch.targets, torch.arange(12) % 3 > 0)
    clean = replace(batch, present=dict.fromkeys(batch.views, mask), known=known)
    views = {name: view.clone() for name, view in batch.views.items()}
    for name, view in views.items():
        view[:5] = torch.nan
        if name in batch.lengths:
            view[torch.arange(view.shape[1]) >= batch.lengths[name].unsqueeze(1)] = torch.nan
    for one in (clean, replace(clean, views=views)):
        model = make().train()
        loss = loss_of(model, one)
        loss.total.backward()
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        found.append((loss.total, torch.cat([gradient.flatten() for gradient in gradients])))
    assert found[0][1].isfinite().all()
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])


def test_weights_can_be_stored_and_loaded(make, batch_of, tmp_path):
    model, other = make(), make(seed=5)
    batch = samples(batch_of, model)
    if isinstance(model, GradientBlending):
        model.weights.copy_(torch.arange(1.0, len(model.weights) + 1) / 10)
    save_model(model.eval(), tmp_path, {"class_path": type(model).__name__})
    load_weights(other.eval(), tmp_path)
    assert torch.equal(probabilities(model, batch), probabilities(other, batch))
    assert all(torch.equal(value, other.state_dict()[name]) for name, value in model.state_dict().items())


@pytest.mark.slow
@pytest.mark.kernels
def test_fit_trains_it_and_may_be_interrupted(make, batch_of, source_of, dying, tmp_path):
    model, other = make(), make()
    if len(model.spec.names) > 2:
        pytest.skip("trained with two modalities")
    source = source_of(model.spec, samples(batch_of, model, 24))
    training = Training(
        epochs=2, batch_size=6, optimizer="sgd", learning_rate=0.05, clip=1.0, tensorboard=False, memory="stream", prefetch=0
    )
    before = {name: value.clone() for name, value in model.state_dict().items()}
    fit(model, source, source, training, tmp_path / "whole", seed=1)
    assert any(not torch.equal(value, before[name]) for name, value in model.state_dict().items())
    with pytest.raises(dying.error):
        fit(make(), dying(source, 7), source, replace(training, checkpoint_seconds=0.0), tmp_path / "broken", seed=1)
    fit(other, source, source, training, tmp_path / "broken", seed=1)
    for name, value in model.state_dict().items():
        assert torch.equal(other.state_dict()[name], value), name


def test_settings_are_read_from_plain_data():
    kind = Annotated[Factory[Predictor], Supplied(("spec",), "molyneux.learn")]
    blending = {
        "class_path": "GradientBlending",
        "init_args": {
            "blending": {"every": 5, "window": 3, "floor": 0.2},
            "branches": {"heads": {"image": {"width": 9}}, "fusion": "Concatenation"},
            "objectives": ["RMFE", {"class_path": "OGMGE", "init_args": {"alpha": 0.8, "noise": "none"}}],
        },
    }
    settings = build(kind, blending).value.settings
    assert (settings["blending"].every, settings["blending"].floor, settings["branches"].heads["image"]) == (5, 0.2, Head(9))
    assert settings["objectives"] == (RMFE(), OGMGE(0.8, "none"))
    translation = {"class_path": "MCTN", "init_args": {"source": "words", "targets": ["face"], "hidden": 16}}
    assert build(kind, translation).value.settings["targets"] == ("face",)
