"""MLD: the process and its sampler against normal codes, the loss by hand, any modalities given any others, a short training."""

from contextlib import nullcontext
from functools import partial
from time import sleep
from typing import Annotated

import numpy as np
import pytest
import torch
from safetensors.torch import load, save
from scipy import integrate

from molyneux.core import (
    Batch,
    ConfigError,
    CorruptFileError,
    DataError,
    Decodes,
    Encodes,
    EpochStart,
    EstimatesLikelihood,
    Modality,
    NotApplicableError,
    Priors,
    Progress,
    Representation,
    Spec,
    SpecError,
    Trainable,
    TrainingError,
)
from molyneux.core.config import Factory, Supplied
from molyneux.core.config import build as build_settings
from molyneux.data import ArraySource
from molyneux.learn import Stage, Training, fit, post_fit_precision
from molyneux.learn.diffusion import CodeDiffusion
from molyneux.learn.diffusion.fit import CodePosteriors, ExPostDiffusion, fit_denoiser
from molyneux.learn.diffusion.multitime import DiffusedCodes, Drawing, MultiTimeDenoiser, multitime_loss, signal_and_noise
from molyneux.learn.encoders.nets import Dense, WhatWhere
from molyneux.learn.likelihoods import Normal
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.training import hardware
from molyneux.learn.training.post_fit import KeptFit, post_fit, post_fit_note
from molyneux.learn.vaes import CVAE, DMVAE, MLD, MVAE

SIZES = {"a": 3, "b": 4, "c": 2}
SPEC = Spec(tuple(Modality(name, "tabular", (size,)) for name, size in SIZES.items()))
START = Progress(0, 1)
RHO = 0.8
WITHOUT_SPEC = Annotated[Factory[MLD], Supplied(("spec",), "molyneux.learn")]


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def build(seed=0, **settings):
    torch.manual_seed(seed)
    given = {"latent_dim": {"a": 2, "b": 3, "c": 1}, "width": 16, "blocks": 2, "steps": 5}
    return MLD(SPEC, **{**given, "nets": dict.fromkeys(SIZES, Dense(width=8, layers=1)), **settings}).eval()


def batch_of(size=12, missing=False):
    views = {name: torch.randn(size, width, generator=noise(width)) for name, width in SIZES.items()}
    return Batch(views, {"b": torch.arange(size) % 3 > 0} if missing else {})


def test_the_process_keeps_the_variance_and_follows_its_rates():
    for time in (0.0, 0.1, 0.5, 1.0):
        signal, scale = signal_and_noise(torch.tensor(time))
        assert (signal**2 + scale**2).item() == pytest.approx(1.0, abs=1e-6)
        total = integrate.quad(lambda t: 0.1 + 19.9 * t, 0, time)[0]
        assert signal.item() == pytest.approx(np.exp(-0.5 * total), rel=1e-4)


def test_the_cosine_schedule():
    time = torch.linspace(0, 1, 101)
    signal, scale = signal_and_noise(time, "cosine")
    torch.testing.assert_close(signal, torch.from_numpy(np.cos(0.999 * np.pi / 2 * time.numpy())), atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(signal.square() + scale.square(), torch.ones(101))
    assert 0 < signal[-1] < 0.002


def exact(codes, times, schedule="linear"):
    """The velocity of two standard normal codes with correlation RHO, each at its own time."""
    signal, scale = signal_and_noise(times, schedule)
    covariance = signal.unsqueeze(-1) * torch.tensor([[1.0, RHO], [RHO, 1.0]]) * signal.unsqueeze(-2)
    covariance = covariance + torch.diag_embed(scale.square())
    whitened = torch.linalg.solve(covariance, codes.unsqueeze(-1)).squeeze(-1)
    clean = (torch.tensor([[1.0, RHO], [RHO, 1.0]]) @ (signal * whitened).unsqueeze(-1)).squeeze(-1)
    return signal * (scale * whitened) - scale * clean


@pytest.mark.parametrize("schedule", ["linear", "cosine"])
@pytest.mark.parametrize("known", [(False, False), (True, False), (False, True)])
def test_with_the_exact_net_the_sampler_draws_from_the_exact_conditional(known, schedule):
    codes = torch.tensor([[1.2, -0.7]])
    net = partial(exact, schedule=schedule)
    scale = {"centre": torch.tensor([2.0, 0.0]), "spread": torch.tensor([0.5, 3.0])}
    made = DiffusedCodes(net, codes, torch.tensor([known]), (1, 1), Drawing(50, schedule), **scale)
    drawn = (made.rsample((10_000,), noise())[:, 0] - scale["centre"]) / scale["spread"]
    mean, covariance = torch.zeros(2), torch.tensor([[1.0, RHO], [RHO, 1.0]])
    if any(known):
        given = known.index(True)
        mean = torch.full((2,), RHO * codes[0, given].item())
        mean[given] = codes[0, given]
        covariance = torch.zeros(2, 2)
        covariance[1 - given, 1 - given] = 1 - RHO**2
    torch.testing.assert_close(drawn.mean(0), mean, atol=0.04, rtol=0)
    torch.testing.assert_close(drawn.T.cov(), covariance, atol=0.05, rtol=0)
    torch.testing.assert_close((made.mean[0] - scale["centre"]) / scale["spread"], mean, atol=0.03, rtol=0)
    with pytest.raises(NotApplicableError, match="no known density"):
        made.log_prob(codes)


def copies_what_is_given(codes, times):
    """The velocity of a net that says both codes are the same where one is given, and nothing of their dependence otherwise."""
    signal, scale = signal_and_noise(times)
    other = codes.flip(1)
    clean = torch.where(times.flip(1) == 0, other, signal * codes)
    return (signal * codes - clean) / scale.clamp_min(1e-6)


def test_what_is_redrawn_follows_what_is_given():
    """A net that is right about one code given the other alone has the right joint distribution once one is drawn again."""
    known = torch.zeros(400, 2, dtype=torch.bool)
    known[300:, 1] = True
    given = torch.zeros(400, 2)
    given[300:, 1] = 3.0
    parts = {"centre": torch.tensor([10.0, 20.0]), "spread": torch.tensor([2.0, 3.0])}
    together = DiffusedCodes(copies_what_is_given, given, known, (1, 1), Drawing(20), **parts)
    redrawn = DiffusedCodes(copies_what_is_given, given, known, (1, 1), Drawing(20, redrawn=(0,)), **parts)
    first, second = ((codes.rsample((2,), noise()) - parts["centre"]) / parts["spread"] for codes in (together, redrawn))
    assert abs(torch.corrcoef(first[:, :300].flatten(0, 1).T)[0, 1]) < 0.15
    torch.testing.assert_close(second[:, :300, 0], first[:, :300, 1], atol=1e-3, rtol=0)
    torch.testing.assert_close(second[..., 1], first[..., 1])
    torch.testing.assert_close(second[:, 300:], first[:, 300:])  # with one alone to draw there is nothing to draw again


def test_what_is_drawn_alone_follows_what_is_known_and_not_what_is_drawn_beside_it():
    """Three codes with equal correlations, by the exact net; where nothing is known they are drawn together."""
    covariance = torch.full((3, 3), RHO) + (1 - RHO) * torch.eye(3)

    def velocity(codes, times):
        signal, scale = signal_and_noise(times)
        noisy = signal.unsqueeze(-1) * covariance * signal.unsqueeze(-2) + torch.diag_embed(scale.square())
        whitened = torch.linalg.solve(noisy, codes.unsqueeze(-1)).squeeze(-1)
        return signal * (scale * whitened) - scale * (covariance @ (signal * whitened).unsqueeze(-1)).squeeze(-1)

    known = torch.tensor([[True, False, False], [False, False, False]])
    parts = {"centre": torch.zeros(3), "spread": torch.ones(3)}
    made = DiffusedCodes(velocity, torch.full((2, 3), 0.5), known, (1, 1, 1), Drawing(50, redrawn=(1,), alone=True), **parts)
    given, free = made.rsample((5_000,), noise()).unbind(1)
    assert (given[:, 0] == 0.5).all()
    torch.testing.assert_close(given[:, 1:].mean(0), torch.full((2,), RHO * 0.5), atol=0.04, rtol=0)
    torch.testing.assert_close(given[:, 1:].var(0), torch.full((2,), 1 - RHO**2), atol=0.05, rtol=0)
    assert abs(torch.corrcoef(free.T)[1, 2] - RHO) < 0.05


def test_what_is_learned_alone_has_the_others_at_time_1():
    seen = []

    def velocity(codes, times):
        seen.append(times)
        return torch.zeros_like(codes)

    present = torch.rand((400, 4), generator=noise()) < 0.7
    multitime_loss(velocity, torch.randn(400, 4, generator=noise()), present, (1, 1, 1, 1), 0.5, noise(), alone=1.0)
    (times,) = seen
    learned = (times > 0) & (times < 1)
    assert (learned.sum(1) == present.any(1)).all()  # where all are given but one, that one
    assert (present | (times == 1)).all()
    assert ((times == 0) & ~present).sum() == 0
    assert (times == 0).any()


@pytest.mark.slow
@pytest.mark.parametrize("alone", [0.0, 0.5])
def test_what_is_absent_is_no_sign_of_what_goes_along_with_it(alone, for_some_seed):
    """The third modality is absent from every sample of one of two kinds; the first two show the kind."""
    for_some_seed(lambda seed: absence_is_no_sign(alone, seed))


def absence_is_no_sign(alone, seed):
    kind = torch.randint(0, 2, (4000,), generator=noise()).float() * 2 - 1
    codes = torch.stack([kind, kind, kind], 1) + 0.1 * torch.randn(4000, 3, generator=noise(2))
    present = torch.ones(4000, 3, dtype=torch.bool)
    present[:, 2] = kind < 0
    torch.manual_seed(seed)
    denoiser = MultiTimeDenoiser({"a": 1, "b": 1, "c": 1}, width=32, blocks=2)
    settings = ExPostDiffusion(steps=600, batch_size=256, learning_rate=3e-3, spread=0.0, average=0.99)
    posteriors = CodePosteriors(codes, torch.zeros_like(codes), present)
    fit_denoiser(denoiser, posteriors, share=0.5, alone=alone, settings=settings, seed=1)
    known = torch.tensor([[True, False, False]]).expand(500, -1)
    parts = {"drawing": Drawing(20, alone=alone > 0), "centre": torch.zeros(3), "spread": torch.ones(3)}
    right = [
        (DiffusedCodes(denoiser, torch.full((500, 3), sign), known, (1, 1, 1), **parts).rsample((), noise())[:, 1] * sign > 0)
        for sign in (-1.0, 1.0)
    ]
    shares = [found.float().mean().item() for found in right]
    assert min(shares) > 0.95 if alone else min(shares) < 0.9, shares


def test_a_model_redraws_by_name():
    model = build(redrawn=["c", "a"])
    assert model.prior(4).shared.drawing.redrawn == (2, 0)
    assert model.prior(4).shared.rsample((3,), noise()).shape == (3, 4, 6)
    with pytest.raises(ConfigError, match="redrawn: expected names among a, b, c, got d"):
        build(redrawn=["d"])


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_loss_of_a_net_that_says_nothing(share):
    """The mean square of the velocity: over times, noise and the parts that are given."""
    codes = torch.tensor([[1.5, -0.5, 2.0]]).expand(60_000, -1)
    present = torch.ones(len(codes), 2, dtype=torch.bool)
    found = multitime_loss(lambda noisy, _: torch.zeros_like(noisy), codes, present, (1, 2), share, noise()).mean().item()
    times = torch.linspace(0, 1, 2001)
    signal, scale = signal_and_noise(times)
    squares = [(signal**2 + scale**2 * value**2).mean().item() for value in codes[0]]
    # The mean of both modalities, or one of them, which is as often the first as the second.
    assert found == pytest.approx(3 * (squares[0] + (squares[1] + squares[2]) / 2) / 2, rel=0.02)


def test_what_is_given_stays_at_time_0_and_what_is_absent_is_noise():
    seen = []

    def net(codes, times):
        seen.append((codes, times))
        return torch.zeros_like(codes)

    codes, present = torch.full((4000, 3), torch.nan), torch.ones(4000, 3, dtype=torch.bool)
    present[:, 1] = torch.arange(4000) % 2 == 0
    codes[:, 0], codes[:, 2] = 7.0, 7.0
    codes[present[:, 1], 1] = 7.0
    loss = multitime_loss(net, codes, present, (1, 1, 1), 0.5, noise())
    noisy, times = seen[0]
    assert loss.isfinite().all()
    assert (times[~present] == 1).all()
    assert (noisy[times == 0] == 7.0).all()
    counts = (times[present[:, 1]] == 0).sum(1)
    shares = torch.bincount(counts, minlength=4) / len(counts)
    torch.testing.assert_close(shares, torch.tensor([0.5, 0.25, 0.25, 0.0]), atol=0.04, rtol=0)
    assert noisy[~present].std().item() == pytest.approx(1.0, abs=0.05)


def test_the_contract():
    model, batch = build().train(), batch_of(30, missing=True)
    model.loss(batch, START, noise()).total.backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())
    broken = {name: view.where(batch.mask(name)[:, None], torch.nan) for name, view in batch.views.items()}
    assert torch.equal(model.loss(batch, START, noise()).total, model.loss(Batch(broken, batch.present), START, noise()).total)
    nothing = model.loss(batch.observe([]), START, noise())
    assert all(abs(term.item()) < 1e-6 for term in (nothing.total, *nothing.terms.values()))
    other = build(seed=5)
    other.load_state_dict(load(save(model.state_dict())))
    assert torch.equal(model.loss(batch, START, noise()).total, other.loss(batch, START, noise()).total)
    whole, alone = (model.represent(item)["shared"] for item in (batch, batch[4:5]))
    torch.testing.assert_close(alone[0], whole[4])
    lacking = [
        kind
        for kind in (Trainable, Encodes, Decodes, EstimatesLikelihood, Representation, EpochStart)
        if not isinstance(model, kind)
    ]
    assert lacking == [EstimatesLikelihood]
    with pytest.raises(DataError, match="at least one sample"):
        model.loss(batch[:0], START)
    with pytest.raises(SpecError, match="expected codes of 6 shared dimensions, got 5"):
        codes = model.prior(2).rsample(1, noise())
        model.decode(type(codes)(codes.shared[..., 1:]))


@pytest.mark.parametrize("observed", [(), ("a",), ("c", "a"), ("a", "b", "c")])
def test_codes_of_what_is_observed_are_kept(observed):
    model, batch = build(), batch_of(missing=True)
    model.centre.normal_(generator=noise())
    model.spread.uniform_(0.5, 2.0, generator=noise())
    codes = model.encode(batch, observed).rsample(4, noise()).shared
    whole = model.encode(batch).mean.shared
    for name, part, own in zip(SIZES, codes.split([2, 3, 1], -1), whole.split([2, 3, 1], -1), strict=True):
        mask = batch.mask(name) & (name in observed)
        torch.testing.assert_close(part[:, mask], own[mask].expand(4, -1, -1))
        if (~mask).any():
            assert (part[0, ~mask] != part[1, ~mask]).all()
    views = model.decode(model.encode(batch, observed).rsample(4, noise()))
    assert {name: view.batch_shape for name, view in views.items()} == dict.fromkeys(SIZES, (4, 12))
    only = Batch({name: batch.views[name] for name in observed} or batch.views, {})
    assert model.encode(only, observed).mean.shared.shape == (12, 6)


@pytest.mark.parametrize(("stage", "moving"), [("autoencoders", {"networks"}), ("diffusion", {"denoiser"})])
def test_a_stage_trains_its_own_parts(stage, moving):
    model = build().train()
    model.loss(batch_of(), Progress(0, 1, stage), noise()).total.backward()
    assert {name.partition(".")[0] for name, item in model.named_parameters() if item.grad is not None} == moving
    with pytest.raises(ConfigError, match="stages: expected autoencoders and diffusion, got 'autoencoder'"):
        model.loss(batch_of(), Progress(0, 1, "autoencoder"))


def test_it_learns_one_modality_given_the_other():
    first = torch.randn(1024, 1, generator=noise())
    batch = Batch({"a": first, "b": 5 + 2 * (first + 0.1 * torch.randn(1024, 1, generator=noise(1)))})
    spec = Spec((Modality("a", "tabular", (1,)), Modality("b", "tabular", (1,))))
    torch.manual_seed(0)
    likelihoods = dict.fromkeys(spec.names, Normal(scale=0.1))
    model = MLD(
        spec, latent_dim=1, width=32, blocks=1, steps=20, nets=dict.fromkeys(spec.names, Dense(16, 1)), likelihoods=likelihoods
    )
    stages = (Stage(name="autoencoders", steps=120), Stage(name="diffusion", steps=200))
    settings = {"batch_size": 256, "learning_rate": 1e-2, "stages": stages, "threads": 1, "device": "cpu", "precision": "32"}
    fit(model, ArraySource(spec, batch), training=Training(**settings), seed=1)
    codes = torch.cat([model.encode(batch, [name]).mean.shared[:, number : number + 1] for number, name in enumerate("ab")], -1)
    torch.testing.assert_close(((codes - model.centre) / model.spread).std(0), torch.ones(2), atol=0.05, rtol=0)
    views = model.decode(model.encode(batch, ["a"]).rsample(1, noise()), ["b"])["b"].mean[0]
    assert torch.corrcoef(torch.cat([views, batch.views["b"]], 1).T)[0, 1] > 0.9
    drawn = model.decode(model.prior(1024).rsample(1, noise()))
    pair = torch.cat([drawn["a"].mean[0], drawn["b"].mean[0]], 1)
    assert torch.corrcoef(pair.T)[0, 1] > 0.9
    assert pair[:, 1].mean().item() == pytest.approx(5.0, abs=0.4)


def test_settings_are_checked_together():
    with pytest.raises(ConfigError) as caught:
        CodeDiffusion(steps=0, given_share=1.5, schedule="sine")
    assert len(caught.value.problems) == 3
    with pytest.raises(ConfigError) as caught:
        build(latent_dim={"a": 2, "b": 3}, redrawn=["d"], nets={"d": Dense()})
    assert len(caught.value.problems) == 3


def test_files_with_the_earlier_names_of_settings_are_read():
    """What is a setting of the diffusion model stood beside the others."""
    earlier = {"width": 16, "blocks": 2, "redrawn": ["a"], "after": {"steps": 3}, "grids": {"channels": 8}}
    made = [
        build_settings(WITHOUT_SPEC, {"class_path": "MLD", "init_args": given}, "model")
        for given in (earlier, {"diffusion": earlier})
    ]
    assert made[0].plain == made[1].plain
    assert made[0].plain["init_args"]["diffusion"]["after"]["steps"] == 3
    assert set(earlier).isdisjoint(made[0].plain["init_args"])
    with pytest.raises(ConfigError, match=r"width: is diffusion\.width now"):
        build(width=16, diffusion=CodeDiffusion(16))
    with pytest.raises(ConfigError, match=r"init_args\.diffusion\.steps: expected at least 1, got 0"):
        build_settings(WITHOUT_SPEC, {"class_path": "MLD", "init_args": {"diffusion": {"steps": 0}}}, "model")


AFTER = {"steps": 600, "batch_size": 128, "learning_rate": 1e-2, "average": 0.98, "samples": 1024}


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_fitted_after_the_training_it_learns_one_modality_given_the_other(rate):
    first = torch.randn(1024, 1, generator=noise())
    batch = Batch({"a": first, "b": 5 + 2 * (first + 0.1 * torch.randn(1024, 1, generator=noise(1)))})
    spec = Spec((Modality("a", "tabular", (1,)), Modality("b", "tabular", (1,))))
    torch.manual_seed(0)
    parts = {"nets": dict.fromkeys(spec.names, Dense(16, 1)), "likelihoods": dict.fromkeys(spec.names, Normal(scale=0.1))}
    model = MLD(spec, latent_dim=1, width=32, blocks=1, steps=20, rate=rate, after=ExPostDiffusion(**AFTER), **parts)
    settings = {"steps": 400, "batch_size": 256, "learning_rate": 1e-2, "threads": 1, "device": "cpu", "precision": "32"}
    before = {name: item.clone() for name, item in model.denoiser.named_parameters()}
    history = fit(model, ArraySource(spec, batch), training=Training(**settings), seed=1)
    assert not any("diffusion" in name for name in history.rows[-1])
    assert all((item != before[name]).any() for name, item in model.denoiser.named_parameters())
    views = model.decode(model.encode(batch, ["a"]).rsample(1, noise()), ["b"])["b"].mean[0]
    assert torch.corrcoef(torch.cat([views, batch.views["b"]], 1).T)[0, 1] > 0.9
    again = {name: item.clone() for name, item in model.denoiser.named_parameters()}
    for item, value in zip(model.denoiser.parameters(), before.values(), strict=True):
        item.data.copy_(value)
    model.post_fit(ArraySource(spec, batch), seed=1)
    assert all(torch.equal(item, again[name]) for name, item in model.denoiser.named_parameters())


@pytest.mark.parametrize(("chosen", "used"), [("cpu", "cpu"), ("cuda", "cuda"), ("mps", "cpu")])
def test_the_fit_is_on_the_device_of_the_training_where_that_has_double_precision(monkeypatch, tmp_path, chosen, used):
    devices = []
    monkeypatch.setattr("molyneux.learn.training.hardware.choose_device", lambda training: chosen)
    monkeypatch.setattr("molyneux.learn.training.post_fit.on_device", lambda model, device: nullcontext(devices.append(device)))
    post_fit(build(), ArraySource(SPEC, batch_of(8)), tmp_path, Training(), seed=1)
    assert devices == [used]


@pytest.mark.parametrize("device", ["cpu", "cuda", "mps"])
def test_the_fit_takes_bf16_where_its_device_has_it(monkeypatch, device):
    monkeypatch.setattr(hardware, "has_bf16", lambda: device == "cpu")
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: device == "cuda")
    auto = ExPostDiffusion()
    assert [name for name in ("cpu", "cuda", "mps") if auto.uses_bf16(256, name)] == [device] * (device != "mps")
    assert not any(auto.uses_bf16(255, name) for name in ("cpu", "cuda", "mps"))
    asked = ExPostDiffusion(precision="bf16")
    assert [name for name in ("cpu", "cuda", "mps") if asked.uses_bf16(8, name)] == list(dict.fromkeys((device, "mps")))
    assert not ExPostDiffusion(precision="32").uses_bf16(256, device)


def test_a_fit_in_32_bits_in_place_of_bf16_is_told_and_recorded(monkeypatch, tmp_path):
    settings = Training(steps=1, batch_size=4, threads=1, device="cpu", precision="32")
    model = build(after=ExPostDiffusion(steps=1, batch_size=4, precision="bf16"))
    monkeypatch.setattr(hardware, "has_bf16", lambda: True)
    assert post_fit_precision(model, settings) == "bf16"
    assert post_fit_note(model, settings) == ""
    monkeypatch.setattr(hardware, "has_bf16", lambda: False)
    assert post_fit_precision(model, settings) == "32"
    with pytest.warns(UserWarning, match=r"precision of the fit after training: bf16 is asked for, .* MLD is fitted in 32 bits"):
        fit(model.train(), ArraySource(SPEC, batch_of(8)), training=settings, seed=1)
    assert post_fit_precision(build(), settings) is None
    assert post_fit_note(build(after=ExPostDiffusion(steps=1)), settings) == ""  # which asks for what the device has


def test_the_cost_of_a_training_has_that_of_the_fit(monkeypatch):
    monkeypatch.setattr(MLD, "post_fit", lambda self, source, *, seed, kept: sleep(1.5))
    settings = Training(steps=1, batch_size=4, threads=1, device="cpu", precision="32")
    assert fit(build().train(), ArraySource(SPEC, batch_of(8)), training=settings, seed=1).rows[-1]["seconds"] > 1.5


class KilledError(Exception):
    pass


class Dying:
    """Told of the progress of a training; it ends it at a step of the fit after it."""

    def __init__(self, at=None):
        self.at, self.told = at, []

    def step(self, done, total, samples_per_second, seconds_left):
        assert samples_per_second > 0
        assert seconds_left >= 0
        self.told.append((done, total))
        if total == FIT_STEPS and done == self.at:
            raise KilledError

    def epoch(self, row):
        pass


FIT_STEPS = 60


DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"))]


def fit_with(folder, progress=None, seed=0, every=0.0, device="cpu", **after):
    model = build(rate=0.3, after=ExPostDiffusion(**{"steps": FIT_STEPS, "batch_size": 8, "precision": "32", **after}))
    settings = Training(steps=3, batch_size=4, threads=1, device=device, precision="32", checkpoint_seconds=every)
    history = fit(model.train(), ArraySource(SPEC, batch_of(40)), training=settings, folder=folder, seed=seed, progress=progress)
    return model.state_dict(), history.rows[-1]["seconds"]


@pytest.mark.kernels
@pytest.mark.parametrize("device", DEVICES)
def test_a_fit_that_was_killed_goes_on_where_it_stood(tmp_path, monkeypatch, device):
    monkeypatch.setattr("molyneux.learn.training.fit_progress._TOLD_EVERY", 0.0)
    whole, _ = fit_with(tmp_path / "whole", device=device)
    for at in (1, 17, 41):
        with pytest.raises(KilledError):
            fit_with(tmp_path / "killed", Dying(at), device=device)
    last = Dying()
    resumed, seconds = fit_with(tmp_path / "killed", last, device=device)
    assert whole.keys() == resumed.keys()
    assert all(torch.equal(value, resumed[name]) for name, value in whole.items())
    assert last.told == [(done, FIT_STEPS) for done in range(41, FIT_STEPS + 1)]  # what was told of was not yet written

    again = Dying()
    repeated, counted = fit_with(tmp_path / "killed", again, device=device)
    assert all(torch.equal(value, repeated[name]) for name, value in whole.items())
    assert not again.told
    assert counted == seconds


def test_the_state_of_another_fit_is_not_used(tmp_path):
    fit_with(tmp_path / "run")
    longer, seconds = fit_with(tmp_path / "run", steps=FIT_STEPS + 20)
    afresh, _ = fit_with(tmp_path / "other", steps=FIT_STEPS + 20)
    assert all(torch.equal(value, longer[name]) for name, value in afresh.items())
    assert fit_with(tmp_path / "run", steps=FIT_STEPS + 20)[1] == seconds


def test_a_damaged_state_of_a_fit_is_refused(tmp_path):
    fit_with(tmp_path)
    path = tmp_path / "checkpoints" / "post-fit.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(CorruptFileError, match=r"post-fit\.safetensors was altered"):
        fit_with(tmp_path)
    path.write_bytes(b"")
    with pytest.raises(CorruptFileError, match="truncated"):
        fit_with(tmp_path)


def test_a_step_after_training_that_cannot_be_called_is_refused_before_it(monkeypatch):
    monkeypatch.setattr(MLD, "post_fit", lambda self, source, seed: None)
    settings = Training(steps=1, batch_size=4, threads=1, device="cpu", precision="32")
    with pytest.raises(
        ConfigError, match=r"MLD\.post_fit: expected the arguments \(source, \*, seed, kept=None\), got \(source, seed\)"
    ):
        fit(build().train(), ArraySource(SPEC, batch_of(8)), training=settings, seed=1)


def test_nothing_is_written_before_it_is_time(tmp_path, monkeypatch):
    monkeypatch.setattr("molyneux.learn.training.fit_progress._TOLD_EVERY", 0.0)
    with pytest.raises(KilledError):
        fit_with(tmp_path, Dying(41), every=60.0)
    assert not (tmp_path / "checkpoints" / "post-fit.safetensors").exists()


def test_a_fit_of_other_codes_starts_anew(tmp_path):
    kept = KeptFit(tmp_path / "state.safetensors", 60.0)
    codes = CodePosteriors(torch.randn(30, 6, generator=noise()), torch.ones(30, 6), torch.ones(30, 3, dtype=torch.bool))
    settings = ExPostDiffusion(steps=10, batch_size=8)
    first, second, third = (build(seed=4).denoiser for _ in range(3))
    fit_denoiser(first, codes, share=0.5, settings=settings, seed=1, kept=kept)
    moved = codes._replace(mean=codes.mean + 1)
    fit_denoiser(second, moved, share=0.5, settings=settings, seed=1, kept=KeptFit(tmp_path / "state.safetensors", 60.0))
    fit_denoiser(third, moved, share=0.5, settings=settings, seed=1)
    assert all(torch.equal(a, b) for a, b in zip(second.parameters(), third.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), third.parameters(), strict=True))


def test_the_rate_is_the_divergence_of_the_codes():
    model, batch = build(rate=0.3).train(), batch_of(missing=True)
    loss = model.loss(batch, Progress(0, 1, "autoencoders"), noise())
    codes = model.networks.observe(batch, tuple(SIZES), model._posteriors).private
    for name in SIZES:
        posterior = torch.distributions.Normal(codes[name].mean, codes[name].variance.sqrt())
        each = torch.distributions.kl_divergence(posterior, torch.distributions.Normal(0.0, 1.0)).sum(1) * batch.mask(name)
        torch.testing.assert_close(loss.terms[f"rate.{name}"], each.mean())
    rates = sum(loss.terms[f"rate.{name}"] for name in SIZES)
    torch.testing.assert_close(loss.total, sum(loss.terms[f"distortion.{name}"] for name in SIZES) + 0.3 * rates)


def test_the_codes_that_a_fit_learns_from_are_standardised_with_their_variance():
    model, batch = build(rate=1.0, after=ExPostDiffusion(steps=1, batch_size=8)), batch_of(40)
    model.post_fit(ArraySource(SPEC, batch), seed=0)
    codes = model.networks.observe(batch, tuple(SIZES), model._posteriors).private
    drawn = torch.cat([codes[name].rsample((4000,), noise()) for name in SIZES], -1).flatten(0, 1)
    torch.testing.assert_close(drawn.mean(0), model.centre, atol=0.02, rtol=0)
    torch.testing.assert_close(drawn.std(0), model.spread, atol=0, rtol=0.02)


def test_the_mean_of_the_weights():
    """With one weight each step it is that of the last step; with all of them, near their mean."""
    codes = CodePosteriors(torch.randn(64, 2, generator=noise()), torch.zeros(64, 2), torch.ones(64, 2, dtype=torch.bool))
    found = []
    for average, steps in ((0.0, 8), (0.9, 1), (0.9, 8), (0.0, 1)):
        torch.manual_seed(0)
        denoiser = MultiTimeDenoiser({"a": 1, "b": 1}, width=8, blocks=1)
        first = denoiser.inputs["a"].weight.detach().clone()
        fit_denoiser(denoiser, codes, share=0.5, settings=ExPostDiffusion(steps=steps, batch_size=16, average=average), seed=3)
        found.append((denoiser.inputs["a"].weight - first).norm().item())
    last, one, mean, alone = found
    assert one == pytest.approx(0.9 * alone, rel=1e-3)  # 1/10 of the first weights is left after one step
    assert 0 < mean < last


def test_a_fit_after_the_training_has_no_stage_in_it():
    with pytest.raises(ConfigError, match="with `after` the diffusion model has no stage"):
        build(after=ExPostDiffusion()).loss(batch_of(), Progress(0, 1, "diffusion"))
    with pytest.raises(ConfigError) as caught:
        ExPostDiffusion(steps=0, learning_rate=-1.0, average=1.0, precision="16")
    assert len(caught.value.problems) == 4
    with pytest.raises(ConfigError, match="spread") as caught:
        ExPostDiffusion(warmup_steps=-1, spread=-0.5)
    assert len(caught.value.problems) == 2
    with pytest.raises(ConfigError, match="rate"):
        build(rate=-1.0)


@pytest.mark.parametrize(("rate", "missing"), [(0.0, False), (1.0, False), (1.0, True)])
def test_a_prior_is_fitted_to_the_codes_beside_the_diffusion_model(rate, missing):
    """One normal: it has the mean and the covariance of codes of samples of which nothing is missing."""
    batch = batch_of(6000, missing)
    model = build(rate=rate, prior=ExPostMixture(components=1))
    assert isinstance(model, Priors)
    model.post_fit(ArraySource(SPEC, batch), seed=0)
    codes = model.networks.observe(batch, tuple(SIZES), model._posteriors).private
    drawn = torch.cat([codes[name].rsample((40 if rate else 1,), noise()) for name in SIZES], -1)
    drawn = drawn[:, torch.stack([batch.mask(name) for name in SIZES]).all(0)].flatten(0, 1)
    fitted = model.priors["fitted"](20_000).shared.rsample((), noise(1))
    torch.testing.assert_close(fitted.mean(0), drawn.mean(0), atol=0.1, rtol=0)
    torch.testing.assert_close(fitted.T.cov(), drawn.T.cov(), atol=0.06, rtol=0.1)
    assert model.decode(model.priors["fitted"](3).rsample(1, noise()))["a"].mean.shape == (1, 3, 3)


def test_the_priors_have_names():
    assert list(build().priors) == ["diffusion"]
    model = build(rate=1.0, redrawn=["b"], prior=ExPostMixture())
    assert list(model.priors) == ["loss", "diffusion", "redrawn", "fitted"]
    drawn = {name: prior(500).shared.rsample((), noise()) for name, prior in model.priors.items()}
    assert torch.equal(drawn["redrawn"], model.prior(500).shared.rsample((), noise()))
    assert ((drawn["redrawn"] != drawn["diffusion"]).any(0)).tolist() == [False, False, True, True, True, False]
    assert drawn["loss"].shape == (500, 6)
    torch.testing.assert_close(drawn["loss"].T.cov(), torch.eye(6), atol=0.2, rtol=0)


def test_a_net_of_one_normal_code_needs_such_codes():
    spec = Spec((Modality("image", "image", (3, 16, 16), "uint8"), Modality("a", "tabular", (3,))))
    nets = {"image": WhatWhere(channels=4)}
    with pytest.raises(SpecError, match=r"WhatWhere gives image one code .* a rate above 0"):
        MLD(spec, nets=nets)
    with pytest.raises(SpecError, match="WhatWhere gives image one code"):
        DMVAE(spec, latent_dim=8, private_dim={"image": 6}, nets=nets)
    with pytest.raises(SpecError, match="WhatWhere gives image one code"):
        CVAE(spec, target="image", nets=nets)
    assert MVAE(spec, latent_dim=8, nets=nets).networks.numbers == MLD(spec, rate=1.0, nets=nets).networks.numbers == 2


def test_a_fit_that_comes_to_nothing_is_an_error():
    codes = CodePosteriors(torch.randn(64, 2, generator=noise()), torch.zeros(64, 2), torch.ones(64, 2, dtype=torch.bool))
    codes.mean[::2] = torch.inf
    denoiser = MultiTimeDenoiser({"a": 1, "b": 1}, width=8, blocks=1)
    with pytest.raises(TrainingError, match=r"step 1: expected a finite loss, got nan: lower after\.learning_rate"):
        fit_denoiser(denoiser, codes, share=0.5, settings=ExPostDiffusion(steps=3, batch_size=64), seed=3)
