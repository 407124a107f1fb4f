"""How far figures cover the pixels of pictures on grey ground."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from molyneux.data import CdSprites
from molyneux.data.worlds.raster import SHAPES, Figures, masks
from molyneux.data.worlds.rendering_cover import halved, on_black, projected, sharpened

COLOURS = torch.tensor([[255.0, 0.0, 0.0], [0.0, 0.0, 255.0], [255.0, 128.0, 192.0]])
MATRIX = torch.tensor([[0.299, 0.587, 0.114], [-0.1687, -0.3313, 0.5], [0.5, -0.4187, -0.0813]])


def figures(count, ground):
    """Covers (n, 64, 64) of turned squares and hearts, and pictures of them in the colours on grey."""
    rng = np.random.default_rng(1)
    shape = np.array([SHAPES.index(name) for name in ("square", "heart")])[np.arange(count) % 2]
    drawn = Figures(shape, rng.uniform(0.35, 0.65, (count, 2)), np.full(count, 0.3), rng.uniform(0, 6, count), np.zeros(count))
    cover = torch.from_numpy(masks(drawn, 64) / np.float32(255))
    ink = (COLOURS / 255)[torch.arange(count) % 3][:, :, None, None]
    return cover, torch.lerp(torch.full((count, 3, 64, 64), ground), ink.expand(-1, -1, 64, 64), cover[:, None])


def at_half(view):
    """Pictures with their colours, but not their brightness, at half of the resolution."""
    turned = torch.einsum("ij,njhw->nihw", MATRIX, view)
    coarse = functional.interpolate(functional.avg_pool2d(turned[:, 1:], 2), scale_factor=2, mode="bilinear")
    return torch.einsum("ij,njhw->nihw", torch.linalg.inv(MATRIX), torch.cat([turned[:, :1], coarse], 1))


@pytest.mark.parametrize("ground", [0.1, 0.5, 0.8])
def test_the_projected_cover_is_the_cover(ground):
    cover, view = figures(12, ground)
    found = projected(view, COLOURS)
    assert not halved(found).any()
    torch.testing.assert_close(found, cover, atol=2e-3, rtol=0)
    torch.testing.assert_close(on_black(view, COLOURS).amax(1), cover, atol=2e-3, rtol=0)


def test_colours_at_half_of_the_resolution_are_noticed_and_their_borders_are_found_by_brightness():
    cover, view = figures(12, 0.75)
    found = projected(at_half(view), COLOURS)
    assert halved(found).all()
    error = [(part - cover).flatten(1).norm(dim=1) for part in (found, sharpened(found, at_half(view)))]
    assert (error[1] < 0.5 * error[0])[torch.arange(12) % 3 < 2].all()  # the third colour is about as bright as the ground
    assert (error[1] < 1.1 * error[0]).all()


def test_no_pictures_have_no_covers():
    empty = torch.zeros(0, 3, 64, 64)
    assert len(halved(projected(empty, COLOURS))) == len(sharpened(projected(empty, COLOURS), empty)) == 0


def test_pictures_of_an_odd_number_of_pixels_are_read():
    """What is no figure is looked at twice, the second time at half of the resolution."""
    world = CdSprites(level=5, modalities=("image",), image_size=65)
    views = world.source("test", 8, seed=1).batch(np.arange(8)).views["image"].float()
    blurred = functional.avg_pool2d(views, 15, 1, 7).to(torch.uint8)
    assert (world.readers()["image"].read(blurred).codes < 0).any(1).all()
