"""The eight shapes of ShapeWorld: extents, distances to them, and drawing of whole batches of scenes.

A picture of W pixels shows the unit square with a margin of two pixels: pixel i of a row has its centre at
i / (W - 1), stretched by 1 + 4 / W and moved by -2 / W. A pixel belongs to a shape by 1 minus its distance in pixels, not below
0; later entities are painted over earlier ones (ShapeWorld, Kuhnle & Copestake, 2017; formulas of the published code).
"""

from __future__ import annotations

import math

import numpy as np

from molyneux.core import ConfigError
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.shapeworld.scenes.scenes import Scenes

COLOUR_VALUES = np.array(
    [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (0.5, 0.5, 0.5), (1, 1, 1)], np.float64
)
"""RGB of each of `scenes.COLOURS`, 0..1."""

_SQUARE, _RECTANGLE, _TRIANGLE, _PENTAGON, _CROSS, _CIRCLE, _SEMICIRCLE, _ELLIPSE = range(8)

_GOLDEN = (math.sqrt(5) - 1) / 2
_COS18 = math.cos(math.radians(18))
_SIN54, _COS54 = math.sin(math.radians(54)), math.cos(math.radians(54))
_HIGH = math.sqrt(0.75)


@compiled
def half_extents(shape: int, size: float, distortion: float) -> tuple[float, float]:
    """Half the width and half the height of a shape of a width that is not rotated."""
    if shape in (_RECTANGLE, _ELLIPSE):
        return size / 2, size / 2 / distortion
    if shape == _TRIANGLE:
        return size / 2, size / 2 * _HIGH
    if shape == _PENTAGON:
        return size / 2, size / 2 * _COS18
    if shape == _SEMICIRCLE:
        return size / 2, size / 4
    return size / 2, size / 2


@compiled
def distance(shape: int, x: float, y: float, width: float, height: float) -> float:
    """Distance of a point of a shape's own frame to it, 0 inside; `width` and `height` are half of its extents."""
    x, outside = abs(x), 0.0
    if shape in (_SQUARE, _RECTANGLE):
        return math.hypot(max(x - width, 0.0), max(abs(y) - height, 0.0))
    if shape == _CIRCLE:
        return max(math.hypot(x, y) - width, 0.0)
    if shape == _ELLIPSE:
        length = math.hypot(x / width, y / height)
        return 0.0 if length <= 1 else math.hypot(x, y) * (1 - 1 / length)
    if shape == _SEMICIRCLE:
        y += height
        if y < 0:
            return math.hypot(max(x - width, 0.0), y)
        return max(math.hypot(x, y) - width, 0.0)
    if shape == _CROSS:
        y = abs(y)
        upright = math.hypot(max(x - width / 3, 0.0), max(y - height, 0.0))
        level = math.hypot(max(x - width, 0.0), max(y - height / 3, 0.0))
        return min(upright, level)
    if shape == _TRIANGLE:
        y += height  # the base is at 0, the tip at twice the height
        slant = 1 / math.hypot(2 * height, width)
        outside = max((2 * height * x + width * y - 2 * height * width) * slant, -y)
        return max(outside, 0.0)
    y += height  # pentagon: the base is at 0, the sides lean outwards up to 1 - 0.618 of the height from the top
    corner = 2 * height * _GOLDEN
    base = width * _GOLDEN
    lower = 1 / math.hypot(corner, width - base)
    upper = 1 / math.hypot(2 * height - corner, width)
    outside = max(((x - base) * corner - (width - base) * y) * lower, -y)
    outside = max(outside, (x * (2 * height - corner) + width * (y - corner) - width * (2 * height - corner)) * upper)
    return max(outside, 0.0)


@compiled
def inside(shape: int, x: float, y: float, width: float, height: float) -> bool:
    """Whether a point of a shape's own frame lies in it: whether its `distance` is 0, and faster."""
    x = abs(x)
    if shape in (_SQUARE, _RECTANGLE):
        return x <= width and abs(y) <= height
    if shape == _CIRCLE:
        return _within(x, y, width)
    if shape == _ELLIPSE:
        return _within(x / width, y / height, 1.0)
    if shape == _CROSS:
        y = abs(y)
        return (x <= width / 3 and y <= height) or (x <= width and y <= height / 3)
    y += height
    if y < 0:
        return False
    if shape == _SEMICIRCLE:
        return _within(x, y, width)
    if shape == _TRIANGLE:
        return 2 * height * x + width * y - 2 * height * width <= 0
    corner = 2 * height * _GOLDEN
    base = width * _GOLDEN
    lower = (x - base) * corner - (width - base) * y
    upper = x * (2 * height - corner) + width * (y - corner) - width * (2 * height - corner)
    return lower <= 0 and upper <= 0


@compiled
def _within(x: float, y: float, radius: float) -> bool:
    """Whether `hypot(x, y)` is at most the radius; it is only computed where squares cannot tell."""
    square, bound = x * x + y * y, radius * radius
    if square < bound * (1 - 1e-12):
        return True
    return square <= bound * (1 + 1e-12) and math.hypot(x, y) <= radius


@compiled
def reach(shape: int, width: float, height: float) -> float:
    """How far a shape reaches from its centre at most; `width` and `height` are half of its extents."""
    return width if shape in (_CIRCLE, _ELLIPSE) else math.hypot(width, height)


def draw(scenes: Scenes, *, size: int = 64, background: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Pictures of scenes, (n, 3, size, size) uint8.

    Args:
        scenes: n of them.
        size: side in pixels, at least 8.
        background: RGB, 0..1.

    Raises:
        ConfigError: a side below 8, or no colour.
    """
    ground = np.asarray(background, np.float64)
    if size < 8 or ground.shape != (3,) or not ((ground >= 0) & (ground <= 1)).all():
        raise ConfigError(f"expected a size of at least 8 and a background of three values in 0..1, got {size} and {background}")
    colour = COLOUR_VALUES[scenes.colour]
    shade = scenes.shade[..., None]
    painted = np.where(shade < 0, colour * (1 + shade), colour + (1 - colour) * shade)
    out = np.empty((len(scenes), 3, size, size), np.uint8)
    geometry = (scenes.centre, scenes.size, scenes.distortion, scenes.rotation)
    _draw(scenes.present, scenes.shape, *geometry, painted, ground, out)
    return out


@compiled
def _draw(
    present: np.ndarray,
    shape: np.ndarray,
    centre: np.ndarray,
    size: np.ndarray,
    distortion: np.ndarray,
    rotation: np.ndarray,
    colour: np.ndarray,
    ground: np.ndarray,
    out: np.ndarray,
) -> None:
    """Paint scenes, entity after entity, into `out` (n, 3, W, W)."""
    side = out.shape[2]
    step, start = (1 + 4 / side) / (side - 1), -2 / side
    canvas = np.empty((3, side, side))
    levels = (ground * 255 + 0.5).astype(np.uint8)
    for channel in range(3):
        canvas[channel] = ground[channel]
    for row in range(len(out)):
        for channel in range(3):
            out[row, channel] = levels[channel]
        first_i, last_i, first_j, last_j = side, 0, side, 0
        for e in range(present.shape[1]):
            if not present[row, e]:
                continue
            width, height = half_extents(shape[row, e], size[row, e], distortion[row, e])
            cos, sin = math.cos(2 * math.pi * rotation[row, e]), math.sin(2 * math.pi * rotation[row, e])
            box_x, box_y = abs(cos) * width + abs(sin) * height + 1 / side, abs(sin) * width + abs(cos) * height + 1 / side
            left, right = _span(centre[row, e, 0], box_x, start, step, side)
            top, bottom = _span(centre[row, e, 1], box_y, start, step, side)
            first_i, last_i, first_j, last_j = min(first_i, top), max(last_i, bottom), min(first_j, left), max(last_j, right)
            for i in range(top, bottom):
                y = start + i * step - centre[row, e, 1]
                for j in range(left, right):
                    x = start + j * step - centre[row, e, 0]
                    cover = 1 - distance(shape[row, e], cos * x + sin * y, cos * y - sin * x, width, height) * side
                    if cover > 0:
                        for channel in range(3):
                            canvas[channel, i, j] += cover * (colour[row, e, channel] - canvas[channel, i, j])
        for channel in range(3):
            for i in range(first_i, last_i):
                for j in range(first_j, last_j):
                    out[row, channel, i, j] = int(canvas[channel, i, j] * 255 + 0.5)
                    canvas[channel, i, j] = ground[channel]


@compiled
def _span(centre: float, reach: float, start: float, step: float, side: int) -> tuple[int, int]:
    """The pixels of a row or column within reach of a centre: first, and one after the last."""
    first, last = math.ceil((centre - reach - start) / step), math.floor((centre + reach - start) / step)
    return max(0, first), min(side, last + 1)
