"""Pictures on black ground are read by comparison with everything that can be drawn."""

import numpy as np
import pytest
import torch

from molyneux.core import Reader
from molyneux.data import CdSprites
from molyneux.data.worlds import cdsprites_settings as attributes
from molyneux.data.worlds.cdsprites_settings import Noise
from molyneux.data.worlds.raster import Figures, masks


def read(world, view):
    """Codes and forced codes by factor."""
    reading = world.readers()["image"].read(view)
    columns = [{name: table[:, i] for i, name in enumerate(reading.factors)} for table in (reading.codes, reading.forced)]
    return columns[0], columns[1], reading


def truth(world, batch, name):
    return batch.factors[:, world.spec.factor_index(name)]


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_true_views_are_read_without_error(level):
    world = CdSprites(level=level)
    batch = world.source("test", 500, seed=3).batch(np.arange(500))
    codes, forced, reading = read(world, batch.views["image"])
    assert isinstance(world.readers()["image"], Reader)
    assert set(codes) == {"shape", "size", "colour", "position"} & {factor.name for factor in world.spec.factors}
    assert not reading.reasons
    for name in codes:
        assert torch.equal(codes[name], truth(world, batch, name))
        assert torch.equal(forced[name], truth(world, batch, name))


@pytest.mark.parametrize(
    "settings",
    [
        {"image_size": 96, "textures": None},
        {"textures": None},
        {"shapes": ("heart", "line", "semicircle", "circle")},
        {"colours": ("red", "pink"), "sizes": ("small", "medium", "big")},
        {"noise": Noise(shade=10.0, rotation=30.0)},
        {"caption_level": 1},
    ],
)
def test_settings_of_the_world_are_known(settings):
    world = CdSprites(level=3, **settings)
    batch = world.source("test", 120, seed=1).batch(np.arange(120))
    codes, _, _ = read(world, batch.views["image"])
    for name in codes:
        assert torch.equal(codes[name], truth(world, batch, name))


def test_what_is_softened_is_still_read():
    world = CdSprites(level=2)
    batch = world.source("test", 300, seed=4).batch(np.arange(300))
    view = batch.views["image"].float()
    weights = torch.tensor([1.0, 2.0, 1.0]) / 4
    kernel = torch.outer(weights, weights).expand(3, 1, 3, 3)
    soft = torch.nn.functional.conv2d(view, kernel, padding=1, groups=3)
    codes, _, _ = read(world, (0.8 * soft).to(torch.uint8))
    for name in codes:
        assert (codes[name] == truth(world, batch, name)).double().mean() > 0.95


def test_a_mean_over_all_turns_shows_its_size_but_no_shape():
    world = CdSprites(level=2)
    turns = np.arange(39) * (2 * np.pi / 39)
    for size, scale in enumerate((0.5, 1.0)):
        for shape, name in enumerate(("square", "ellipse", "heart")):
            means = []
            for place in ((0.4, 0.5), (0.61, 0.36), (0.5, 0.5)):
                length = np.full(39, attributes.BOXES[name] * scale / 64)
                figures = Figures(np.full(39, shape), np.tile(place, (39, 1)), length, turns, np.zeros(39))
                means.append(np.tile(masks(figures, 64).astype(np.float64).mean(0), (3, 1, 1)))
            codes, forced, reading = read(world, torch.tensor(np.array(means)).to(torch.uint8))
            assert (codes["shape"] == -1).all()
            assert (codes["size"] == size).all()
            assert (forced["shape"] >= 0).all()
            assert reading.reasons[0] == "no shape can be told"


def test_nothing_and_noise_are_not_read():
    world = CdSprites(level=4)
    noise = torch.randint(0, 256, (3, 3, 64, 64), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    for view in (torch.zeros(2, 3, 64, 64, dtype=torch.uint8), noise, torch.full((1, 3, 64, 64), 255, dtype=torch.uint8)):
        codes, _, reading = read(world, view)
        assert all((column == -1).all() for column in codes.values())
        assert len(reading.reasons) == len(view)
    assert len(world.readers()["image"].read(noise[:0]).codes) == 0


def test_a_mixture_of_colours_and_a_place_between_quadrants_are_not_read():
    world = CdSprites(level=4, textures=None)
    batch = world.source("test", 400, seed=0).batch(np.arange(400))
    view = batch.views["image"]
    mixed = view.clone().float()
    red, green = (torch.tensor(world._settings.choices["colours"][name]).float() for name in ("red", "green"))
    ink = red / red.norm() + green / green.norm()
    mask = (view.amax(1, keepdim=True) > 0).float()
    mixed = mask * (255 * ink / ink.max()).view(1, 3, 1, 1)
    codes, forced, _ = read(world, mixed.to(torch.uint8))
    assert (codes["colour"] == -1).all()
    assert (forced["colour"] >= 0).all()
    assert torch.equal(codes["shape"], truth(world, batch, "shape"))
    corner = truth(world, batch, "position") == 0
    moved = torch.roll(view[corner], (12, 12), (2, 3))
    codes, _, _ = read(world, moved)
    assert (codes["position"] == -1).double().mean() > 0.9
    assert torch.equal(codes["shape"], truth(world, batch, "shape")[corner])


def test_two_figures_are_none():
    world = CdSprites(level=1)
    batch = world.source("test", 200, seed=0).batch(np.arange(200))
    left = truth(world, batch, "x") < 9
    right = truth(world, batch, "x") > 25
    count = int(min(left.sum(), right.sum()))
    both = torch.maximum(batch.views["image"][left][:count], batch.views["image"][right][:count])
    codes, _, _ = read(world, both)
    assert count > 5
    assert (codes["shape"] == -1).double().mean() > 0.9


@pytest.mark.parametrize(
    "settings", [{"level": 5}, {"level": 3, "noise": Noise(size=0.2)}, {"level": 2, "modalities": ("text",)}]
)
def test_what_it_cannot_know_it_does_not_read(settings):
    assert "image" not in CdSprites(**settings).readers()
