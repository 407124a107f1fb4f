import hashlib
import json
from itertools import product

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw
from scipy.ndimage import distance_transform_edt
from scipy.stats import chisquare

from molyneux.core import ConfigError, DataError
from molyneux.data import GeBiD, GeBiDNoise, store_samples

COLOURS = {
    "yellow": (255, 255, 0),
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "grey": (128, 128, 128),
    "brown": (105, 0, 0),
    "purple": (215, 0, 215),
    "teal": (0, 175, 175),
    "navy": (0, 0, 150),
    "orange": (255, 140, 0),
    "beige": (232, 211, 185),
    "pink": (255, 182, 193),
}
CENTRED = {
    "line": ((23, 22), (18, 18)),
    "circle": ((23, 23), (17, 19)),
    "square": ((23, 23), (17, 17)),
    "semicircle": ((25, 24), (20, 17)),
    "pieslice": ((23, 23), (16, 16)),
    "spiral": ((32, 32), (32, 32)),
}
AGREEMENT = {"line": 0.94, "circle": 0.98, "square": 1.0, "semicircle": 0.98, "pieslice": 0.92, "spiral": 0.65}
"""Least intersection over union with Pillow's drawing; the spiral's strokes are one pixel wide."""

POSITIONS = {"left": 5, "right": 30, "top": 5, "bottom": 30}


def by_pillow(shape, corner, large):
    """The published drawing commands, (64, 64) bool."""
    x, y = corner
    length = 30 if large else 16
    picture = Image.new("L", (64, 64))
    pen = ImageDraw.Draw(picture)
    box = (x, y, x + length, y + length)
    if shape == "line":
        pen.line(box, fill=255, width=length // 2)
    elif shape == "circle":
        pen.ellipse(box, fill=255)
    elif shape == "square":
        pen.rectangle(box, fill=255)
    elif shape == "semicircle":
        pen.chord(box, 50, 270, fill=255)
    elif shape == "pieslice":
        pen.pieslice((x, y, x + 2 * length, y + 2 * length), 200, 250, fill=255)
    else:
        growth = 0.6 if large else 0.3
        angle = np.append(np.arange(0, 10 * np.pi, 0.5), 10 * np.pi)
        radius = growth + growth * angle
        points = np.stack([x + radius * np.cos(angle), y + radius * np.sin(angle)], 1)
        pen.line([tuple(point) for point in points.tolist()], fill=255)
    return np.asarray(picture) > 0


def made(world, count, *, split="train", seed=1, start=0):
    return world.batch(np.arange(start, start + count), split=split, seed=seed)


def named(world, batch):
    """The words of every sample's factors, one dictionary a sample."""
    factors = world.spec.factors
    return [
        {factor.name: factor.values[code] for factor, code in zip(factors, row, strict=True)} for row in batch.factors.tolist()
    ]


def strings(batch):
    return ["".join(" abcdefghijklmnopqrstuvwxyz"[i] for i in row).rstrip() for row in batch.views["text"].tolist()]


def colours_of(picture):
    """The set of RGB triples in pictures (..., 3)."""
    packed = np.unique(picture.reshape(-1, 3) @ np.array([65536, 256, 1]))
    return {(number >> 16, number >> 8 & 255, number & 255) for number in packed.tolist()}


def pixels(batch):
    return batch.views["image"].permute(0, 2, 3, 1).numpy()


@pytest.mark.parametrize(
    ("level", "captions", "longest", "vocabulary", "words"),
    [(1, 6, 10, 6, 1), (2, 12, 16, 8, 2), (3, 144, 23, 20, 3), (4, 288, 32, 23, 5), (5, 1152, 52, 29, 9)],
)
def test_published_counts(level, captions, longest, vocabulary, words):
    world = GeBiD(level=level)
    known = world.grammar.captions
    assert len(set(known)) == captions
    assert max(map(len, known)) == longest == world.spec.modality("text").shape[0]
    assert len({word for caption in known for word in caption.split()}) == vocabulary
    assert {len(caption.split()) for caption in known} == {words}
    assert "".join(world.spec.modality("text").symbols) == " abcdefghijklmnopqrstuvwxyz"
    assert set(strings(made(world, 8000))) <= set(known)


def test_the_longest_caption():
    longest = [caption for caption in GeBiD(level=5).grammar.captions if len(caption) == 52]
    assert "small yellow semicircle at the bottom right on white" in longest


@pytest.mark.parametrize("level", [2, 5])
def test_shapes_are_where_and_what_pillow_draws(level):
    world = GeBiD(level=level)
    batch = made(world, 600)
    ground = [255 * (words.get("background", "on white") == "on white") for words in named(world, batch)]
    drawn = (pixels(batch) != np.array(ground)[:, None, None, None]).any(-1)
    agreements = {}
    for words, mask in zip(named(world, batch), drawn, strict=True):
        shape, large = words["shape"], words["size"] == "large"
        if level == 5:
            _, _, vertical, horizontal = words["position"].split()
            corner = POSITIONS[horizontal] + int(words["x"]), POSITIONS[vertical] + int(words["y"])
        else:
            corner = np.add(CENTRED[shape][large], (int(words["x"]), int(words["y"])))
        expected = by_pillow(shape, corner, large)
        agreements.setdefault((shape, large), []).append((mask & expected).sum() / (mask | expected).sum())
        farthest = 1.5 if level == 2 else 2.3  # Pillow cuts negative coordinates towards zero: spirals shift at the border
        assert distance_transform_edt(~expected)[mask].max(initial=0) <= farthest
        assert distance_transform_edt(~mask)[expected].max(initial=0) <= farthest
    assert set(agreements) == set(product(CENTRED, (False, True)))
    for (shape, _), found in agreements.items():
        assert np.mean(found) > AGREEMENT[shape] - 0.005, shape


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_pictures_have_two_colours_and_show_their_level(level):
    world = GeBiD(level=level)
    batch = made(world, 200)
    for words, picture in zip(named(world, batch), pixels(batch), strict=True):
        ink = COLOURS[words["colour"]] if level >= 3 else (0, 0, 0)
        ground = (0, 0, 0) if words.get("background") == "on black" else (255, 255, 255)
        assert colours_of(picture) == {ink, ground}
    shown = ("shape", "size", "colour", "background", "position")[:level]
    assert set(world.picture_factors) == set(world.caption_factors) == set(shown)
    assert {factor.name for factor in world.spec.factors} == {*shown, "x", "y"}


def test_below_level_five_shapes_stay_near_the_middle():
    world = GeBiD(level=1)
    batch = made(world, 2000)
    x, y = batch.factors[:, -2], batch.factors[:, -1]
    spiral = batch.factors[:, 0] == world.spec.factors[0].code("spiral")
    assert set(x[~spiral].tolist()) == set(y[~spiral].tolist()) == set(range(7))
    assert set(x[spiral].tolist()) == set(y[spiral].tolist()) == {3}
    assert world.spec.factor("x").values == ("-3", "-2", "-1", "0", "1", "2", "3")
    centres = world.scenes(np.arange(2000), split="train", seed=1).figures.centre
    assert np.abs(centres - 0.5).max() < 7 / 64


def test_same_seed_same_bytes():
    world = GeBiD(level=5, modalities=("image", "text", "touch"), noise=GeBiDNoise(True, 20.0, 0.1, 0.5, 10.0))
    whole = made(world, 300)
    rows = np.random.default_rng(0).permutation(300)
    shuffled = world.batch(rows, split="train", seed=1)
    threaded = GeBiD(
        level=5, modalities=("image", "text", "touch"), noise=GeBiDNoise(True, 20.0, 0.1, 0.5, 10.0), threads=3
    ).batch(rows, split="train", seed=1)
    for name in whole.views:
        assert torch.equal(shuffled.views[name], whole.views[name][torch.from_numpy(rows)])
        assert torch.equal(shuffled.views[name], threaded.views[name])
    for other in (made(world, 300, seed=2), made(world, 300, split="test")):
        assert (other.factors != whole.factors).any(1).float().mean() > 0.9
    far = world.batch(np.array([10**12]), split="train", seed=1)
    assert torch.equal(far.views["image"], world.batch(np.array([5, 10**12]), split="train", seed=1).views["image"][1:])


def test_version_one_keeps_its_bytes():
    """A change of these bytes is a new version of the world."""
    world = GeBiD(level=5)
    batch = made(world, 64, seed=0)
    digest = hashlib.sha256(batch.views["text"].numpy().tobytes() + batch.factors.numpy().tobytes()).hexdigest()
    assert digest[:16] == "c8e5f452a6b35d1a"
    assert batch.views["image"].float().mean().item() == pytest.approx(116.6604, abs=0.01)


def test_threads_give_the_same_bytes(tmp_path):
    source = GeBiD(level=4).source("train", 150, seed=3)
    for threads in (1, 2):
        store_samples(source, tmp_path / str(threads), chunk=40, threads=threads)
    for name in ("view.image.npy", "view.text.npy", "factors.npy", "stage.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_every_combination_is_equally_likely():
    world = GeBiD(level=5)
    factors = world.scenes(np.arange(100_000), split="train", seed=0).factors
    numbers = world.combinations("train").numbers(factors[:, :5])
    assert chisquare(np.bincount(numbers, minlength=1152)).pvalue > 1e-4
    for column in (5, 6):
        assert chisquare(np.bincount(factors[:, column], minlength=6)).pvalue > 1e-4


def test_restricted_is_the_published_table():
    world = GeBiD(level=3, held_out="restricted")
    pairs = {(words["shape"], words["colour"]) for words in named(world, made(world, 3000))}
    table = "line yellow red green circle blue grey brown square purple teal navy semicircle orange beige pink"
    table = (table + " pieslice teal green navy spiral yellow orange brown").split()
    expected = {(table[at], colour) for at in range(0, 24, 4) for colour in table[at + 1 : at + 4]}
    assert len(expected) == 18
    assert pairs == expected
    held = {(words["shape"], words["colour"]) for words in named(world, made(world, 5000, split="heldout"))}
    assert len(held) == 54
    assert not held & expected


def test_held_out_never_occurs_in_training_and_always_in_its_split():
    world = GeBiD(level=5, held_out=[{"shape": "circle", "colour": ["red", "blue"]}, {"size": "small", "background": "on black"}])

    def held(split):
        factors = world.scenes(np.arange(100_000), split=split, seed=4).factors
        codes = {name: factors[:, world.spec.factor_index(name)] for name in ("shape", "colour", "size", "background")}
        circle = (codes["shape"] == 1) & np.isin(codes["colour"], (1, 3))
        return circle | ((codes["size"] == 0) & (codes["background"] == 1))

    assert not held("train").any()
    assert not held("test").any()
    assert held("heldout").all()


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_captions_say_the_factors_and_are_read_exactly(level):
    world = GeBiD(level=level)
    batch = made(world, 500)
    order = [name for name in ("size", "colour", "shape", "position", "background") if name in world.caption_factors]
    for words, caption in zip(named(world, batch), strings(batch), strict=True):
        assert caption == " ".join(words[name] for name in order)
    reading = world.readers()["text"].read(batch.views["text"])
    columns = [world.spec.factor_index(name) for name in reading.factors]
    assert torch.equal(reading.codes, batch.factors[:, columns])
    assert not reading.reasons


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_every_wrong_letter_of_a_caption_is_noticed(level):
    world = GeBiD(level=level)
    ids, codes = world.grammar.ids[:: level**2], world.grammar.combinations.codes[:: level**2]
    count, length = ids.shape
    wrong = np.repeat(ids, length * 26, 0).reshape(count, length, 26, length)
    for place in range(length):
        wrong[:, place, :, place] = (ids[:, place, None] + np.arange(1, 27)) % 27
    reading = world.readers()["text"].read(torch.from_numpy(wrong.reshape(-1, length)))
    assert (reading.codes.numpy() != np.repeat(codes, length * 26, 0)).any(1).all()


def test_imbalanced_levels():
    world = GeBiD(level=2, caption_level=4)
    batch = made(world, 800)
    assert world.picture_factors == ("size", "shape")
    assert world.caption_factors == ("size", "colour", "shape", "background")
    assert set(np.unique(pixels(batch))) == {0, 255}
    assert len(set(strings(batch))) > 250
    plain = GeBiD(level=4, caption_level=1)
    assert set(strings(made(plain, 300))) == set(CENTRED)
    assert colours_of(pixels(made(plain, 300))) == {*COLOURS.values(), (0, 0, 0), (255, 255, 255)}


def test_noise_of_colour_is_the_published_one():
    world = GeBiD(level=3, noise=GeBiDNoise(colour=True))
    batch = made(world, 3000)
    found = {}
    for words, picture in zip(named(world, batch), pixels(batch), strict=True):
        inked = picture[(picture != 255).any(-1)]
        assert (inked == inked[0]).all()
        found.setdefault(words["colour"], []).append(inked[0])
    for name, published in COLOURS.items():
        drawn = np.array(found[name], dtype=int)
        for channel, value in enumerate(published):
            low, high = (195, 255) if value == 255 else (0, 60) if value == 0 else (value - 30, min(value + 29, 255))
            assert low <= drawn[:, channel].min() <= low + 2
            assert high - 2 <= drawn[:, channel].max() <= high


def test_other_noise():
    plain = GeBiD(level=5)
    still = plain.scenes(np.arange(500), split="train", seed=1)
    noisy = GeBiD(level=5, noise=GeBiDNoise(rotation=30.0, size=0.2, background=20.0)).scenes(
        np.arange(500), split="train", seed=1
    )
    np.testing.assert_array_equal(still.factors, noisy.factors)
    np.testing.assert_array_equal(still.figures.centre, noisy.figures.centre)
    assert 28 < np.degrees(np.abs(noisy.figures.rotation)).max() <= 30
    ratio = noisy.figures.size / still.figures.size
    assert 0.8 <= ratio.min() < 0.81
    assert 1.19 < ratio.max() <= 1.2
    assert (still.figures.rotation == 0).all()
    middle = GeBiD(level=5, noise=GeBiDNoise(position=0.0)).scenes(np.arange(500), split="train", seed=1)
    assert set(middle.factors[:, -2:].ravel().tolist()) == {2}
    grainy = pixels(made(GeBiD(level=4, noise=GeBiDNoise(background=20.0)), 50))
    corner = grainy[:, :8, :8]
    assert (corner == corner[..., :1]).all()
    assert set(np.unique(corner)) <= {*range(21), *range(235, 256)}
    assert len(np.unique(corner)) > 30


def test_custom_attributes():
    world = GeBiD(
        level=3, colours={"sky": (1, 2, 3)}, shapes={"disc": "circle", "box": "square"}, sizes={"tiny": 10, "middle": 23}
    )
    assert set(strings(made(world, 100))) == {f"{size} sky {shape}" for size in ("tiny", "middle") for shape in ("disc", "box")}
    batch = made(world, 100)
    sides = {
        words["size"]: int((picture != 255).any(-1).any(0).sum())
        for words, picture in zip(named(world, batch), pixels(batch), strict=True)
        if words["shape"] == "box"
    }
    assert sides == {"tiny": 11, "middle": 24}


@pytest.mark.parametrize("size", [28, 128])
def test_image_size(size):
    small, large = (pixels(made(GeBiD(level=2, image_size=side), 200)) == 0 for side in (64, size))
    share = small[..., 0].mean((1, 2)) / large[..., 0].mean((1, 2))
    assert np.median(np.abs(share - 1)) < 0.05


def test_anti_aliasing_smooths_borders_only():
    sharp, smooth = (pixels(made(GeBiD(level=2, anti_alias=flag), 100)).astype(int) for flag in (False, True))
    assert len(np.unique(smooth)) > 100
    assert (np.abs(sharp - smooth) > 128).sum() == 0


def test_settings_that_cannot_be_used():
    with pytest.raises(ConfigError) as caught:
        GeBiD(
            level=6,
            image_size=8,
            colours=["rde"],
            noise=GeBiDNoise(size=2.0),
            threads=0,
            modalities=("image", "smell"),
            touch_noise=-1.0,
        )
    text = "\n".join(caught.value.problems)
    for part in (
        "expected level from 1 to 5, got 6",
        "image_size from 28 to 256 pixels, got 8",
        "unknown 'rde'; did you mean \"red\"?",
        "noise.size from 0 to 0.5",
        "threads of at least 1",
        "unknown modality 'smell'",
        "touch_noise of at least 0",
    ):
        assert part in text
    for held_out, sentence in (
        ([{"shape": "cirle"}], 'did you mean "circle"'),
        ([{"size": ["small", "large"]}], "takes all 1152 combinations"),
        ("restrcted", 'did you mean "restricted"'),
    ):
        with pytest.raises(ConfigError, match=sentence):
            GeBiD(held_out=held_out)
    with pytest.raises(ConfigError, match="cannot use 5 for 'sky'; expected three whole numbers from 0 to 255"):
        GeBiD(colours={"sky": 5})
    with pytest.raises(ConfigError, match="use level 3 or above"):
        GeBiD(level=2, held_out="restricted")
    with pytest.raises(ConfigError, match="holds no combination out"):
        made(GeBiD(), 3, split="heldout")
    with pytest.raises(DataError, match="expected numbers from 0"):
        GeBiD().batch(np.array([-1]), split="train", seed=0)


def test_settings_are_plain_and_decide_the_bytes():
    for settings in ({}, {"held_out": "restricted"}, {"held_out": [{"shape": ("circle", "line")}]}, {"noise": GeBiDNoise(True)}):
        record = json.loads(json.dumps(GeBiD(**settings).settings))
        assert record == GeBiD(**settings).settings
        assert settings == {} or record != GeBiD().settings
