"""The contract of the fusions, for every one that is listed, inside a predictor of two to six modalities."""

from dataclasses import replace
from itertools import combinations

import pytest
import torch

from molyneux.core import Batch, Modality, Progress, Spec, SpecError, Target
from molyneux.learn import FusionPredictor, load_weights, save_model
from molyneux.learn.encoders import MLP
from molyneux.learn.fusion import AtEachStep, EarlyFusion, KalmanFilter

START = Progress(0, 10)


def logits_of(model, batch, observed=None):
    return model.predict(batch, observed)["y"].logits


def has_steps(settings):
    """Whether its features are those of steps, which only a target with steps can use."""
    return isinstance(settings, AtEachStep) or getattr(settings, "steps", False)


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_the_gradient_reaches_every_parameter(settings, build, spec_of, batch_of, count):
    model = build(settings, spec_of(count, settings, tasks=5)).train()
    loss = model.loss(batch_of(model.spec, 24), START, torch.Generator().manual_seed(0))
    loss.total.backward()
    assert loss.total.isfinite()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name


def test_samples_of_a_batch_do_not_see_each_other(settings, build, spec_of, batch_of):
    model = build(settings, spec_of(4, settings))
    batch, order = batch_of(model.spec), torch.randperm(10, generator=torch.Generator().manual_seed(0))
    whole = logits_of(model, batch)
    torch.testing.assert_close(logits_of(model, batch[order]), whole[order], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(logits_of(model, batch[4:5])[0], whole[4], rtol=1e-4, atol=1e-5)
    assert logits_of(model, batch[:0]).shape == (0, 3)


def test_a_batch_of_one_can_be_trained_on(settings, build, spec_of, batch_of):
    model = build(settings, spec_of(6, settings)).train()
    loss = model.loss(batch_of(model.spec, 1), START, torch.Generator().manual_seed(0))
    loss.total.backward()
    assert loss.total.isfinite()


def test_a_missing_modality_only_changes_its_own_samples(settings, build, spec_of, batch_of):
    spec = spec_of(4, settings)
    model, batch = build(settings, spec), batch_of(spec)
    mask, whole = torch.arange(10) % 2 == 0, logits_of(model, batch)
    for name in spec.names:
        others = [other for other in spec.names if other != name]
        partly, alone = logits_of(model, replace(batch, present={name: mask})), logits_of(model, batch, others)
        assert alone.isfinite().all()
        assert not torch.equal(alone, whole)
        torch.testing.assert_close(partly[mask], whole[mask], rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(partly[~mask], alone[~mask], rtol=1e-4, atol=1e-5)
    nothing = logits_of(model, batch, [])
    assert nothing.isfinite().all()
    torch.testing.assert_close(nothing, nothing[:1].expand(10, -1))


def test_every_subset_of_modalities_reaches_the_answer(settings, build, spec_of, batch_of):
    """Samples that differ in what is present get different answers, whatever that is."""
    spec = spec_of(4, settings)
    model, batch = build(settings, spec), batch_of(spec)
    for count in range(1, 5):
        for names in combinations(spec.names, count):
            found = logits_of(model, batch, names)
            assert len(found.unique(dim=0)) == len(found), names


@pytest.mark.slow
def test_the_modality_that_is_present_decides_alone(settings, spec_of, for_some_seed):
    """Two modalities say the same bit, and every sample lacks one of them: after 60 full-batch steps all samples are right."""
    for_some_seed(lambda seed: present_decides(settings, spec_of, seed))


def present_decides(settings, spec_of, seed):
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(0, 2, (96,), generator=generator)
    views = {name: torch.randn(96, 8, 2, generator=generator) / 2 + (2.0 * y - 1)[:, None, None] for name in "ab"}
    spec = Spec(tuple(Modality(name, "series", (8, 2)) for name in "ab"), targets=spec_of(2).targets)
    targets = {"y": y}
    if has_steps(settings):
        spec = replace(spec, targets=(*spec.targets, Target("where", "number", shape=(8, 2), bounds=(-1.0, 1.0))))
        targets["where"] = torch.zeros(96, 8, 2)
    if getattr(settings, "beside", ()):
        settings = replace(settings, beside=())
    here = torch.arange(96) % 2 == 0
    torch.manual_seed(seed)
    model = FusionPredictor(spec, fusion=settings)
    batch = Batch(views, present={"a": here, "b": ~here}, targets=targets)
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    for step in range(60):
        optimiser.zero_grad()
        model.loss(batch, Progress(step, 60), generator).total.backward()
        optimiser.step()
    right = logits_of(model.eval(), batch).argmax(1) == y
    assert right[here].float().mean() > 0.9
    assert right[~here].float().mean() > 0.9


def test_what_is_absent_or_beyond_a_length_is_never_read(settings, build, spec_of, batch_of):
    spec = spec_of(3, settings)
    model = build(settings, spec).train()
    batch, mask = batch_of(spec, 12), torch.arange(12) >= 5
    clean = replace(batch, present=dict.fromkeys(("force.1", "table"), mask))
    views = {name: view.clone() for name, view in clean.views.items()}
    for name in ("force.1", "table"):
        views[name][:5] = torch.nan
    for name, lengths in batch.lengths.items():
        views[name][torch.arange(8) >= lengths.unsqueeze(1)] = torch.nan
    losses, gradients = [], []
    for one in (clean, replace(clean, views=views)):
        model.zero_grad()
        losses.append(model.loss(one, START, torch.Generator().manual_seed(0)).total)
        losses[-1].backward()
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]))
    assert losses[0].isfinite()
    assert torch.equal(losses[0], losses[1])
    assert torch.equal(*gradients)


def test_longer_padding_changes_nothing(settings, build, spec_of, batch_of):
    if has_steps(settings) or getattr(settings, "readout", "") in ("all",):
        pytest.skip("its features or targets have as many numbers as there are steps")
    spec = spec_of(3)
    longer = tuple(replace(item, shape=(11, *item.shape[1:])) if item.kind == "series" else item for item in spec.modalities)
    model, wide = build(settings, spec), build(settings, replace(spec, modalities=longer))
    weights = {name: fit_rows(value, model.state_dict()[name]) for name, value in wide.state_dict().items()}
    wide.load_state_dict(weights)
    batch = batch_of(spec)
    views = {name: torch.nn.functional.pad(view, (0, 0, 0, 3)) if view.dim() == 3 else view for name, view in batch.views.items()}
    torch.testing.assert_close(logits_of(wide, replace(batch, views=views)), logits_of(model, batch), rtol=1e-4, atol=1e-5)


def fit_rows(wide, short):
    """Learned positions of fewer steps among those of more; other weights as they are."""
    if wide.shape == short.shape:
        return short
    found = wide.clone()
    found[:, : short.shape[1]] = short
    return found


def test_weights_can_be_stored_and_loaded(settings, build, spec_of, batch_of, tmp_path):
    spec = spec_of(4, settings)
    model, other = build(settings, spec), build(settings, spec, seed=5)
    save_model(model, tmp_path, {"class_path": "FusionPredictor"})
    load_weights(other, tmp_path)
    batch = batch_of(spec)
    assert torch.equal(logits_of(model, batch), logits_of(other, batch))


@pytest.mark.kernels
def test_half_precision_of_the_nets_gives_full_precision_of_the_loss(settings, build, spec_of, batch_of):
    model = build(settings, spec_of(4, settings))
    batch = batch_of(model.spec)
    full = model.loss(batch, START).total
    with torch.autocast("cpu", torch.bfloat16):
        half = model.loss(batch, START).total
    assert half.dtype == torch.float32
    assert half.item() == pytest.approx(full.item(), rel=0.1)


@pytest.mark.slow
def test_it_learns_what_two_modalities_say_together(settings, spec_of, for_some_seed):
    """The sum of two signs, which neither modality has alone: 40 full-batch steps learn more of it than each alone tells."""
    for_some_seed(lambda seed: learns_together(settings, spec_of, seed))


def learns_together(settings, spec_of, seed):
    generator = torch.Generator().manual_seed(0)
    first, second = (torch.randn(96, 8, 2, generator=generator) for _ in range(2))
    y = (first[:, :, 0].mean(1) > 0).long() + (second[:, :, 1].mean(1) > 0).long()
    names = ("a", "b")
    spec = Spec(tuple(Modality(name, "series", (8, 2)) for name in names), targets=spec_of(2).targets)
    targets = {"y": y}
    if has_steps(settings):
        spec = replace(spec, targets=(*spec.targets, Target("where", "number", shape=(8, 2), bounds=(-1.0, 1.0))))
        targets["where"] = torch.zeros(96, 8, 2)
    if getattr(settings, "beside", ()):
        settings = replace(settings, beside=())
    torch.manual_seed(seed)
    encoders = {} if isinstance(settings, EarlyFusion) else {"series": MLP((16,), 8, stepwise=True)}
    model = FusionPredictor(spec, encoders=encoders, fusion=settings)
    batch = Batch(dict(zip(names, (first, second), strict=True)), targets=targets)
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    for step in range(40):
        optimiser.zero_grad()
        model.loss(batch, Progress(step, 40), generator).total.backward()
        optimiser.step()
    model.eval()
    right = {what: (logits_of(model, batch, what).argmax(1) == y).float().mean() for what in (names, names[:1], names[1:])}
    assert right[names] > 0.7
    assert max(right[names[:1]], right[names[1:]]) < right[names] - 0.1


def test_sequences_that_do_not_fit_are_refused_with_advice(spec_of, batch_of, build):
    spec = spec_of(3)
    longer = replace(spec, modalities=(replace(spec.modalities[0], shape=(9, 3)), *spec.modalities[1:]))
    for kind in (EarlyFusion, KalmanFilter):
        with pytest.raises(SpecError, match=r"expected sequences of as many steps each, got force\.1 9, position 8: .* \(MulT\)"):
            FusionPredictor(longer, fusion=kind())
    with pytest.raises(SpecError, match="gives features of 8 steps, but no target is a number of shape"):
        FusionPredictor(spec, fusion=EarlyFusion(steps=True))
