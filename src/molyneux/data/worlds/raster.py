"""One rasteriser for every shape of every world: signed distances, compiled, whole batches.

A figure is a shape with a centre, a size, a rotation and, for strokes, a thickness. Lengths are in scene units: 1 is the side
of the (square) picture, x points right, y points down, rotation is clockwise as seen in the picture. A pixel belongs to a
figure if its centre lies inside; with anti-aliasing, its coverage falls linearly over one pixel across the border.

All distances are measured in the figure's own frame, whose origin is `Figures.centre`. What `size` L means, and the origin:

- square: its side; centre.
- ellipse: its long axis, upright, the short one being 14.4 / 25.5 of it; centre.
- heart: its width; a square on its corner with a half disc on both upper sides; centroid.
- line: side of the box whose falling diagonal it is, `thickness` wide; centre.
- circle: its diameter; centre.
- semicircle: its diameter; the part of a disc on the arc 50..270 degrees, cut off by the chord; centre of the disc.
- pieslice: its radius; the sector 200..250 degrees of a disc; half an L left of and above the apex.
- spiral: its outer diameter; r = s + s theta, 5 turns in steps of 0.5 rad, `thickness` wide; pole.

Angles are clockwise from the right, as Pillow counts them. Sine and cosine are those of the system's mathematical library, whose
last bit may differ from system to system: a pixel may then differ if its centre lies within 1e-15 of a border.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from molyneux.core.tooling.compiled import compiled

SHAPES = ("square", "ellipse", "heart", "line", "circle", "semicircle", "pieslice", "spiral")
"""Names of the shapes; a shape's code is its place here."""

_SQUARE, _ELLIPSE, _HEART, _LINE, _CIRCLE, _SEMICIRCLE, _PIESLICE, _SPIRAL = range(8)

ELLIPSE_RATIO = 14.4 / 25.5
"""Short by long axis of the ellipse."""

HEART_HEIGHT = 1.0 / (0.5 + math.sqrt(0.5))
"""Height of the heart's crease above its tip, in widths; its square's side is sqrt(1/2) of this."""

HEART_CENTROID = (0.25 + math.pi / 8.0 * (0.75 + 1.0 / (3.0 * math.pi))) / (0.5 + math.pi / 8.0)
"""Height of the heart's centroid above its tip, in heights of the crease: square and two half discs by area."""

SPIRAL_TURNS, SPIRAL_STEP = 5, 0.5
SPIRAL_GROWTH = 0.5 / (1.0 + 2.0 * math.pi * SPIRAL_TURNS)
"""The spiral's s in sizes: the outer end lies at half a size."""

_THETA = np.minimum(
    np.arange(math.ceil(2.0 * math.pi * SPIRAL_TURNS / SPIRAL_STEP) + 1) * SPIRAL_STEP, 2.0 * math.pi * SPIRAL_TURNS
)

SPIRAL_VERTICES = np.stack([(1.0 + _THETA) * np.cos(_THETA), (1.0 + _THETA) * np.sin(_THETA)], 1)
"""Corners of the spiral with s = 1 from the pole outwards, (64, 2)."""

_CHORD, _CHORD_X, _CHORD_Y = math.cos(math.radians(110)), math.cos(math.radians(160)), math.sin(math.radians(160))
_SLICE_SIN, _SLICE_COS = math.sin(math.radians(25)), math.cos(math.radians(25))


@dataclass(frozen=True)
class Figures:
    """Figures to draw, one row each.

    Args:
        shape: (n,) int64 codes into `SHAPES`.
        centre: (n, 2) float64 x and y, scene units.
        size: (n,) float64, scene units; see the module's table.
        rotation: (n,) float64 radians, clockwise.
        thickness: (n,) float64 width of strokes (line and spiral), scene units; not read for other shapes.
    """

    shape: np.ndarray
    centre: np.ndarray
    size: np.ndarray
    rotation: np.ndarray
    thickness: np.ndarray

    def __len__(self) -> int:
        return len(self.shape)

    def __getitem__(self, part: slice) -> Figures:
        """The figures of a slice."""
        return Figures(self.shape[part], self.centre[part], self.size[part], self.rotation[part], self.thickness[part])


def masks(figures: Figures, image_size: int, *, anti_alias: bool = False) -> np.ndarray:
    """Coverage of every pixel by its figure, (n, image_size, image_size) uint8: 0 outside, 255 inside.

    With `anti_alias` the border is graded; by default a mask holds only 0 and 255.
    """
    out = np.zeros((len(figures), image_size, image_size), np.uint8)
    geometry = figures.shape, figures.centre, figures.size, figures.rotation, figures.thickness
    _draw(*geometry, anti_alias, out)
    if (figures.shape == _SPIRAL).any():  # most worlds have none, and compiling them takes a second
        _draw_spirals(*geometry, anti_alias, out)
    return out


def distances(figures: Figures, points: np.ndarray) -> np.ndarray:
    """Signed distance of points (n, m, 2) to the border of their figure, (n, m); scene units, negative inside."""
    out = np.empty(points.shape[:2], np.float64)
    _distances(figures.shape, figures.centre, figures.size, figures.rotation, figures.thickness, points, out)
    return out


@compiled
def _draw(
    shape: np.ndarray,
    centre: np.ndarray,
    size: np.ndarray,
    rotation: np.ndarray,
    thickness: np.ndarray,
    anti_alias: bool,
    out: np.ndarray,
) -> None:
    """Draw all figures but spirals."""
    side = out.shape[1]
    for row in range(len(shape)):
        if shape[row] == _SPIRAL:
            continue
        length, stroke = size[row] * side, thickness[row] * side
        x, y = centre[row, 0] * side, centre[row, 1] * side
        cos, sin = math.cos(rotation[row]), math.sin(rotation[row])
        reach = _reach(shape[row], length, stroke) + 1.0
        left, right = max(0, math.floor(x - reach)), min(side, math.ceil(x + reach))
        top, bottom = max(0, math.floor(y - reach)), min(side, math.ceil(y + reach))
        for i in range(top, bottom):
            for j in range(left, right):
                dx, dy = j + 0.5 - x, i + 0.5 - y
                d = _plain_distance(shape[row], cos * dx + sin * dy, cos * dy - sin * dx, length, stroke)
                out[row, i, j] = _coverage(d, anti_alias)


@compiled
def _coverage(distance: float, anti_alias: bool) -> int:
    """Coverage of a pixel, 0..255, by the signed distance of its centre in pixels."""
    if anti_alias:
        return int(min(max(0.5 - distance, 0.0), 1.0) * 255.0 + 0.5)
    return 255 if distance <= 0.0 else 0


@compiled
def _draw_spirals(
    shape: np.ndarray,
    centre: np.ndarray,
    size: np.ndarray,
    rotation: np.ndarray,
    thickness: np.ndarray,
    anti_alias: bool,
    out: np.ndarray,
) -> None:
    side = out.shape[1]
    for row in range(len(shape)):
        if shape[row] == _SPIRAL:
            length, stroke = size[row] * side, thickness[row] * side
            x, y = centre[row, 0] * side, centre[row, 1] * side
            cos, sin = math.cos(rotation[row]), math.sin(rotation[row])
            _draw_spiral(x, y, cos, sin, length * SPIRAL_GROWTH, stroke, anti_alias, out[row])


@compiled
def _draw_spiral(
    x: float, y: float, cos: float, sin: float, growth: float, stroke: float, anti_alias: bool, out: np.ndarray
) -> None:
    """Draw a spiral stroke by stroke, so that only pixels near a stroke are looked at. Same result as by `_spiral`."""
    side, reach = len(out), stroke / 2.0 + (0.501 if anti_alias else 0.001)
    nearest = (reach / growth) ** 2
    for start in range(len(SPIRAL_VERTICES) - 1):
        ax, ay = growth * SPIRAL_VERTICES[start, 0], growth * SPIRAL_VERTICES[start, 1]
        bx, by = growth * SPIRAL_VERTICES[start + 1, 0], growth * SPIRAL_VERTICES[start + 1, 1]
        ax, ay, bx, by = x + cos * ax - sin * ay, y + sin * ax + cos * ay, x + cos * bx - sin * by, y + sin * bx + cos * by
        left, right = max(0, math.floor(min(ax, bx) - reach)), min(side, math.ceil(max(ax, bx) + reach))
        top, bottom = max(0, math.floor(min(ay, by) - reach)), min(side, math.ceil(max(ay, by) + reach))
        for i in range(top, bottom):
            for j in range(left, right):
                dx, dy = j + 0.5 - x, i + 0.5 - y
                u, v = cos * dx + sin * dy, cos * dy - sin * dx
                square = _stroke(u / growth, v / growth, start)
                if square < nearest:
                    cover = _coverage(growth * math.sqrt(square) - stroke / 2.0, anti_alias)
                    if cover > out[i, j] and _is_tried(u, v, growth, start):
                        out[i, j] = cover


@compiled
def _distances(
    shape: np.ndarray,
    centre: np.ndarray,
    size: np.ndarray,
    rotation: np.ndarray,
    thickness: np.ndarray,
    points: np.ndarray,
    out: np.ndarray,
) -> None:
    for row in range(len(shape)):
        cos, sin = math.cos(rotation[row]), math.sin(rotation[row])
        for column in range(points.shape[1]):
            dx, dy = points[row, column, 0] - centre[row, 0], points[row, column, 1] - centre[row, 1]
            x, y = cos * dx + sin * dy, cos * dy - sin * dx
            out[row, column] = _distance(shape[row], x, y, size[row], thickness[row])


@compiled
def _reach(shape: int, length: float, stroke: float) -> float:
    """Radius of a disc around the origin that holds the shape."""
    if shape == _LINE:
        return math.hypot(length / math.sqrt(2.0), stroke / 2.0)
    if shape in (_SQUARE, _PIESLICE):
        return length / math.sqrt(2.0)
    return length / 2.0 * (1.1 if shape == _HEART else 1.0) + stroke


@compiled
def _distance(shape: int, x: float, y: float, length: float, stroke: float) -> float:
    """Signed distance of a point of the figure's frame to its border, negative inside."""
    if shape == _SPIRAL:
        return _spiral(x, y, length * SPIRAL_GROWTH) - stroke / 2.0
    return _plain_distance(shape, x, y, length, stroke)


@compiled
def _plain_distance(shape: int, x: float, y: float, length: float, stroke: float) -> float:
    """The same of any shape but a spiral."""
    if shape == _SQUARE:
        return _box(x, y, length / 2.0, length / 2.0)
    if shape == _ELLIPSE:
        return _ellipse(x, y, length / 2.0)
    if shape == _HEART:
        return _heart(x, y, length)
    if shape == _LINE:
        return _box((x + y) * math.sqrt(0.5), (y - x) * math.sqrt(0.5), length * math.sqrt(0.5), stroke / 2.0)
    if shape == _CIRCLE:
        return math.sqrt(x * x + y * y) - length / 2.0
    if shape == _SEMICIRCLE:
        return max(math.sqrt(x * x + y * y) - length / 2.0, length / 2.0 * _CHORD - (x * _CHORD_X + y * _CHORD_Y))
    return _pieslice(x - length / 2.0, y - length / 2.0, length)


@compiled
def _box(x: float, y: float, half_width: float, half_height: float) -> float:
    x, y = abs(x) - half_width, abs(y) - half_height
    return math.sqrt(max(x, 0.0) ** 2 + max(y, 0.0) ** 2) + min(max(x, y), 0.0)


@compiled
def _ellipse(x: float, y: float, half: float) -> float:
    """First-order distance: exact on the border, right to second order near it, never of the wrong sign."""
    u, v = x / (half * ELLIPSE_RATIO), y / half
    slope = math.sqrt((u / (half * ELLIPSE_RATIO)) ** 2 + (v / half) ** 2)
    radius = math.sqrt(u * u + v * v)
    return radius * (radius - 1.0) / slope if slope > 0.0 else -half * ELLIPSE_RATIO


@compiled
def _heart(x: float, y: float, width: float) -> float:
    """Unit: tip at (0, 0), crease at (0, 1), y up; half discs of radius sqrt(1/8) around (+-1/4, 3/4)."""
    unit = width * HEART_HEIGHT
    x, y = abs(x) / unit, HEART_CENTROID - y / unit
    if x + y > 1.0:
        return unit * (math.sqrt((x - 0.25) ** 2 + (y - 0.75) ** 2) - math.sqrt(0.125))
    foot = 0.5 * max(x + y, 0.0)
    nearest = math.sqrt(min(x * x + (y - 1.0) ** 2, (x - foot) ** 2 + (y - foot) ** 2))
    return unit * nearest if x > y else -unit * nearest


@compiled
def _pieslice(x: float, y: float, radius: float) -> float:
    """Apex at the origin, axis along 225 degrees, half aperture 25 degrees."""
    along, across = -(x + y) * math.sqrt(0.5), abs(x - y) * math.sqrt(0.5)
    foot = min(max(across * _SLICE_SIN + along * _SLICE_COS, 0.0), radius)
    side = math.sqrt((across - foot * _SLICE_SIN) ** 2 + (along - foot * _SLICE_COS) ** 2)
    outside = across * _SLICE_COS > along * _SLICE_SIN
    return max(math.sqrt(x * x + y * y) - radius, side if outside else -side)


@compiled
def _spiral(x: float, y: float, growth: float) -> float:
    """Unsigned distance to the polyline; only strokes near the point's own angle on the three nearest turns are tried."""
    angle, turn = _spiral_place(x, y, growth)
    best = math.inf
    for candidate in range(turn - 1, turn + 2):
        near = _near_stroke(angle, candidate)
        for start in range(max(near - 1, 0), min(near + 1, len(SPIRAL_VERTICES) - 2) + 1):
            best = min(best, _stroke(x / growth, y / growth, start))
    return growth * math.sqrt(best)


@compiled
def _is_tried(x: float, y: float, growth: float, start: int) -> bool:
    """Whether `_spiral` tries this stroke for a point."""
    angle, turn = _spiral_place(x, y, growth)
    before, at, after = _near_stroke(angle, turn - 1), _near_stroke(angle, turn), _near_stroke(angle, turn + 1)
    return min(abs(before - start), abs(at - start), abs(after - start)) <= 1


@compiled
def _spiral_place(x: float, y: float, growth: float) -> tuple[float, int]:
    """Angle of a point, 0..2 pi, and the turn of the spiral that is nearest to it."""
    angle = math.atan2(y, x) % (2.0 * math.pi)
    turn = round((math.sqrt(x * x + y * y) / growth - 1.0 - angle) / (2.0 * math.pi))
    return angle, min(max(turn, 0), SPIRAL_TURNS)


@compiled
def _near_stroke(angle: float, turn: int) -> int:
    """The stroke at an angle of a turn."""
    return min(max(math.floor((angle + 2.0 * math.pi * turn) / SPIRAL_STEP), 0), len(SPIRAL_VERTICES) - 2)


@compiled
def _stroke(x: float, y: float, start: int) -> float:
    """Squared distance to the segment between two neighbouring vertices of the spiral with s = 1."""
    ax: float = SPIRAL_VERTICES[start, 0]
    ay: float = SPIRAL_VERTICES[start, 1]
    bx: float = SPIRAL_VERTICES[start + 1, 0] - ax
    by: float = SPIRAL_VERTICES[start + 1, 1] - ay
    share = min(max(((x - ax) * bx + (y - ay) * by) / (bx * bx + by * by), 0.0), 1.0)
    return (x - ax - share * bx) ** 2 + (y - ay - share * by) ** 2
