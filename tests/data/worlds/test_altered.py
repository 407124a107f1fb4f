"""Altered scenes, from which judges learn what cannot be read, and their labels."""

import numpy as np
import pytest
import torch

from molyneux.core import UNREADABLE, seeds
from molyneux.data import CdSprites, GeBiD
from molyneux.data.worlds import foreign_shapes
from molyneux.data.worlds.altered_colours import CANDIDATES, foreign_colours, known_colours
from molyneux.data.worlds.altered_pictures import CHANGES, AlteredPictures


def altered(world, modality="image", size=300):
    return world.judge_material(modality, "train", size, seed=3).altered


def codes(source, batch, name):
    """Codes of a factor, and which of them mean unreadable."""
    column = source.spec.factor_index(name)
    return batch.factors[:, column], batch.factors[:, column] == len(source.spec.factors[column].values) - 1


@pytest.mark.parametrize("world", [CdSprites(level=5), GeBiD(level=5)], ids=lambda world: world.name)
@pytest.mark.parametrize("modality", ["image", "touch"])
def test_a_sample_is_a_function_of_its_number(world, modality):
    world = type(world)(level=5, modalities=(modality,))
    source = altered(world, modality)
    assert [factor.name for factor in source.spec.factors] == list(world.visible(modality))
    assert all(factor.values[-1] == UNREADABLE for factor in source.spec.factors)
    batch, part = source.batch(np.arange(120)).check(source.spec), source.batch(np.arange(119, 59, -1))
    assert torch.equal(batch.views[modality][60:].flip(0), part.views[modality])
    assert torch.equal(batch.factors[60:].flip(0), part.factors)
    _, unreadable = codes(source, batch, "shape")
    low, high = (0.75, 0.95) if modality == "touch" else (0.3, 0.9)
    assert low < unreadable.double().mean() <= high


def test_readable_factors_keep_the_codes_of_their_scenes():
    world = CdSprites(level=4, modalities=("image",))
    source = altered(world)
    batch, scenes = source.batch(np.arange(300)), world.scenes(np.arange(300), split="train", seed=3)
    for name in ("size", "colour", "shape", "position"):
        found, unreadable = codes(source, batch, name)
        readable = (found >= 0) & ~unreadable
        truth = torch.from_numpy(scenes.factors[:, world.spec.factor_index(name)])
        assert readable.sum() > 30
        assert torch.equal(found[readable], truth[readable])


def kinds(source, count):
    drawn = seeds.uniforms(source._key, np.arange(count), 1)[:, 0]
    shares = np.array([change.share for change in CHANGES.values()])
    return (drawn[:, None] * shares.sum() >= shares.cumsum()[:-1]).sum(1)


def test_what_each_kind_looks_like():
    """On black ground, in flat colour or grey texture, by what is lit."""
    world = CdSprites(level=2, modalities=("image",))
    source = AlteredPictures(world, "train", 600, seed=3)
    batch, kind = source.batch(np.arange(600)), kinds(source, 600)
    lit = batch.views["image"].float().amax(1) / 255
    true = world.source("train", 600, seed=3).batch(np.arange(600)).views["image"].amax(1) > 0
    area, own = lit.sum((1, 2)), true.sum((1, 2))
    ratio = {name: (area / own)[kind == number] for number, name in enumerate(CHANGES)}
    assert (ratio["plain"] - 1).abs().max() < 0.01
    assert ratio["cut"].max() < 0.99
    assert (ratio["resized"].log().abs() > 2 * np.log(1.12)).all()
    assert ratio["faded"].max() < 0.13
    assert (ratio["filled"] > 5).all()
    plain = torch.from_numpy(kind == list(CHANGES).index("plain"))
    assert torch.equal(batch.views["image"][plain].amax(1) > 0, true[plain])


@pytest.mark.parametrize("rounded", [True, False])
def test_outlines_have_their_area(rounded):
    numbers = np.random.default_rng(0).random((200, foreign_shapes.NUMBERS))
    radii = foreign_shapes.outlines(numbers, rounded=rounded)
    found = foreign_shapes.inside(radii, np.full((200, 2), 40.0), np.full(200, 600.0), 80)
    assert np.allclose(found.sum((1, 2)), 600, rtol=0.05)
    if not rounded:  # nothing is nearly a disc
        assert (radii.max(1) / radii.min(1) > 1.2).all()


def test_points_along_an_outline_are_equally_spaced():
    circle = np.ones((1, foreign_shapes.DIRECTIONS))
    points = foreign_shapes.along(circle, np.array([0.25]), 64)[0]
    expected = 2 * np.pi * (0.25 + np.arange(64) / 64)
    np.testing.assert_allclose(points, np.stack([np.cos(expected), np.sin(expected)], 1), atol=2e-3)


@pytest.mark.parametrize("world", [CdSprites, GeBiD], ids=lambda world: world.name)
def test_displaced_figures_lie_between_the_positions_of_the_world(world):
    """At least 2 pixels from every centre that the same figure has in true views."""
    made = world(level=5, modalities=("image",))
    source = AlteredPictures(made, "train", 200, seed=3)
    scenes = made.scenes(np.arange(2000), split="train", seed=3)
    moved = source._between_positions(scenes.figures, scenes, np.random.default_rng(0).random((2000, 4)))
    for shape in np.unique(scenes.figures.shape):
        for size in (0, 1):
            own = (scenes.figures.shape == shape) & (source._sizes(scenes) == size)
            known = scenes.figures.centre[own]
            away = np.abs(moved.centre[own][:, None] - known)  # along each axis from each true centre
            assert (away.min(1).max(1) >= 2 / 64).mean() > 0.95


@pytest.mark.parametrize("relative", [True, False])
def test_foreign_colours_are_none_of_the_world(relative):
    known = known_colours(np.array([(192.0, 64, 0), (10, 107, 60), (228, 217, 111)]), relative=relative, stretched=relative)
    found = foreign_colours(known, np.random.default_rng(1).random((500, 3 * CANDIDATES)), relative=relative)
    away = np.linalg.norm(found[:, None] - known, axis=2).min(1)
    assert (away >= (0.2 if relative else 0.25)).mean() > 0.99
    assert (away < 0.45).mean() > 0.2  # many resemble one
    if relative:
        np.testing.assert_allclose(found.max(1), 1)
