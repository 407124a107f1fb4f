import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from molyneux.data.worlds.cdsprites_settings import BOXES
from molyneux.data.worlds.raster import SHAPES, Figures, distances, masks

SIZES = {"line": 30.0, "circle": 30.0, "semicircle": 30.0, "pieslice": 30.0, "spiral": 38.8}
STROKES = {"line": 15.0, "spiral": 1.0}


def figures(shape, count, *, scale=1.0, seed=0, rotation=None, centre=None):
    """`count` figures of a shape at its published size on a canvas of 64, turned and moved at random."""
    rng = np.random.default_rng(seed)
    size = {**BOXES, **SIZES}[shape] * scale / 64
    turn = rng.uniform(0, 2 * np.pi, count) if rotation is None else np.full(count, rotation)
    place = 0.5 + rng.uniform(-0.1, 0.1, (count, 2)) if centre is None else np.tile(centre, (count, 1)).astype(float)
    stroke = np.full(count, STROKES.get(shape, 0.0) * scale / 64)
    return Figures(np.full(count, SHAPES.index(shape)), place, np.full(count, size), turn, stroke)


@pytest.mark.parametrize(
    ("shape", "scale", "low", "high"),
    [
        ("square", 1.0, 368, 375),
        ("square", 0.5, 92, 97),
        ("ellipse", 1.0, 287, 291),
        ("ellipse", 0.5, 71, 73),
        ("heart", 1.0, 220, 226),
        ("heart", 0.5, 50, 56.5),
        ("line", 1.0, math.sqrt(2) * 450 - 3, math.sqrt(2) * 450 + 3),
        ("circle", 1.0, math.pi * 225 - 3, math.pi * 225 + 3),
        ("circle", 0.5, math.pi * 225 / 4 - 1, math.pi * 225 / 4 + 1),
        # a circular segment of 220 degrees and a sector of 50 degrees, in closed form
        ("semicircle", 1.0, 225 / 2 * (math.radians(220) - math.sin(math.radians(220))) - 3, 508),
        ("pieslice", 1.0, 900 * math.radians(50) / 2 - 3, 900 * math.radians(50) / 2 + 3),
    ],
)
def test_area_over_rotations(shape, scale, low, high):
    areas = (masks(figures(shape, 1000, scale=scale), 64) > 0).sum((1, 2))
    assert low <= areas.mean() <= high
    assert areas.std() < 0.06 * areas.mean()


@pytest.mark.parametrize(("shape", "width", "height"), [("square", 19.3, 19.3), ("ellipse", 14.4, 25.5), ("heart", 19, 17.5)])
def test_extent_when_upright(shape, width, height):
    mask = masks(figures(shape, 200, rotation=0.0), 64) > 0
    assert mask.any(1).sum(1).mean() == pytest.approx(width, abs=0.5)
    assert mask.any(2).sum(1).mean() == pytest.approx(height, abs=0.5)


@pytest.mark.parametrize("shape", SHAPES)
def test_mask_is_the_sign_of_the_distance(shape):
    some = figures(shape, 20)
    axis = (np.arange(48) + 0.5) / 48
    points = np.stack(np.meshgrid(axis, axis, indexing="xy"), -1).reshape(1, -1, 2).repeat(20, 0)
    inside = distances(some, points).reshape(20, 48, 48) <= 0
    assert np.array_equal(masks(some, 48) == 255, inside)
    assert set(np.unique(masks(some, 48))) <= {0, 255}


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "spiral"])
def test_coverage_against_supersampling(shape):
    some, side, fine = figures(shape, 30), 64, 8
    exact = (masks(some, side * fine) > 0).reshape(30, side, fine, side, fine).mean((2, 4))
    drawn = masks(some, side, anti_alias=True) / 255.0
    border = (exact > 0) & (exact < 1)
    assert np.abs(drawn - exact)[border].mean() < 0.04
    assert np.abs(drawn - exact).max() < 0.4
    assert np.abs(drawn - exact)[~border].mean() < 1e-3
    assert drawn.sum((1, 2)) == pytest.approx(exact.sum((1, 2)), rel=0.02)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape not in ("ellipse", "semicircle")])
def test_distance_has_slope_one(shape):
    """Exact distances grow by one per unit almost everywhere; the other two shapes are bounds."""
    rng = np.random.default_rng(3)
    one = figures(shape, 1)
    points = rng.uniform(0.1, 0.9, (1, 4000, 2))
    step = 1e-6
    slopes = [(distances(one, points + step * np.eye(2)[axis]) - distances(one, points)) / step for axis in (0, 1)]
    length = np.hypot(*slopes)
    assert np.median(length) == pytest.approx(1.0, abs=1e-4)
    assert (np.abs(length - 1) < 1e-3).mean() > 0.97


def test_ellipse_distance_near_the_border():
    """Points moved off the border along its normal by a known length, outwards and inwards."""
    one = figures("ellipse", 1, rotation=0.0, centre=(0.5, 0.5))
    a, b = 14.4 / 128, 25.5 / 128
    t = np.linspace(0, 2 * np.pi, 100)
    normal = np.stack([np.cos(t) / a, np.sin(t) / b], 1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    for offset in (-0.5 / 64, 0.5 / 64):
        points = 0.5 + np.stack([a * np.cos(t), b * np.sin(t)], 1) + offset * normal
        assert distances(one, points[None])[0] == pytest.approx(np.full(100, offset), abs=0.06 / 64)


def test_heart_points_down_and_turns_clockwise():
    upright = masks(figures("heart", 1, rotation=0.0, centre=(0.5, 0.5)), 64)[0] > 0
    widths = upright.sum(1)[upright.any(1)]
    assert widths[:4].sum() > 2 * widths[-4:].sum()
    turned = masks(figures("heart", 1, rotation=np.pi / 2, centre=(0.5, 0.5)), 64)[0] > 0
    assert np.array_equal(turned, np.rot90(upright, -1))
    columns = turned.sum(0)[turned.any(0)]
    assert columns[:4].sum() * 2 < columns[-4:].sum()


def test_centroid_of_the_heart_is_its_origin():
    rows, columns = np.mgrid[0:256, 0:256] + 0.5
    mask = masks(figures("heart", 1, scale=2.0, rotation=0.0, centre=(0.5, 0.5)), 256)[0] > 0
    assert (columns[mask].mean(), rows[mask].mean()) == pytest.approx((128, 128), abs=0.2)


def test_spiral_follows_its_curve():
    """Every vertex r = s + s theta lies on the stroke; a quarter turn in between the arms does not."""
    one = figures("spiral", 1, rotation=0.0, centre=(0.5, 0.5))
    growth = 38.8 / 64 / 2 / (1 + 10 * np.pi)
    theta = np.arange(0.0, 31.0, 0.5)
    for gap, sign in ((0.0, -1), (np.pi, 1)):
        radius = growth * (1 + theta + gap)
        points = 0.5 + np.stack([radius * np.cos(theta), radius * np.sin(theta)], 1)
        assert (np.sign(distances(one, points[None])[0, 6:]) == sign).all()


def test_spiral_distance_against_all_segments():
    one = figures("spiral", 1, rotation=0.3, centre=(0.5, 0.5))
    theta = np.minimum(np.arange(64) * 0.5, 10 * np.pi)
    radius = 38.8 / 64 / 2 / (1 + 10 * np.pi) * (1 + theta)
    vertices = 0.5 + np.stack([radius * np.cos(theta + 0.3), radius * np.sin(theta + 0.3)], 1)
    points = np.random.default_rng(0).uniform(0.15, 0.85, (1000, 2))
    start, along = vertices[:-1], np.diff(vertices, axis=0)
    share = np.clip(((points[:, None] - start) * along).sum(-1) / (along**2).sum(-1), 0, 1)
    brute = np.linalg.norm(points[:, None] - start - share[..., None] * along, axis=-1).min(1) - 0.5 / 64
    close = brute < 3 / 64
    assert distances(one, points[None])[0][close] == pytest.approx(brute[close], abs=0.15 / 64)
    assert np.median(np.abs(distances(one, points[None])[0] - brute)) < 1e-9


@settings(max_examples=30, deadline=None)
@given(
    shape=st.sampled_from(SHAPES),
    side=st.integers(28, 256),
    x=st.floats(-0.2, 1.2),
    y=st.floats(-0.2, 1.2),
    rotation=st.floats(-7.0, 7.0),
    anti_alias=st.booleans(),
)
def test_any_place_and_size_is_drawn_or_clipped(shape, side, x, y, rotation, anti_alias):
    """Nothing is written outside, and the bounding box cuts nothing off."""
    one = figures(shape, 1, rotation=rotation, centre=(x, y))
    mask = masks(one, side, anti_alias=anti_alias)[0]
    axis = (np.arange(side) + 0.5) / side
    points = np.stack(np.meshgrid(axis, axis, indexing="xy"), -1).reshape(1, -1, 2)
    d = distances(one, points).reshape(side, side) * side
    assert (mask[d < -0.51] == 255).all()
    assert (mask[d > 0.51] == 0).all()


def test_slices_do_not_change_masks():
    every = Figures(*(np.concatenate(parts) for parts in zip(*(vars(figures(s, 60)).values() for s in SHAPES), strict=True)))
    whole = masks(every, 64, anti_alias=True)
    assert np.array_equal(whole[100:133], masks(every[100:133], 64, anti_alias=True))
