"""Importance-weighted objectives: DReG against IWAE and closed forms, and importance samples in chunks."""

import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec
from molyneux.learn.encoders.nets import Dense
from molyneux.learn.likelihoods import Normal
from molyneux.learn.objectives import IWAE, DReG
from molyneux.learn.vaes import DMVAE, MMVAE, MVAE, VAE, MoPoE, stacked

START = Progress(0, 1)
COPIES = 100


def noise(seed=1):
    return torch.Generator().manual_seed(seed)


def copies(views, size):
    return Batch({name: view.expand(size, *view.shape[1:]) for name, view in views.items()})


def gradients(model, batch, objective, seed):
    """Gradients of encoders and of the rest, each one vector."""
    model.criterion = objective.build(2)
    model.zero_grad()
    model.loss(batch, START, noise(seed)).total.backward()
    split = {True: [], False: []}
    for name, parameter in model.named_parameters():
        split["encoders" in name].append(parameter.grad.flatten())
    return torch.cat(split[True]), torch.cat(split[False])


CASES = [
    (VAE, 1, {}, 16),
    (MVAE, 2, {"subsets": "all"}, 16),
    (MVAE, 2, {"subsets": "drawn"}, 4),
    (MoPoE, 2, {}, 16),
    (DMVAE, 2, {"private_dim": 1}, 16),
    (MMVAE, 2, {"family": "normal"}, 1),
]


@pytest.mark.parametrize(("kind", "count", "settings", "k"), CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_dreg_has_the_gradient_of_iwae_in_expectation(kind, count, settings, k, linear):
    model = linear.build(kind, count, **settings)
    for encoder in model.encoders.values():  # wide posteriors, whose importance weights vary little
        encoder.bias.data[linear.DIM : 2 * linear.DIM] += 1.0
    batch = copies(linear.views_of(model), COPIES)
    draws = {objective: [gradients(model, batch, objective(k), seed) for seed in range(40)] for objective in (IWAE, DReG)}
    encoders = {objective: torch.stack([found[0] for found in each]) for objective, each in draws.items()}
    difference = encoders[DReG] - encoders[IWAE]
    error = difference.std(0) / len(difference) ** 0.5
    assert (difference.mean(0).abs() < 5 * error + 1e-4).all()
    assert encoders[IWAE].mean(0).abs().max() > 10 * error.max()
    assert encoders[DReG].var(0).sum() < encoders[IWAE].var(0).sum()
    for ours, theirs in zip(draws[DReG], draws[IWAE], strict=True):
        torch.testing.assert_close(ours[1], theirs[1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("k", [1, 8])
def test_dreg_is_the_slope_of_the_bound(k, linear):
    model = linear.build(VAE, 1, objective=DReG(k))
    batch = copies(linear.views_of(model), 40_000)

    def loss():
        return model.loss(batch, START, noise()).total

    loss().backward()
    bias = model.encoders["m0"].bias
    for at in range(len(bias)):
        values = []
        for step in (0.02, -0.02):
            with torch.no_grad():
                bias[at] += step
                values.append(loss().item())
                bias[at] -= step
        assert bias.grad[at].item() == pytest.approx((values[0] - values[1]) / 0.04, abs=0.02)


def test_near_the_exact_posterior_dreg_has_a_small_part_of_the_variance(linear):
    model = linear.build(MVAE, 2, subsets="joint")
    linear.make_exact(model)
    for encoder in model.encoders.values():
        encoder.bias.data += 0.05
    batch = copies(linear.views_of(model), COPIES)
    spread = {}
    for objective in (IWAE, DReG):
        spread[objective] = torch.stack([gradients(model, batch, objective(16), seed)[0] for seed in range(20)]).var(0).sum()
    assert spread[DReG] < 0.05 * spread[IWAE]


@pytest.mark.parametrize("k", [1, 4])
def test_at_the_exact_posterior_no_draw_moves_an_encoder(k, linear):
    # Roeder et al., Sticking the Landing: the log-weights are constant in the codes.
    model = linear.build(MVAE, 2, subsets="all")
    linear.make_exact(model)
    batch = Batch(linear.views_of(model, 5))
    assert gradients(model, batch, DReG(k), 0)[0].abs().max() < 1e-4
    assert gradients(model, batch, IWAE(k), 0)[0].abs().max() > 1e-2


def test_dreg_has_the_value_and_terms_of_iwae_with_and_without_gradients(linear):
    model = linear.build(MMVAE, 3, objective=DReG(5))
    batch = Batch(linear.views_of(model, 6))
    found = model.loss(batch, START, noise())
    with torch.no_grad():
        alone = model.loss(batch, START, noise())
    model.criterion = IWAE(5).build(2)
    other = model.loss(batch, START, noise())
    for loss in (alone, other):
        assert loss.total.item() == pytest.approx(found.total.item(), rel=1e-6)
        assert {name: term.item() for name, term in loss.terms.items()} == pytest.approx(
            {name: term.item() for name, term in found.terms.items()}
        )


@pytest.mark.parametrize("objective", [IWAE, DReG])
@pytest.mark.parametrize(
    ("kind", "settings"), [(MVAE, {"subsets": "all"}), (MMVAE, {}), (MoPoE, {}), (DMVAE, {"private_dim": 1})]
)
def test_chunks_change_no_gradient(objective, kind, settings, linear):
    model = linear.build(kind, 3, **settings)
    views = linear.views_of(model, 7)
    batch = Batch(views, {"m1": torch.arange(7) % 3 > 0})
    whole, parts = (gradients(model, batch, objective(13, chunk=chunk), 0) for chunk in (13, 5))
    for first, second in zip(whole, parts, strict=True):
        assert first.abs().max() > 0.01
        torch.testing.assert_close(first, second, rtol=1e-4, atol=1e-4)


def saved(model, batch, objective):
    """Bytes that are kept for the backward pass."""
    model.criterion = objective.build(2)
    seen = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        seen[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = model.loss(batch, START, noise())
        return sum(seen.values()), loss.total.item()


@pytest.mark.parametrize("objective", [IWAE, DReG])
def test_what_a_step_keeps_does_not_grow_with_the_number_of_samples(objective, build, batch_of):
    modalities = tuple(Modality(f"m{i}", "tabular", (300,)) for i in range(3))
    model = build(MMVAE, modalities=modalities, nets={item.name: Dense(width=128) for item in modalities})
    batch = batch_of(model.spec, 8)
    few, many, all_at_once = (saved(model, batch, objective(k, chunk=chunk))[0] for k, chunk in ((4, 4), (100, 4), (100, 100)))
    assert many < few < all_at_once / 8  # of many samples, only codes are kept


@pytest.mark.parametrize("objective", [IWAE, DReG])
def test_fewer_samples_are_decoded_at_once_where_batches_and_views_are_large(objective, build, batch_of, monkeypatch):
    modalities = tuple(Modality(f"m{i}", "tabular", (300,)) for i in range(3))
    model = build(MMVAE, modalities=modalities, nets={item.name: Dense(width=128) for item in modalities})
    batch = batch_of(model.spec, 8)
    calls = []
    model.decoders["m0"].register_forward_pre_hook(lambda net, codes: calls.append(codes[0].shape[0]))
    many, loss = saved(model, batch, objective(10))
    assert calls == [8, 2]
    one_sample = 3 * 8 * 3 * 300  # codes of three experts, each decoded to all modalities
    monkeypatch.setattr(stacked, "NUMBERS", 4 * one_sample)
    few, same = saved(model, batch, objective(10))
    assert calls[2:] == [4, 4, 2]
    assert same == pytest.approx(loss, rel=1e-6)
    assert few == many  # only codes either way
    monkeypatch.setattr(stacked, "NUMBERS", 1)
    saved(model, batch, objective(3))
    assert calls[5:] == [3]  # what is not chunked stays whole
    saved(model, batch, objective(9))
    assert calls[6:] == [1] * 9


def test_a_scale_that_is_fitted_to_the_codes_is_fitted_to_all_of_them(build, batch_of):
    losses = []
    for chunk in (2, 6):
        model = build(MMVAE, 2, likelihoods={"image": Normal(scale="optimal")}, objective=IWAE(6, chunk=chunk)).train()
        losses.append(model.loss(batch_of(model.spec), START, noise()).total.item())
        assert model.decoders["image"].head.log_scale.item() != 0
    assert losses[0] == losses[1]


def test_settings_are_checked():
    for objective in (IWAE, DReG):
        with pytest.raises(ConfigError) as caught:
            objective(0, chunk=0)
        assert len(caught.value.problems) == 2
    spec = Spec((Modality("a", "tabular", (2,)),))
    assert DMVAE(spec, private_dim=1, objective=DReG(3)).criterion.settings == DReG(3)
