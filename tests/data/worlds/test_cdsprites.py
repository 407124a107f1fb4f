import hashlib
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from molyneux.core import ConfigError, DataError, Spec
from molyneux.core.views import text_strings
from molyneux.data.worlds import CdSprites, Noise

LEVELS = (1, 2, 3, 4, 5)
WORLDS = {level: CdSprites(level=level) for level in LEVELS}
HELD_OUT = [{"shape": "heart", "colour": ["red", "pink"]}, {"size": "small", "colour": "blue", "position": "at top left"}]


def same(one, other):
    views = all(torch.equal(one.views[name], other.views[name]) for name in one.views)
    return views and torch.equal(one.factors, other.factors)


def column(world, batch, name):
    return batch.factors[:, world.spec.factor_index(name)].numpy()


@pytest.mark.parametrize("level", LEVELS)
def test_batches_fit_the_spec(level):
    world = WORLDS[level]
    source = world.source("test", 10, seed=1)
    batch = source.batch(np.array([7, 0, 7])).check(source.spec)
    assert len(source) == 10
    assert batch.factors.dtype == torch.int64
    assert Spec.from_json(world.spec.to_json()) == world.spec
    assert world.name == "cdsprites-v1"
    limits = torch.tensor([len(factor.values) for factor in world.spec.factors])
    assert ((batch.factors >= 0) & (batch.factors < limits)).all()
    assert torch.equal(batch.views["image"][0], batch.views["image"][2])


@settings(max_examples=20, deadline=None)
@given(indices=st.lists(st.integers(0, 2**40), min_size=1, max_size=8), level=st.sampled_from(LEVELS))
def test_a_sample_does_not_depend_on_its_neighbours(indices, level):
    world = WORLDS[level]
    together = world.batch(np.array(indices), split="train", seed=3)
    for row, index in enumerate(indices):
        assert same(together[row : row + 1], world.batch(np.array([index]), split="train", seed=3))


def test_slices_orders_and_threads_give_the_same_bytes():
    world, order = WORLDS[5], np.random.default_rng(0).permutation(300)
    whole = world.batch(np.arange(300), split="train", seed=3)
    assert same(whole[torch.from_numpy(order)], world.batch(order, split="train", seed=3))
    assert same(whole, CdSprites(level=5, threads=2).batch(np.arange(300), split="train", seed=3))


def test_seeds_and_splits_differ():
    draws = {
        (split, seed): WORLDS[5].batch(np.arange(200), split=split, seed=seed).views["image"]
        for split in ("train", "validation", "test")
        for seed in (1, 2)
    }
    keys = list(draws)
    for i, one in enumerate(keys):
        for other in keys[i + 1 :]:
            assert (draws[one] != draws[other]).flatten(1).any(1).all()


def test_settings_that_only_change_looks_keep_the_scenes():
    plain = WORLDS[5].scenes(np.arange(500), split="train", seed=1)
    for other in (
        CdSprites(level=5, image_size=48),
        CdSprites(level=5, anti_alias=True),
        CdSprites(level=5, dark_background="published"),
        CdSprites(level=5, textures=None),
        CdSprites(level=5, noise=Noise(shade=20, size=0.1, background=9)),
    ):
        assert np.array_equal(other.scenes(np.arange(500), split="train", seed=1).factors, plain.factors)


@pytest.mark.parametrize("level", LEVELS)
def test_marginals_are_uniform(level):
    world = WORLDS[level]
    scenes = world.scenes(np.arange(100_000), split="train", seed=2)
    drawn = len(world.caption_factors)
    combinations = world.combinations("train").numbers(scenes.factors[:, :drawn])
    assert chisquare(np.bincount(combinations)).pvalue > 1e-4
    assert chisquare(np.bincount(scenes.factors[:, drawn], minlength=40)).pvalue > 1e-4
    for name in ("x", "y"):
        index = scenes.factors[:, world.spec.factor_index(name)]
        if level < 4:
            assert chisquare(np.bincount(index, minlength=30)[5:]).pvalue > 1e-4
        else:
            position = scenes.factors[:, world.spec.factor_index("position")]
            low = position % 2 == 0 if name == "x" else position < 2
            assert set(index[low]) == {1, 2, 3, 5, 6, 7, 8, 9}
            assert set(index[~low]) == set(range(26, 32))
            assert chisquare(np.unique(index[low], return_counts=True)[1]).pvalue > 1e-4


def test_nuisances_are_independent_of_the_caption():
    scenes = WORLDS[5].scenes(np.arange(100_000), split="train", seed=2)
    table = np.zeros((3, 40))
    np.add.at(table, (scenes.factors[:, 2], scenes.factors[:, 5]), 1)
    expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
    statistic = ((table - expected) ** 2 / expected).sum()
    assert statistic < 78 + 5 * np.sqrt(2 * 78)


def test_held_out_combinations_never_leak():
    world = CdSprites(level=5, held_out=HELD_OUT)
    kept = world.combinations("heldout")
    assert len(kept) == 2 * 2 * 4 * 2 + 3 * 2
    for split in ("train", "validation", "test"):
        factors = world.scenes(np.arange(100_000), split=split, seed=1).factors[:, :5]
        assert not kept.contains(factors).any()
        assert len(np.unique(world.combinations(split).numbers(factors))) == 240 - 38
    factors = world.scenes(np.arange(10_000), split="heldout", seed=1).factors[:, :5]
    assert kept.contains(factors).all()
    assert len(np.unique(kept.numbers(factors), axis=0)) == 38
    captions = text_strings(world.spec.modality("text"), world.batch(np.arange(2000), split="train", seed=1).views["text"])
    assert not any("red heart" in caption or "pink heart" in caption for caption in captions)


def test_an_empty_split_and_negative_numbers_are_refused():
    with pytest.raises(ConfigError, match="name combinations in held_out"):
        WORLDS[1].source("heldout", 5, seed=1).batch(np.arange(2))
    with pytest.raises(DataError, match="from 0, got -1"):
        WORLDS[1].batch(np.array([-1]), split="train", seed=1)


@pytest.mark.parametrize("level", LEVELS)
def test_pictures_agree_with_their_factors(level):
    """Measured in the picture itself: place, size, colour, background."""
    world = WORLDS[level]
    batch = world.batch(np.arange(400), split="train", seed=5)
    scenes = world.scenes(np.arange(400), split="train", seed=5)
    image = batch.views["image"].numpy().astype(int)
    rows, columns = np.mgrid[0:64, 0:64] + 0.5
    flat = CdSprites(level=level, textures=None).batch(np.arange(400), split="train", seed=5).views["image"].numpy().astype(int)
    ground = flat[:, :, :1, :1]
    mask = (np.abs(flat - ground) > 0).any(1)
    centre = np.stack([(mask * axis).sum((1, 2)) / mask.sum((1, 2)) for axis in (columns, rows)], 1)
    assert centre == pytest.approx(scenes.figures.centre * 64, abs=0.7)
    if level >= 2:
        big = column(world, batch, "size") == 1
        assert mask.sum((1, 2))[big].min() > 1.5 * mask.sum((1, 2))[~big].max()
    if level >= 3:
        rgb = np.array([[255, 85, 0], [255, 243, 124], [24, 255, 143], [0, 162, 255], [255, 0, 255]])
        if level < 5:
            brightest = np.where(mask[:, None], image, 0).max((2, 3))
            assert np.array_equal(brightest, rgb[column(world, batch, "colour")])
    if level >= 4:
        left, top = centre[:, 0] < 32, centre[:, 1] < 32
        position = column(world, batch, "position")
        assert np.array_equal(left, position % 2 == 0)
        assert np.array_equal(top, position < 2)
    if level == 5:
        outside = np.where(mask[:, None], -1, image).max((1, 2, 3))
        dark = column(world, batch, "background") == 1
        assert outside[dark].max() <= 55
        assert outside[~dark].min() >= 180
    else:
        assert image[np.broadcast_to(~mask[:, None], image.shape)].max() == 0


def test_published_dark_background():
    world = CdSprites(level=5, dark_background="published")
    batch = world.batch(np.arange(200), split="train", seed=5)
    dark = column(world, batch, "background") == 1
    red = column(world, batch, "colour") == 0
    values = batch.views["image"][torch.from_numpy(dark & red)][:, 0].flatten().numpy()
    assert 0.4 < (values == 56).mean() < 0.95


def test_imbalanced_levels():
    """A picture of level 2 with captions of level 4, and the other way round."""
    less = CdSprites(level=2, caption_level=4)
    assert less.caption_factors == ("size", "colour", "shape", "position")
    assert less.picture_factors == ("size", "shape")
    assert [factor.name for factor in less.spec.factors][:4] == ["size", "colour", "shape", "position"]
    image = less.batch(np.arange(50), split="train", seed=1).views["image"]
    assert set(torch.unique(image).tolist()) == {0, 255}
    more = CdSprites(level=4, caption_level=1)
    batch = more.batch(np.arange(50), split="train", seed=1)
    assert more.caption_factors == ("shape",)
    assert more.spec.modality("text").shape == (7,)
    reading = more.readers()["text"].read(batch.views["text"])
    assert np.array_equal(reading.codes[:, 0].numpy(), column(more, batch, "shape"))


def test_own_attributes():
    world = CdSprites(
        level=3, colours={"teal": (0, 128, 128)}, sizes={"tiny": 0.4, "huge": 1.2}, shapes={"ball": "circle", "heart": "heart"}
    )
    batch = world.batch(np.arange(60), split="train", seed=1)
    captions = set(text_strings(world.spec.modality("text"), batch.views["text"]))
    assert captions == {"tiny teal ball", "tiny teal heart", "huge teal ball", "huge teal heart"}
    assert batch.views["image"][:, 0].max() == 0
    assert batch.views["image"][:, 1].amax((1, 2)).eq(255).all()
    assert WORLDS[3].spec.factor("colour").values == ("red", "yellow", "green", "blue", "pink")
    assert CdSprites(level=3, colours=("blue", "red")).spec.factor("colour").values == ("blue", "red")


def test_noise_changes_what_it_names():
    def figures(**noise):
        return CdSprites(level=4, noise=Noise(**noise)).scenes(np.arange(1000), split="train", seed=1).figures

    plain = figures()
    assert set(np.round(figures(rotation=10.0).rotation % (2 * np.pi), 3)) == set(
        np.round([0, 2 * np.pi / 39, 2 * np.pi * 38 / 39], 3)
    )
    wide = figures(size=0.2).size / plain.size
    assert 0.8 <= wide.min() < 0.82
    assert 1.18 < wide.max() <= 1.2
    assert len(np.unique(figures(position=0.0).centre, axis=0)) == 4
    quiet, shaded = CdSprites(level=3, textures=None), CdSprites(level=3, textures=None, noise=Noise(shade=30))
    one, other = (w.batch(np.arange(100), split="train", seed=1).views["image"] for w in (quiet, shaded))
    assert len(torch.unique(one.amax((2, 3)), dim=0)) == 5
    assert len(torch.unique(other.amax((2, 3)), dim=0)) > 90
    # a channel moves by 30, and again when the brightest one is brought back to 255
    assert (one.amax((2, 3)).int() - other.amax((2, 3)).int()).abs().max() <= 30 + 255 * 30 / 225
    grainy = CdSprites(level=1, noise=Noise(background=30.0)).batch(np.arange(20), split="train", seed=1).views["image"]
    assert 0 < grainy[grainy < 255].max() <= 30


@pytest.mark.parametrize("side", [28, 63, 128])
def test_other_picture_sizes(side):
    """The same scene, only finer: areas grow with the square of the side."""
    world = CdSprites(level=2, image_size=side)
    image = world.batch(np.arange(300), split="train", seed=1).views["image"]
    base = WORLDS[2].batch(np.arange(300), split="train", seed=1).views["image"]
    assert image.shape == (300, 3, side, side)
    assert (image[:, 0] > 0).float().mean() == pytest.approx(float((base[:, 0] > 0).float().mean()), rel=0.02)


def test_chosen_modalities():
    world = CdSprites(level=2, modalities=("text",))
    assert world.batch(np.arange(3), split="train", seed=1).views.keys() == {"text"}
    assert CdSprites(level=2, modalities=("image",)).readers().keys() == {"image"}
    assert CdSprites(level=5, modalities=("image",)).readers().keys() == {"image"}
    assert CdSprites(level=2, modalities=("touch",)).readers() == {}


def test_textures_from_a_folder(tmp_path):
    from PIL import Image

    Image.fromarray(np.tile(np.linspace(0, 255, 64).astype(np.uint8), (64, 1))).save(tmp_path / "ramp.png")
    world = CdSprites(level=5, textures=str(tmp_path))
    batch = world.batch(np.arange(100), split="train", seed=1)
    light = torch.from_numpy(column(world, batch, "background") == 0)
    corner = batch.views["image"][light][:, :, 0]
    assert (corner[:, 0].int().diff(dim=1) >= 0).all()
    assert world.settings["textures"] != str(tmp_path)


def test_a_world_can_be_sent_to_another_process():
    world = pickle.loads(pickle.dumps(WORLDS[5]))
    assert len(pickle.dumps(WORLDS[5])) < 200_000
    assert same(world.batch(np.arange(5), split="test", seed=1), WORLDS[5].batch(np.arange(5), split="test", seed=1))


def test_the_first_bytes_of_version_one():
    """A change that changes bytes is a new version. These were written when the version was."""
    batch = WORLDS[5].batch(np.arange(64), split="train", seed=1)
    digest = hashlib.blake2b(batch.views["image"].numpy().tobytes() + batch.views["text"].numpy().tobytes(), digest_size=8)
    assert digest.hexdigest() == "365743371b5d3faa"
