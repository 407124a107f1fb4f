"""The contract of the predictors, for every one that is listed."""

from dataclasses import replace

import pytest
import torch
from torch.distributions import Bernoulli, Categorical

from molyneux.core import Batch, DataError, Modality, Predicts, Progress, Representation, Spec, SpecError, Trainable
from molyneux.learn import Training, load_weights, precision_of, save_model
from molyneux.learn.predictors import CompactBilinear, Constant, FusionPredictor, PictureTextPredictor
from molyneux.learn.training.hardware import lacks_lstm

START = Progress(0, 10)
TEXT, PICTURE = "caption 2", "scene.1"


def loss_of(model, batch):
    return model.loss(batch, START)


def logits_of(model, batch, observed=None):
    return model.predict(batch, observed)["true"].logits


def test_it_has_every_ability(kind, build, spec_of):
    model = build(kind, spec_of())
    assert all(isinstance(model, ability) for ability in (Trainable, Predicts, Representation))


def test_the_loss_is_finite_and_its_gradient_reaches_every_parameter(kind, build, spec_of, batch_of):
    model = build(kind, spec_of(tasks=5)).train()
    loss = loss_of(model, batch_of(model.spec, 16))
    loss.total.backward()
    assert loss.total.isfinite()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name


@pytest.mark.parametrize("side", [(8, 8), (20, 13), (64, 64)])
def test_pictures_of_any_size(kind, build, spec_of, batch_of, side):
    model = build(kind, spec_of(side=side))
    found = model.predict(batch_of(model.spec, 3))["true"]
    assert isinstance(found, Bernoulli)
    assert found.batch_shape == (3,)
    assert found.logits.isfinite().all()


def test_samples_of_a_batch_do_not_see_each_other(kind, build, spec_of, batch_of):
    model = build(kind, spec_of())
    batch, order = batch_of(model.spec), torch.randperm(10, generator=torch.Generator().manual_seed(0))
    whole = logits_of(model, batch)
    torch.testing.assert_close(logits_of(model, batch[order]), whole[order], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(logits_of(model, batch[4:5])[0], whole[4], rtol=1e-4, atol=1e-5)
    assert logits_of(model, batch[:0]).shape == (0,)


@pytest.mark.parametrize("given", [False, True], ids=["padding", "lengths"])
def test_padding_does_not_matter(kind, build, spec_of, batch_of, given):
    """The same captions in a wider batch, with lengths or without, whatever lies beyond these."""
    short, long = spec_of(longest=7), spec_of(longest=13)
    model, wide = build(kind, short), build(kind, long)
    wide.load_state_dict(model.state_dict())
    batch = batch_of(short)
    ids = torch.nn.functional.pad(batch.views[TEXT], (0, 6))
    lengths = (batch.views[TEXT] != 0).sum(1)
    if given:
        ids = ids.where(torch.arange(13) < lengths.unsqueeze(1), 5)
    wider = replace(batch, views={**batch.views, TEXT: ids}, lengths={TEXT: lengths} if given else {})
    torch.testing.assert_close(logits_of(wide, wider), logits_of(model, batch), rtol=1e-4, atol=1e-5)


def test_padding_reaches_no_gradient(kind, build, spec_of, batch_of):
    model = build(kind, spec_of()).train()
    if not isinstance(model, PictureTextPredictor):
        pytest.skip("it reads no text, or is tested with the others")
    batch = batch_of(model.spec)
    loss_of(model, batch).total.backward()
    assert model.words.table.weight.grad[0].abs().max() == 0


def test_a_missing_modality_only_changes_its_own_samples(kind, build, spec_of, batch_of):
    model = build(kind, spec_of())
    batch, mask = batch_of(model.spec), torch.arange(10) % 2 == 0
    whole = logits_of(model, batch)
    for name in (TEXT, PICTURE):
        other = ({TEXT, PICTURE} - {name}).pop()
        partly = logits_of(model, replace(batch, present={name: mask}))
        alone = logits_of(model, batch, [other])
        assert alone.isfinite().all()
        torch.testing.assert_close(partly[mask], whole[mask], rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(partly[~mask], alone[~mask], rtol=1e-4, atol=1e-5)
        only = Batch({other: batch.views[other]})
        torch.testing.assert_close(logits_of(model, only), alone, rtol=1e-4, atol=1e-5)
    nothing = logits_of(model, batch, [])
    torch.testing.assert_close(nothing, nothing[:1].expand(10))


def test_every_subset_of_modalities_reaches_the_answer(kind, build, spec_of, batch_of):
    """What is present alone decides: samples that differ in it get different answers, but for what a model never reads."""
    model = build(kind, spec_of())
    batch = batch_of(model.spec, 8)  # whose captions have 0 to 7 words
    unread = {name for name in (TEXT, PICTURE) if torch.equal(logits_of(model, batch), logits_of(model, changed(batch, name)))}
    assert unread == {"Constant": {TEXT, PICTURE}, "TextOnly": {PICTURE}, "PictureOnly": {TEXT}}.get(family(kind), set())
    silent = {PICTURE} if family(kind) in ("NeuralModules", "ConceptModules") else set()  # the text is their network
    for names in ({TEXT}, {PICTURE}, {TEXT, PICTURE}):
        differ = len(logits_of(model, batch, names).unique())
        assert differ == 1 if names <= unread | silent else differ >= 7, names  # two captions may be the same tree


def changed(batch, name):
    """The batch with other values everywhere in one view."""
    return replace(batch, views={**batch.views, name: batch.views[name] % 7 + 1})


def family(kind):
    """The name of the class that the package lists, of a variant too."""
    return kind.__name__.partition("-")[0]


def test_what_is_absent_or_unknown_is_never_read(kind, build, spec_of, batch_of):
    spec = spec_of(tasks=5)
    picture = replace(spec.modality(PICTURE), dtype="float32")
    model = build(kind, replace(spec, modalities=(spec.modality(TEXT), picture))).train()
    batch, mask = batch_of(spec, 12), torch.arange(12) >= 6
    pixels = (batch.views[PICTURE].float() / 255).where(mask[:, None, None, None], torch.nan)
    targets = {name: values.clone() for name, values in batch.targets.items()}
    targets["count"][:6], targets["size"][:6], targets["shape"][:6] = torch.nan, torch.nan, -1
    known = dict.fromkeys(targets, mask)
    damaged = replace(batch, views={**batch.views, PICTURE: pixels}, present={PICTURE: mask}, targets=targets, known=known)
    loss = loss_of(model, damaged)
    loss.total.backward()
    assert loss.total.isfinite()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in model.parameters())


def test_the_loss_is_the_sum_over_targets_of_means_over_the_samples_where_they_are_known(kind, build, spec_of, batch_of):
    model = build(kind, spec_of(tasks=2))
    batch = batch_of(model.spec)
    known = {"true": torch.arange(10) < 4, "shape": torch.arange(10) >= 7}
    partly = replace(batch, known=known)
    found = model.predict(batch)
    assert isinstance(found["shape"], Categorical)
    means = [-found[name].log_prob(batch.targets[name].float())[mask].mean() for name, mask in known.items()]
    torch.testing.assert_close(loss_of(model, partly).total, torch.stack(means).sum())
    nobody = replace(batch, known={name: torch.zeros(10, dtype=torch.bool) for name in known})
    assert loss_of(model, nobody).total == 0


def test_the_distributions_of_all_tasks(kind, build, spec_of, batch_of):
    model = build(kind, spec_of(tasks=5))
    batch = batch_of(model.spec)
    for target in model.spec.targets:
        found = model.predict(batch)[target.name]
        assert found.batch_shape == (10,)
        assert found.log_prob(batch.targets[target.name].float()).shape == (10,)
        assert target.task == "class" or found.mean.shape == (10, *target.stored_shape)
    assert set(model.predict(batch)) == {target.name for target in model.spec.targets}


def test_weights_can_be_stored_and_loaded(kind, build, spec_of, batch_of, tmp_path):
    settings = {"seed": 1} if issubclass(kind, CompactBilinear) else {}
    model, other = build(kind, spec_of(tasks=2)), build(kind, spec_of(tasks=2), seed=5)
    batch = batch_of(model.spec)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    save_model(model, tmp_path, {"class_path": kind.__name__, **settings})
    load_weights(other, tmp_path)
    assert torch.equal(logits_of(model, batch), logits_of(other, batch))


@pytest.mark.kernels
def test_half_precision_of_the_nets_gives_full_precision_of_the_loss(kind, build, spec_of, batch_of):
    model = build(kind, spec_of())
    if lacks_lstm(model, "cpu"):
        assert precision_of(Training(precision="bf16", device="cpu"), model) == "32"
        return
    batch = batch_of(model.spec)
    full = loss_of(model, batch).total
    with torch.autocast("cpu", torch.bfloat16):
        half = loss_of(model, batch).total
    assert half.dtype == torch.float32
    assert half.item() == pytest.approx(full.item(), rel=0.1)


@pytest.mark.kernels
def test_images_with_their_channels_last_give_the_same(kind, build, spec_of, batch_of):
    model = build(kind, spec_of())
    batch = batch_of(model.spec)
    before = logits_of(model, batch)
    model.to(memory_format=torch.channels_last)
    pixels = batch.views[PICTURE].contiguous(memory_format=torch.channels_last)
    after = logits_of(model, replace(batch, views={**batch.views, PICTURE: pixels}))
    torch.testing.assert_close(after, before, rtol=1e-4, atol=1e-5)


def test_batches_and_samples_that_do_not_fit_are_refused(kind, build, spec_of, batch_of):
    model = build(kind, spec_of())
    batch = batch_of(model.spec)
    with pytest.raises(DataError, match="expected samples in the batch for a loss"):
        loss_of(model, batch[:0])
    with pytest.raises(DataError, match="expected targets in the batch for a loss"):
        loss_of(model, replace(batch, targets={}))
    with pytest.raises(SpecError, match="predicts targets, but the samples have none"):
        kind(replace(model.spec, targets=()))
    if issubclass(kind, Constant):
        return
    views = {TEXT: batch.views[TEXT][:, 1:], PICTURE: batch.views[PICTURE][..., 1:]}
    with pytest.raises(SpecError, match=r"expected uint8 \(10, "):
        logits_of(model, replace(batch, views=views))
    with pytest.raises(SpecError, match="did you mean"):
        logits_of(model, batch, [PICTURE + "1"])
    if issubclass(kind, FusionPredictor):
        return  # which fits all kinds
    with pytest.raises(Exception, match="expected samples with a modality of kind"):
        kind(Spec((Modality("touch", "series", (9, 2)),), targets=model.spec.targets))


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_views_that_repeat_in_contrast_sets_are_encoded_once_and_nothing_else_changes(kind, build, spec_of, batch_of, mode):
    spec = spec_of()
    sets = replace(spec, targets=(replace(spec.targets[0], contrast=(2, 2)),))
    alone, together = (getattr(build(kind, one), mode)() for one in (spec, sets))
    torch.manual_seed(1)
    for parameter, other in zip(alone.parameters(), together.parameters(), strict=True):
        other.data.copy_(torch.nn.init.normal_(parameter.data, std=0.2))
    batch, rows = batch_of(spec, 16), torch.arange(16)
    first, second = rows // 4 * 2 + rows % 2, rows // 4 * 2 + rows // 2 % 2  # texts stand first in the spec
    shown = {TEXT: batch.views[TEXT][first], PICTURE: batch.views[PICTURE][second]}
    batch = replace(batch, views=shown, lengths={TEXT: batch_of(spec, 16).views[TEXT][first].bool().sum(1)})
    encoded = []
    for encoder in together.encoders.values() if hasattr(together, "encoders") else ():
        encoder.register_forward_pre_hook(lambda _, inputs: encoded.append(len(inputs[0])))
    for some, sizes in ((batch, {8}), (batch[torch.randperm(16, generator=torch.Generator().manual_seed(0))], {16})):
        encoded.clear()
        losses = [loss_of(model, some).total for model in (alone, together)]
        assert set(encoded) == (sizes if hasattr(together, "encoders") else set())
        torch.testing.assert_close(losses[1], losses[0], rtol=1e-4, atol=1e-5)
        slopes = [
            torch.autograd.grad(loss, list(model.parameters()), allow_unused=True, materialize_grads=True)
            for loss, model in zip(losses, (alone, together), strict=True)
        ]
        torch.testing.assert_close(slopes[1], slopes[0], rtol=1e-3, atol=1e-4)
