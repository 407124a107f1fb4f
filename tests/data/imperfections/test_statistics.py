"""What each corruption does at a strength: shares, variances, angles, ways, and what it never does."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Spec
from molyneux.data import ArraySource
from molyneux.data.imperfections import (
    Brightness,
    Chain,
    ChannelIsolation,
    Contrast,
    Correlated,
    Corrupted,
    Crop,
    Dropout,
    Flip,
    GaussianNoise,
    Grayscale,
    Inversion,
    Mixture,
    PeriodicNoise,
    Rotation,
    SaltAndPepper,
    StructuredDropout,
    TemporalDropout,
    Tint,
    Translation,
    ValueSwap,
    WhiteBalance,
)

STRENGTHS = (0.1, 0.4, 0.9)
N = 1500


def source(*modalities, lengths=None, n=N, low=0.2, high=0.8):
    """Views of random values, those of pictures from 0.2 to 0.8 of their range."""
    rng, views = np.random.default_rng(0), {}
    for modality in modalities:
        if modality.kind in ("image", "video"):
            values = rng.uniform(low, high, (n, *modality.shape))
            values = (255 * values).astype(np.uint8) if modality.dtype == "uint8" else values.astype(np.float32)
        else:
            values = rng.normal(1, 1, (n, *modality.shape)).astype(np.float32)
        views[modality.name] = torch.from_numpy(values)
    return ArraySource(Spec(modalities), Batch(views, lengths=lengths or {}))


def both(samples, corruption, strength, seed=1):
    rows = np.arange(len(samples))
    return samples.batch(rows), Corrupted(samples, corruption, strength, seed=seed).batch(rows)


IMAGE = Modality("image", "image", (3, 10, 14))
OCCASIONAL = (Brightness, ChannelIsolation, Contrast, Crop, Flip, Grayscale, Inversion, Rotation, Tint, Translation, WhiteBalance)


@pytest.mark.parametrize("kind", [*OCCASIONAL, PeriodicNoise], ids=lambda kind: kind.name)
@pytest.mark.parametrize("strength", STRENGTHS)
def test_images_are_changed_with_the_strength_as_probability(kind, strength):
    before, after = both(source(IMAGE), kind(), strength)
    changed = (before.views["image"] != after.views["image"]).flatten(1).any(1).double().mean()
    assert abs(changed - strength) < 4 * (strength * (1 - strength) / N) ** 0.5
    assert 0 <= after.views["image"].min() <= after.views["image"].max() <= 1


def test_colours_are_computed_as_they_are_described():
    samples = source(IMAGE, n=60)
    x = samples.batch(np.arange(60)).views["image"].double()
    full = {kind: both(samples, kind(), 1.0)[1].views["image"].double() for kind in OCCASIONAL}
    grey = 0.3 * x[:, 0] + 0.59 * x[:, 1] + 0.11 * x[:, 2]
    assert all(torch.allclose(full[Grayscale][:, channel], grey) for channel in range(3))
    assert torch.allclose(full[Inversion], 1 - x)
    mean = x.mean((1, 2, 3), keepdim=True)
    assert torch.allclose(full[Contrast], mean + (x - mean) / 2)
    assert torch.equal(full[Flip], x.flip(-1))
    dark, bright = x / 2, (2 * x).clamp(max=1)
    is_dark = torch.isclose(full[Brightness], dark).flatten(1).all(1)
    assert torch.allclose(full[Brightness][~is_dark], bright[~is_dark])
    assert 10 < is_dark.sum() < 50
    kept = full[ChannelIsolation].flatten(2).any(2)
    assert (kept.sum(1) == 1).all()
    assert kept.any(0).all()
    assert torch.equal(full[ChannelIsolation][kept], x[kept])
    warm = full[WhiteBalance][:, 0].mean((1, 2)) > x[:, 0].mean((1, 2))
    assert torch.allclose(full[WhiteBalance][warm, 2], 0.6 * x[warm, 2])
    assert torch.allclose(full[WhiteBalance][~warm, 0], 0.6 * x[~warm, 0])
    assert torch.equal(full[WhiteBalance][:, 1], x[:, 1])
    pulled = (full[Tint] - 0.7 * x).mean((2, 3))
    assert torch.allclose(pulled.sort(1).values, torch.tensor([0, 0, 0.3], dtype=torch.double).expand_as(pulled), atol=1e-6)


def test_rotations_have_their_angles_and_both_ways():
    side = 41
    rod = torch.zeros(N, 1, side, side)
    rod[:, :, side // 2, side // 2 : -4] = 1.0  # from the centre to the right
    samples = ArraySource(Spec((Modality("image", "image", (1, side, side)),)), Batch({"image": rod}))
    seen = both(samples, Rotation(angles=(20, 40)), 1.0)[1].views["image"][:, 0].double()
    places = torch.arange(side) - side // 2
    x, y = (seen * places).sum((1, 2)), (seen * places[:, None]).sum((1, 2))
    angles = torch.rad2deg(torch.atan2(y, x))
    assert abs((angles > 0).double().mean() - 0.5) < 0.06
    assert 19.5 < angles.abs().min() < 21
    assert 39 < angles.abs().max() < 40.5
    assert abs(angles.abs().mean() - 30) < 1


def test_rotations_of_wide_images_keep_proportions():
    wide = torch.zeros(40, 1, 21, 61)
    wide[:, :, 8:13, 28:33] = 1.0
    samples = ArraySource(Spec((Modality("image", "image", (1, 21, 61)),)), Batch({"image": wide}))
    seen = both(samples, Rotation(), 1.0)[1].views["image"]
    assert torch.allclose(seen.sum((1, 2, 3)), torch.full((40,), 25.0), rtol=0.05)


def test_translations_are_whole_pixels_in_four_directions():
    points = torch.zeros(N, 1, 20, 30)
    points[:, :, 10, 15] = 1.0
    samples = ArraySource(Spec((Modality("image", "image", (1, 20, 30)),)), Batch({"image": points}))
    seen = both(samples, Translation(distance=0.2), 1.0)[1].views["image"][:, 0]
    places = seen.nonzero()
    assert len(places) == N
    moved = places[:, 1:] - torch.tensor([10, 15])
    assert (moved == 0).any(1).all()
    assert set(moved[:, 0].tolist()) == set(range(-4, 5))
    assert set(moved[:, 1].tolist()) == set(range(-6, 7))


def test_crops_are_windows_of_the_image():
    ramp = torch.arange(40.0).expand(200, 1, 40, 40) / 40
    samples = ArraySource(Spec((Modality("image", "image", (1, 40, 40)),)), Batch({"image": ramp.clone()}))
    seen = both(samples, Crop(side=0.5), 1.0)[1].views["image"][:, 0]
    steps = seen[:, :, 11:30].diff(dim=2)
    assert torch.allclose(steps, torch.full_like(steps, 0.5 / 40), atol=1e-6)
    starts = seen[:, 20, 0] * 40
    assert starts.min() < 2
    assert 18 < starts.max() < 21


@pytest.mark.parametrize("strength", STRENGTHS)
def test_dead_pixels_are_black_or_white_in_all_channels(strength):
    before, after = both(source(Modality("image", "image", (3, 10, 14), "uint8"), n=200), SaltAndPepper(), strength)
    dead = after.views["image"] != before.views["image"]
    assert torch.equal(dead[:, 0], dead[:, 1])
    assert set(after.views["image"][dead].tolist()) == {0, 255}
    assert abs(dead.double().mean() - strength) < 0.01
    assert abs((after.views["image"][dead] == 0).double().mean() - 0.5) < 0.02


def test_frames_of_videos_change_alike_and_have_dead_pixels_of_their_own():
    samples = source(Modality("clip", "video", (4, 3, 6, 8)), n=50)
    before, after = both(samples, Flip(), 1.0)
    assert torch.equal(after.views["clip"], before.views["clip"].flip(-1))
    before, after = both(samples, SaltAndPepper(), 0.5)
    dead = after.views["clip"] != before.views["clip"]
    assert not torch.equal(dead[:, 0], dead[:, 1])


def test_an_optical_flow_is_not_clamped():
    flow = source(Modality("flow", "image", (2, 6, 6)), n=100, low=-5, high=5)
    before, after = both(flow, GaussianNoise(), 0.5)
    noise = after.views["flow"] - before.views["flow"]
    assert abs(noise.std() - 0.5) < 0.02


TIME = (Modality("sound", "audio", (2, 300)), Modality("force", "series", (60, 3)), Modality("clip", "video", (30, 1, 2, 2)))
AXES = {"sound": 2, "force": 1, "clip": 1}


def lost_steps(batch, name):
    """Which steps hold zeros, (B, L)."""
    zero = batch.views[name] == 0
    return zero.movedim(AXES[name], 1).flatten(2).all(2)


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("corruption", [Dropout(), StructuredDropout(steps=7), TemporalDropout(), TemporalDropout(steps=4)])
def test_the_share_of_lost_steps_is_the_strength(corruption, strength):
    before, after = both(source(*TIME, n=600), corruption, strength)
    for name in AXES:
        lost = lost_steps(after, name)
        assert abs(lost.double().mean() - strength) < 0.04
        kept = ~lost.reshape(len(lost), *[1] * (AXES[name] - 1), -1, *[1] * (before.views[name].ndim - AXES[name] - 1))
        assert torch.equal(after.views[name] * kept, before.views[name] * kept)
        assert len(lost.unique(dim=0)) > 5


def test_stretches_have_their_length_and_begin_anywhere():
    _, after = both(source(*TIME), StructuredDropout(steps=7), 0.3)
    lost = lost_steps(after, "force")
    assert abs(lost.double().mean(0) - 0.3).max() < 0.06  # at every place
    runs = [run for row in lost for run in runs_of(row.tolist())]
    inner = [length for begin, length in runs if begin > 0 and begin + length < 60]
    assert {length % 7 for length in inner} == {0}


def runs_of(flags):
    """Begin and length of the runs of True."""
    edges = [place for place, (one, two) in enumerate(pairwise([False, *flags, False])) if one != two]
    return [(begin, end - begin) for begin, end in zip(edges[::2], edges[1::2], strict=True)]


def test_the_same_moments_are_lost_in_all_modalities():
    _, after = both(source(*TIME, n=200), TemporalDropout(steps=3), 0.5)
    clip = lost_steps(after, "clip")
    assert torch.equal(lost_steps(after, "force"), clip.repeat_interleave(2, 1))
    assert torch.equal(lost_steps(after, "sound"), clip.repeat_interleave(10, 1))
    _, apart = both(source(*TIME, n=200), Dropout(), 0.5)
    assert not torch.equal(lost_steps(apart, "force"), lost_steps(apart, "clip").repeat_interleave(2, 1))


def test_moments_are_those_of_the_modalities_that_are_named():
    named = TemporalDropout(modalities=("force",))
    _, after = both(source(*TIME, n=200), named, 0.5)
    alone = source(*[one for one in TIME if one.name == "force"], n=200)
    assert torch.equal(lost_steps(after, "force"), lost_steps(both(alone, named, 0.5)[1], "force"))
    assert not torch.equal(lost_steps(after, "force"), lost_steps(after, "force")[:, ::2].repeat_interleave(2, 1))
    assert not lost_steps(after, "clip").any()


def test_sensors_of_a_higher_frequency_lose_steps_at_a_higher_rate():
    for kind in (Dropout, StructuredDropout):
        _, after = both(source(*TIME, n=600), kind(rate=3.0), 0.2)
        assert abs(lost_steps(after, "force").double().mean() - 0.6) < 0.03
        assert lost_steps(both(source(*TIME, n=20), kind(rate=3.0), 0.5)[1], "force").all()


def test_elements_of_sets_are_taken_out():
    points = Modality("points", "set", (8, 2))
    lengths = {"points": torch.arange(N) % 9}
    before, after = both(source(points, lengths=lengths), Dropout(), 0.3)
    assert abs(after.lengths["points"].sum() / before.lengths["points"].sum() - 0.7) < 0.03
    for row in range(50):
        old = [tuple(point) for point in before.views["points"][row, : before.lengths["points"][row]].tolist()]
        new = [tuple(point) for point in after.views["points"][row, : after.lengths["points"][row]].tolist()]
        assert set(new) <= set(old)
    _, after = both(source(points), Dropout(), 0.3)
    assert abs((after.views["points"] == 0).all(2).double().mean() - 0.3) < 0.02


@pytest.mark.parametrize("strength", STRENGTHS)
def test_values_of_tables_are_dropped_and_swapped(strength):
    table = source(Modality("table", "tabular", (6,)))
    _, after = both(table, Dropout(), strength)
    assert abs((after.views["table"] == 0).double().mean() - strength) < 0.02
    before, after = both(table, ValueSwap(), strength)
    assert torch.equal(after.views["table"].sort(1).values, before.views["table"].sort(1).values)
    moved = (after.views["table"] != before.views["table"]).double().mean()
    assert abs(moved - (strength - strength * (1 - strength) ** 5)) < 0.02  # one that is hit alone stays


@pytest.mark.parametrize("strength", STRENGTHS)
def test_modalities_are_hit_together(strength):
    noisy = Correlated(corruptions=(GaussianNoise(),), severity=0.3)
    before, after = both(source(IMAGE, *TIME), noisy, strength)
    hit = {name: (after.views[name] != before.views[name]).flatten(1).any(1) for name in before.views}
    assert all(torch.equal(one, hit["image"]) for one in hit.values())
    assert abs(hit["image"].double().mean() - strength) < 0.05
    noise = (after.views["force"] - before.views["force"])[hit["force"]]
    assert abs(noise.std() - 0.3) < 0.02


def test_chains_and_mixtures_do_what_their_parts_do():
    samples = source(IMAGE, *TIME, n=400)
    before, after = both(samples, Chain(corruptions=(Inversion(), Flip(modalities=("image",)), Dropout())), 1.0)
    assert torch.equal(after.views["image"], (1 - before.views["image"].double()).float().flip(-1))
    assert not after.views["force"].any()
    before, after = both(samples, Mixture(corruptions=(Inversion(), Flip())), 1.0)
    negative = torch.isclose(after.views["image"], 1 - before.views["image"]).flatten(1).all(1)
    assert torch.equal(after.views["image"][~negative], before.views["image"][~negative].flip(-1))
    assert 150 < negative.sum() < 250
    assert Chain(corruptions=(Inversion(), Flip())).title == "chain of inversion, flip"


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(ConfigError, match="expected an amplitude above 0, got -1"):
        PeriodicNoise(amplitude=-1.0)
    with pytest.raises(ConfigError, match="two angles from 0 to 180 degrees in rising order"):
        Rotation(angles=(40, 20))
    with pytest.raises(ConfigError, match="at least one step, got 0"):
        TemporalDropout(steps=0)
    with pytest.raises(ConfigError, match="at least one of the corruptions"):
        Chain(corruptions=())
    with pytest.raises(ConfigError, match=r"chain: corruptions\[0\]: expected an instance of Corruption, got 'GaussianNoise'"):
        Chain(corruptions=("GaussianNoise",))
    with pytest.raises(
        ConfigError, match="chain: corruptions: expected a list of instances of Corruption, got an instance of Gau"
    ):
        Chain(corruptions=GaussianNoise())
    with pytest.raises(ConfigError, match=r"a whole number of steps, at least one step, got 2\.5"):
        StructuredDropout(steps=2.5)
    with pytest.raises(ConfigError, match="a finite rate above 0, got inf"):
        StructuredDropout(rate=float("inf"))
    with pytest.raises(ConfigError, match=r"two angles from 0 to 180 degrees in rising order, got \(1, 2, 3\)"):
        Rotation(angles=(1, 2, 3))
    with pytest.raises(ConfigError, match=r"gaussian-noise: modalities: expected several names, got the text 's': write \['s'\]"):
        GaussianNoise(modalities="s")
    with pytest.raises(ConfigError, match=r"expected a strength from 0 to 1, got '0\.5'"):
        Corrupted(source(Modality("image", "image", (1, 4, 4)), n=3), GaussianNoise(), "0.5", seed=1)
    grey = source(Modality("image", "image", (1, 4, 4)), n=3)
    with pytest.raises(ConfigError, match="grayscale: expected a modality of kind image or video that fits"):
        Corrupted(grey, Grayscale(), 0.5, seed=1)
    with pytest.raises(ConfigError, match="no modality 'imgae'"):
        Corrupted(grey, Chain(corruptions=(Flip(modalities=("imgae",)), GaussianNoise())), 0.5, seed=1)
