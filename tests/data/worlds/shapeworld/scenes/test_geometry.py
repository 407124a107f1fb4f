"""Shapes and pictures of ShapeWorld: areas, and the check values of the published rasteriser."""

import numpy as np
import pytest

from molyneux.core import ConfigError
from molyneux.data.worlds.shapeworld.scenes.geometry import COLOUR_VALUES, distance, draw, half_extents
from molyneux.data.worlds.shapeworld.scenes.scenes import AREAS, COLOURS, SHAPES, Scenes

PUBLISHED_SUMS = (932.4, 482.9, 421.1, 619.0, 541.4, 734.0, 382.2, 375.4)
"""Intensity of each shape of width 0.5 (distortion 2), white and upright in the middle of 64 x 64 pixels."""


def one(shape, **changes):
    stretched = SHAPES[shape] in ("rectangle", "ellipse")
    arrays = {
        "present": [[True]], "shape": [[shape]], "colour": [[COLOURS.index("white")]], "centre": [[[0.5, 0.5]]], "size": [[0.5]],
        "distortion": [[2.0 if stretched else 1.0]], "rotation": [[0.0]], "shade": [[0.0]], "overlap": [[[0.0]]],
    } | changes  # fmt: skip
    return Scenes(**{name: np.array(values) for name, values in arrays.items()})


@pytest.mark.parametrize("shape", range(8), ids=SHAPES)
def test_inside_is_where_the_distance_is_zero(shape):
    distortion = 2.5 if SHAPES[shape] in ("rectangle", "ellipse") else 1.0
    width, height = half_extents(shape, 1.0, distortion)
    grid = np.linspace(-0.55, 0.55, 221)
    inside = [distance(shape, x, y, width, height) <= 0 for y in grid for x in grid]
    assert np.mean(inside) * 1.1**2 == pytest.approx(AREAS[shape] / distortion, abs=0.01)


@pytest.mark.parametrize("shape", range(8), ids=SHAPES)
def test_intensities_of_the_published_rasteriser(shape):
    picture = draw(one(shape))[0]
    assert picture.shape == (3, 64, 64)
    assert picture[0].sum() / 255 == pytest.approx(PUBLISHED_SUMS[shape], rel=0.01)
    assert (picture[0] == picture[1]).all()


@pytest.mark.parametrize("shape", range(8), ids=SHAPES)
def test_rotation_keeps_the_area_and_turns_the_picture(shape):
    upright, quarter = draw(one(shape))[0, 0], draw(one(shape, rotation=[[0.25]]))[0, 0]
    assert quarter.sum() == pytest.approx(upright.sum(), rel=0.01)
    assert np.abs(np.rot90(upright, -1).astype(int) - quarter).max() <= 1


def test_colours_and_shades():
    for colour, value in enumerate(COLOUR_VALUES):
        for shade, expected in ((0.0, value), (-0.5, value / 2), (0.5, (1 + value) / 2)):
            picture = draw(one(0, colour=[[colour]], shade=[[shade]]))[0]
            assert picture[:, 32, 32].tolist() == (expected * 255 + 0.5).astype(int).tolist()


def test_later_entities_lie_on_top_and_absent_ones_nowhere():
    arrays = {
        "present": [[True, True, False]], "shape": [[0, 0, 0]], "colour": [[0, 1, 2]], "centre": [[[0.5, 0.5]] * 3],
        "size": [[0.5, 0.2, 0.9]], "distortion": [[1.0] * 3], "rotation": [[0.0] * 3], "shade": [[0.0] * 3],
        "overlap": [np.zeros((3, 3))],
    }  # fmt: skip
    picture = draw(Scenes(**{name: np.array(values) for name, values in arrays.items()}), size=100)[0]
    assert picture[:, 50, 50].tolist() == [0, 255, 0]
    assert picture[:, 50, 30].tolist() == [255, 0, 0]
    assert picture[:, 50, 3].tolist() == [0, 0, 0]


def test_every_scene_has_its_own_ground():
    twice = Scenes(**{name: np.repeat(values, 2, 0) for name, values in vars(one(5)).items()})
    pictures = draw(twice, background=(0.0, 0.0, 0.4), size=48)
    assert (pictures[0] == pictures[1]).all()
    assert pictures[0, :, 0, 0].tolist() == [0, 0, 102]


@pytest.mark.parametrize("bad", [{"size": 4}, {"background": (0, 0)}, {"background": (0, 0, 2)}])
def test_bad_pictures(bad):
    with pytest.raises(ConfigError, match="size of at least 8 and a background"):
        draw(one(0), **bad)
