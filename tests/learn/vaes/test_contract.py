"""The contract of the models, for every model and every number of modalities."""

from collections import Counter
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load, save

from molyneux.core import (
    ConfigError,
    DataError,
    Decodes,
    Encodes,
    EstimatesLikelihood,
    Progress,
    Representation,
    SpecError,
    Trainable,
)
from molyneux.data import ArraySource
from molyneux.learn import Training, fit
from molyneux.learn.encoders.nets import CharacterTransformer, Dense, Patches
from molyneux.learn.representations import MaskedTransformer
from molyneux.learn.vaes import (
    AE,
    CMVAE,
    CVAE,
    DMVAE,
    HSVAE,
    IDMVAE,
    JNF,
    MHVAE,
    MLD,
    MMVAE,
    VAE,
    MMVAEPlus,
    Nexus,
    PointAutoencoder,
)

START = Progress(0, 10)
COUNTS = (1, 2, 6)
ABILITIES = (Trainable, Encodes, Decodes, EstimatesLikelihood, Representation)


def needs_prior(model_class):
    """Leave out the autoencoder without a prior: a sample without its modality has no code, as a test of its own says."""
    if model_class in (AE, MaskedTransformer):
        pytest.skip("an autoencoder without a prior")


def needs_density(model_class):
    """Leave out autoencoders, whose codes have no density, as a test of their own says."""
    if issubclass(model_class, PointAutoencoder):
        pytest.skip("an autoencoder")


def noise(seed=1):
    return torch.Generator().manual_seed(seed)


def loss_of(model, batch):
    return model.loss(batch, START, noise())


@pytest.mark.parametrize("count", COUNTS)
def test_every_modality_is_encoded_once_and_decoded_once(any_model, count, build, batch_of):
    model, calls = build(any_model, count, turns=True), Counter()
    for side, nets in (("encoded", model.encoders), ("decoded", model.decoders)):
        for name, net in nets.items():
            net.register_forward_pre_hook(lambda *_, key=(side, name): calls.update([key]))
    loss = loss_of(model, batch_of(model.spec))
    assert loss.total.isfinite()
    once = 1 if any_model is not IDMVAE else 2  # which encodes what it generates, all views of a modality together
    assert calls == {(side, name): once for side in ("encoded", "decoded") for name in model.spec.names}


def test_training_refuses_a_sample_without_any_modality(any_model, build, batch_of):
    model = build(any_model, 3)
    if len(model.spec.modalities) == 1:
        pytest.skip("a model of one modality")
    batch = batch_of(model.spec, 24)
    some = torch.arange(24) != 5
    source = ArraySource(model.spec, replace(batch, present=dict.fromkeys(model.spec.names, some)))
    with pytest.raises(DataError, match=r"expected at least one of .* in every sample to learn from, got none in sample 5"):
        fit(model, source, None, Training(epochs=1, batch_size=24, tensorboard=False))


def test_so_do_models_that_are_no_autoencoders():
    assert CVAE.needs_views
    assert MLD.needs_views


@pytest.mark.parametrize("count", COUNTS)
def test_gradient_reaches_every_parameter(any_model, count, build, batch_of):
    model = build(any_model, count, turns=True).train()
    loss_of(model, batch_of(model.spec, 24, missing=0.4)).total.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("count", [1, 3])
def test_what_lies_where_nothing_is_present_is_never_read(model_class, count, build, batch_of):
    needs_prior(model_class)
    model = build(model_class, count)
    batch = batch_of(model.spec, missing=0.5)
    other = batch_of(model.spec, seed=7)
    views = {}
    for name, view in batch.views.items():
        keep = batch.present[name].reshape(-1, *[1] * (view.dim() - 1))
        views[name] = view.where(keep, other.views[name])
    changed = replace(batch, views=views)
    assert torch.equal(loss_of(model, batch).total, loss_of(model, changed).total)
    first, second = model.represent(batch), model.represent(changed)
    assert all(torch.equal(first[name], second[name]) for name in first)
    needs_density(model_class)
    torch.testing.assert_close(model.log_likelihood(batch, 3, noise()), model.log_likelihood(changed, 3, noise()))


def test_an_absent_modality_costs_nothing(any_model, build, batch_of):
    model = build(any_model, 3)
    batch = batch_of(model.spec)
    nothing = batch.observe([])
    loss = loss_of(model, nothing)
    assert all(abs(term.item()) < 1e-5 for term in (loss.total, *loss.terms.values()))
    needs_density(any_model)
    assert model.log_likelihood(nothing, 4, noise()).abs().max() < 1e-5
    posterior, prior = model.encode(nothing), model.prior(len(batch))
    codes = prior.rsample(5, noise())
    torch.testing.assert_close(posterior.log_prob(codes), prior.log_prob(codes))


def test_a_batch_of_nothing_has_codes_and_no_loss(model_class, build, batch_of):
    model = build(model_class, 3)
    nothing = batch_of(model.spec)[:0]
    assert model.encode(nothing).mean.shared.shape == (0, 4)
    with pytest.raises(DataError, match=r"at least one sample in a batch for its loss, .* got none: leave it out"):
        loss_of(model, nothing)
    needs_density(model_class)
    assert model.log_likelihood(nothing, 3, noise()).shape == (0,)


def test_a_missing_modality_only_changes_its_own_samples(model_class, build, batch_of):
    needs_prior(model_class)
    model = build(model_class, 3)
    batch = batch_of(model.spec)
    name = model.spec.names[-1]
    mask = torch.arange(10) < 5
    partly = replace(batch, present={name: mask})
    without = model.encode(batch, [other for other in model.spec.names if other != name]).mean
    torch.testing.assert_close(model.encode(partly).mean.shared[mask], model.encode(batch).mean.shared[mask])
    torch.testing.assert_close(model.encode(partly).mean.shared[~mask], without.shared[~mask])


@pytest.mark.parametrize("count", [2, 4])
def test_order_of_modalities_does_not_matter(model_class, count, build, batch_of):
    needs_density(model_class)
    model = build(model_class, count)
    turned = build(model_class, modalities=tuple(reversed(model.spec.modalities)))
    turned.load_state_dict(model.state_dict())
    batch = batch_of(model.spec, missing=0.0 if model_class is JNF else 0.3)  # whose posterior given several has no density
    codes = model.prior(10).rsample(3, noise())
    torch.testing.assert_close(turned.encode(batch).log_prob(codes), model.encode(batch).log_prob(codes))
    if model_class not in (CMVAE, IDMVAE, MHVAE, MMVAE, MMVAEPlus):  # whose divergences depend on the codes drawn
        # A random subset of MVAE is drawn by position, so the order decides which one it is.
        model.random_subsets = turned.random_subsets = 0
        rates = [loss_of(one, batch).terms for one in (model, turned)]
        for name in rates[0]:
            if name.startswith("rate."):
                torch.testing.assert_close(rates[1][name], rates[0][name])


def test_samples_of_a_batch_do_not_see_each_other(model_class, build, batch_of):
    needs_prior(model_class)
    model = build(model_class, 3)
    batch = batch_of(model.spec, missing=0.3)
    order = torch.randperm(10)
    whole, alone = model.represent(batch), model.represent(batch[4:5])
    shuffled = model.represent(batch[order])
    for name, codes in whole.items():
        torch.testing.assert_close(alone[name][0], codes[4])
        torch.testing.assert_close(shuffled[name], codes[order])


def test_shapes(model_class, build, batch_of):
    model = build(model_class, 3)
    batch = batch_of(model.spec)
    posterior = model.encode(batch)
    codes = posterior.rsample(7, noise())
    assert codes.shared.shape == (7, 10, 4)
    decoded = model.decode(codes)
    for modality in model.spec.modalities:
        views = decoded[modality.name]
        assert views.batch_shape == (7, 10)
        assert views.view.shape == (7, 10, *modality.shape)
    assert set(model.decode(codes, [model.spec.names[0]])) == {model.spec.names[0]}
    flat = codes.flatten()
    torch.testing.assert_close(model.decode(flat)["image"].mean, decoded["image"].mean.flatten(0, 1), atol=1e-5, rtol=1e-4)
    needs_density(model_class)
    assert posterior.log_prob(codes).shape == (7, 10)
    assert model.log_likelihood(batch, 3, noise()).shape == (10,)


def test_it_has_every_ability(model_class, build):
    lacking = [ability for ability in ABILITIES if not isinstance(build(model_class), ability)]
    assert lacking == ([EstimatesLikelihood] if issubclass(model_class, PointAutoencoder) else [])


def test_nets_of_what_is_not_observed_are_not_run(model_class, build, batch_of):
    needs_prior(model_class)
    model = build(model_class, 3)
    batch = batch_of(model.spec)
    seen = model.spec.names[0]
    for name, net in model.encoders.items():
        if name != seen:
            net.register_forward_pre_hook(lambda *_: pytest.fail("an unobserved modality was encoded"))
    only = replace(batch, views={seen: batch.views[seen]})
    first, second = model.encode(batch, [seen]), model.encode(only)
    assert torch.equal(first.mean.shared, second.mean.shared)
    for name in set(model.private_dims) - {seen} if not model.replaces_prior else ():
        assert first.private[name].mean.abs().max() == 0.0
    codes = model.prior(10).rsample(2, noise())
    torch.testing.assert_close(model.encode(batch, []).log_prob(codes), model.prior(10).log_prob(codes))


def test_the_same_noise_gives_the_same_loss(any_model, build, batch_of):
    model = build(any_model, 4)
    batch = batch_of(model.spec)
    assert torch.equal(loss_of(model, batch).total, loss_of(model, batch).total)
    drawn = model.loss(batch, START, noise(2)).total
    assert torch.equal(loss_of(model, batch).total, drawn) == issubclass(any_model, AE)


def test_weights_can_be_stored_and_loaded(model_class, build, batch_of):
    model, other = build(model_class, 3), build(model_class, 3, seed=5)
    batch = batch_of(model.spec)
    assert not torch.equal(loss_of(model, batch).total, loss_of(other, batch).total)
    other.load_state_dict(load(save(model.state_dict())))
    assert torch.equal(loss_of(model, batch).total, loss_of(other, batch).total)


def test_importance_samples_tighten_the_bound_and_their_number_does_not_change_memory(model_class, build, batch_of):
    needs_density(model_class)
    model = build(model_class, 2)
    batch = batch_of(model.spec, 10)
    rows = []
    for net in model.decoders.values():
        net.register_forward_pre_hook(lambda _, codes: rows.append(codes[0].shape[:-1].numel()))
    few = torch.stack([model.log_likelihood(batch, 1, noise(seed)) for seed in range(20)])
    many = torch.stack([model.log_likelihood(batch, 200, noise(seed)) for seed in range(2)])
    assert (few.mean(0) <= many.mean(0) + 0.5).all()
    assert max(rows) <= 1024


@pytest.mark.kernels
def test_half_precision_of_the_nets_gives_full_precision_of_the_loss(model_class, build, batch_of):
    model = build(model_class, 3)
    batch = batch_of(model.spec)
    full = loss_of(model, batch).total
    with torch.autocast("cpu", torch.bfloat16):
        half = loss_of(model, batch).total
    assert half.dtype == torch.float32
    assert half.item() == pytest.approx(full.item(), rel=0.05)


def test_batches_that_do_not_fit_are_refused(model_class, build, batch_of):
    model = build(model_class, 1)
    batch = batch_of(model.spec)
    with pytest.raises(SpecError, match=r"modality image: expected uint8 \(10, 3, 8, 12\), got torch.uint8 \(10, 3, 8, 11\)"):
        loss_of(model, replace(batch, views={"image": batch.views["image"][..., 1:]}))
    with pytest.raises(SpecError, match="expected modality image, got only sound"):
        loss_of(model, replace(batch, views={"sound": batch.views["image"]}))
    with pytest.raises(SpecError, match='did you mean "image"'):
        model.encode(batch, ["imagee"])
    codes = model.encode(batch).rsample(1)
    with pytest.raises(SpecError, match=r"expected codes of 4 shared and .* got 3"):
        model.decode(replace(codes, shared=codes.shared[..., 1:]))


def test_settings_that_cannot_be_used_are_refused_all_at_once(model_class, build):
    weight = {} if issubclass(model_class, PointAutoencoder) else {"psi" if model_class is HSVAE else "beta": -1.0}
    with pytest.raises(ConfigError) as caught:
        build(model_class, 2, nets={"imagee": Dense()}, likelihoods={"txt": None}, **weight)
    assert len(caught.value.problems) == 2 + len(weight)
    with pytest.raises(ConfigError, match="latent_dim: expected at least 1, got 0"):
        model_class(build(model_class).spec, latent_dim=0)
    if not model_class.has_private:
        with pytest.raises(ConfigError, match=r"private_dim: expected 0, since .* has no private codes"):
            build(model_class, private_dim=2)


def test_nets_that_do_not_fit_are_refused(model_class, build):
    wrong = {"image": CharacterTransformer()}
    with pytest.raises(SpecError, match="CharacterTransformer is a net for text, but modality image is image"):
        build(model_class, 2, nets=wrong)


def test_chosen_nets_are_used(model_class, build):
    default, small = build(model_class), build(model_class, nets={"image": Patches(channels=4, width=8)})
    count = [sum(parameter.numel() for parameter in model.parameters()) for model in (default, small)]
    assert count[1] < count[0]


def test_private_codes_are_those_asked_for(model_class, build):
    if not model_class.has_private:
        assert not build(model_class).private_dims
    elif model_class in (MLD, Nexus):  # whose modalities all have codes
        assert set(build(model_class).private_dims) == {"image", "text"}
        with pytest.raises(ConfigError, match=r"private_dim.*text"):
            build(model_class, private_dim={"image": 2, "text": 0})
    else:
        assert build(model_class, private_dim={"image": 2, "text": 0}).private_dims == {"image": 2}


def test_a_unimodal_model_takes_one_modality(build):
    with pytest.raises(ConfigError, match="VAE takes at most 1 modalities, got 2"):
        VAE(build(DMVAE).spec)
