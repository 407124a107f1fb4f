"""Outlines of shapes that a world does not have: polygons, stars, waves, discs, ellipses, crosses, sectors, drawn from numbers.

An outline is given by its radii: the distance of the border from the centre in `DIRECTIONS` equally spaced directions,
clockwise from the right, scaled so that the area inside is 1.
"""

from __future__ import annotations

import numpy as np

DIRECTIONS = 256

NUMBERS = 16
"""Numbers of [0, 1) that an outline is made from."""

ANGLES = np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS)

_WAVES = np.arange(2, 6)

_ROUND, _OBLONG, _POLYGON, _STAR, _WAVY, _CROSS, _SEGMENT, _SOFT, _SLANTED, _SECTOR = range(10)
_KINDS = {
    True: (
        _ROUND,
        _OBLONG,
        _OBLONG,
        _OBLONG,
        _POLYGON,
        _STAR,
        _WAVY,
        _CROSS,
        _SEGMENT,
        _SOFT,
        _SLANTED,
        _SLANTED,
        _SECTOR,
        _SECTOR,
    ),
    False: (_OBLONG, _OBLONG, _POLYGON, _STAR, _WAVY, _CROSS, _SOFT, _SLANTED, _SECTOR),
}
"""Kinds of outlines, those twice that are drawn twice as often; with and without round ones."""


def outlines(numbers: np.ndarray, *, rounded: bool) -> np.ndarray:
    """Radii (n, DIRECTIONS) of outlines.

    They are ellipses, rectangles and diamonds whose axes differ by 20 % or more; regular polygons; stars with 3 to 7 points;
    wavy lines; crosses; rectangles with round corners; parallelograms and trapezoids; sectors of discs. For worlds without
    circles also discs, polygons of more than 5 corners and segments of discs, but no ellipses like those that such worlds have.

    Args:
        numbers: (n, NUMBERS) of [0, 1).
        rounded: whether the world has no circles and no parts of circles.
    """
    kinds = np.array(_KINDS[rounded])
    kind = kinds[(numbers[:, 0] * len(kinds)).astype(np.int64)]
    angle = ANGLES - 2 * np.pi * numbers[:, 1, None]
    corners = _corners(kind, numbers[:, 2], rounded)
    inner = np.where(kind == _STAR, 0.35 + 0.35 * numbers[:, 3], np.cos(np.pi / corners))
    found = np.where(
        np.isin(kind, (_POLYGON, _STAR))[:, None],
        _star(angle, corners, inner),
        np.where((kind == _WAVY)[:, None], _wavy(angle, numbers[:, 4:12]), _ellipse(angle, kind, numbers, rounded)),
    )
    found = np.where((kind == _CROSS)[:, None], cross(angle, 0.22 + 0.25 * numbers[:, 14]), found)
    found = np.where((kind == _SEGMENT)[:, None], _segment(angle, 0.6 * numbers[:, 14] - 0.3), found)
    found = np.where((kind == _SLANTED)[:, None], slanted(angle, numbers[:, 4:8]), found)
    found = np.where((kind == _SECTOR)[:, None], sector(angle, (75 if rounded else 80) + 85 * numbers[:, 14]), found)
    return of_area_1(found)


def _corners(kind: np.ndarray, number: np.ndarray, rounded: bool) -> np.ndarray:
    """Corners of polygons, points of stars, (n,); four corners would be a square."""
    choices = np.array([3, 3, 5, 6, 8] if rounded else [3, 3, 5])
    polygon = choices[(number * len(choices)).astype(np.int64)]
    return np.where(kind == _STAR, 3 + (number * 5).astype(np.int64), polygon)


def _star(angle: np.ndarray, points: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Radii of stars with points at distance 1 and dents at distance `inner` (n,) half-way between them."""
    half = (np.pi / points)[:, None]
    away = np.abs((angle + half) % (2 * half) - half)
    dent = inner[:, None]
    return np.asarray(dent * np.sin(half) / (dent * np.sin(half - away) + np.sin(away)))


def _wavy(angle: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Circles with four waves of drawn depths, (n, 8) numbers; 0.15 at least."""
    depth = 0.08 + 0.2 * numbers[:, None, :4]
    waves = depth * np.cos(angle[..., None] * _WAVES + 2 * np.pi * numbers[:, None, 4:])
    return np.asarray(np.maximum(1 + waves.sum(2), 0.15))


def cross(angle: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Radii of two crossed bars of length 2 and half width `width` (n,)."""
    half, x, y = width[:, None], np.abs(np.cos(angle)) + 1e-9, np.abs(np.sin(angle)) + 1e-9
    return np.asarray(np.maximum(np.minimum(1 / x, half / y), np.minimum(half / x, 1 / y)))


def _segment(angle: np.ndarray, chord: np.ndarray) -> np.ndarray:
    """Radii of what a chord (n,) above or below the middle leaves of a disc of radius 1, from a point near its centroid."""
    level, y = chord[:, None], np.sin(angle)
    place = level + 0.42 * (1 - level)
    across = place * y
    disc = np.sqrt(across**2 + 1 - place**2) - across
    return np.asarray(np.minimum(disc, np.where(y < -1e-9, (place - level) / np.maximum(-y, 1e-9), disc)))


def slanted(angle: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Radii of parallelograms and trapezoids whose sides lean by 12 to 37 degrees, from numbers (n, 4)."""
    lean = np.radians(12 + 25 * numbers[:, 0])
    other = np.where(numbers[:, 1] < 0.5, lean, -lean)
    normals = np.stack([np.zeros_like(lean), np.pi - other, 0.5 * np.pi + 0 * lean, -0.5 * np.pi + 0 * lean], 1)
    normals[:, 0] = lean
    half = 0.7 + 0.7 * numbers[:, 2]
    return _within(angle, normals, np.stack([half, half, np.ones_like(half), np.ones_like(half)], 1))


def sector(angle: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Radii of sectors of a disc of radius 1, angles (n,) in degrees around the right, from near their centroids."""
    half = np.radians(degrees / 2)[:, None]
    place = 2 * np.sin(half) / (3 * half)
    straight = _within(angle, np.concatenate([half + np.pi / 2, -half - np.pi / 2], 1), np.repeat(place * np.sin(half), 2, 1))
    along = place * np.cos(angle)
    return np.asarray(np.minimum(straight, np.sqrt(along**2 + 1 - place**2) - along))


def _within(angle: np.ndarray, normals: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Radii (n, directions) of what lies between lines, from their normals' directions and distances, (n, K) each."""
    ahead = np.cos(angle[:, :, None] - normals[:, None])
    return np.asarray(np.where(ahead > 1e-6, distances[:, None] / np.maximum(ahead, 1e-6), np.inf).min(2))


def _ellipse(angle: np.ndarray, kind: np.ndarray, numbers: np.ndarray, rounded: bool) -> np.ndarray:
    """Radii of |x / a|^p + |y / b|^p = 1: ellipses (p = 2), diamonds (1), rectangles (20), also round ones (3 to 6)."""
    share, soft = numbers[:, 12], kind == _SOFT
    powers = np.array([1.0, 2.0, 20.0])[(numbers[:, 13] * 3).astype(np.int64)]
    powers = np.where(soft, (2.7 if rounded else 4.2) + 1.8 * numbers[:, 13], powers)
    slim = np.where(share < 0.5, 1.0 + 0.9 * share, 1.2 + 1.8 * share)  # 1 to 1.45, and 2.1 to 3; the ellipse of worlds has 1.77
    oblong = np.where(powers != 2.0, 1.18 + 2.0 * share**2, slim if rounded else 1.25 + share)
    ratio = np.select([kind == _ROUND, soft], [1 + 0.3 * share**2, 1 + share], oblong)[:, None]
    power = np.where(kind == _ROUND, 2.0, powers)[:, None]
    return superellipse(angle, ratio, power)


def superellipse(angle: np.ndarray, ratio: np.ndarray | float, power: np.ndarray | float) -> np.ndarray:
    """Radii of |x / a|^p + |y / b|^p = 1 with a / b = `ratio` and p = `power`."""
    x, y = np.abs(np.cos(angle)) / np.sqrt(ratio), np.abs(np.sin(angle)) * np.sqrt(ratio)
    return np.asarray((x**power + y**power) ** (-1 / power))


def of_area_1(radii: np.ndarray) -> np.ndarray:
    """Radii (n, DIRECTIONS) scaled so that the area inside is 1."""
    area = 0.5 * (radii**2).mean(1, keepdims=True) * 2 * np.pi
    return np.asarray(radii / np.sqrt(area))


def inside(radii: np.ndarray, centre: np.ndarray, area: np.ndarray, side: int) -> np.ndarray:
    """Which pixels lie inside of outlines, (n, side, side) bool.

    Args:
        radii: (n, DIRECTIONS) of outlines of area 1.
        centre: (n, 2) x and y in pixels.
        area: (n,) in square pixels.
        side: of the pictures in pixels.
    """
    middle = np.arange(side) + 0.5
    x, y = middle - centre[:, 0, None, None], (middle - centre[:, 1, None])[:, :, None]
    place = np.arctan2(y, x) % (2 * np.pi) * (DIRECTIONS / (2 * np.pi))
    first = place.astype(np.int64) % DIRECTIONS
    rows = np.arange(len(radii))[:, None, None]
    here, there = radii[rows, first], radii[rows, (first + 1) % DIRECTIONS]
    limit = (here + (place % 1.0) * (there - here)) * np.sqrt(area)[:, None, None]
    return np.asarray(np.hypot(x, y) <= limit)


def along(radii: np.ndarray, start: np.ndarray, points: int) -> np.ndarray:
    """Points at equal steps along outlines, clockwise, (n, points, 2).

    Args:
        radii: (n, DIRECTIONS).
        start: (n,) of [0, 1): the share of the outline that lies before the first point.
        points: how many.
    """
    closed = np.concatenate([radii, radii[:, :1]], 1)
    angle = np.append(ANGLES, 0.0)
    curve = np.stack([closed * np.cos(angle), closed * np.sin(angle)], 2)
    steps = np.hypot(*np.moveaxis(np.diff(curve, axis=1), 2, 0))
    travelled = np.concatenate([np.zeros((len(radii), 1)), steps.cumsum(1)], 1)
    wanted = (start[:, None] + np.arange(points) / points) % 1.0 * travelled[:, -1:]
    before = (travelled[:, None, 1:-1] <= wanted[:, :, None]).sum(2)
    rows = np.arange(len(radii))[:, None]
    share = (wanted - travelled[rows, before]) / np.maximum(steps[rows, before], 1e-12)
    return np.asarray(curve[rows, before] + share[..., None] * (curve[rows, before + 1] - curve[rows, before]))


def wrong() -> dict[str, np.ndarray]:
    """By name, the radii (DIRECTIONS,) of shapes that no world has, of area 1."""
    angle, one = ANGLES[None], np.ones(1)
    found = {
        **{f"rectangle {ratio}": superellipse(angle, ratio, 24.0) for ratio in (1.22, 1.45, 1.8)},
        **{f"rhombus {ratio}": superellipse(angle, ratio, 1.0) for ratio in (1.25, 1.6, 2.2)},
        **{f"cross {width}": cross(angle, width * one) for width in (0.28, 0.4)},
        **{f"sector {degrees}": sector(angle, degrees * one) for degrees in (90, 130, 180)},
        "parallelogram": slanted(angle, np.array([[0.4, 0.0, 0.4, 0.0]])),
        "long parallelogram": slanted(angle, np.array([[0.7, 0.0, 0.85, 0.0]])),
        "trapezoid": slanted(angle, np.array([[0.4, 1.0, 0.4, 0.0]])),
        "upright trapezoid": slanted(angle, np.array([[0.1, 1.0, 0.25, 0.0]])),
        "hexagon": _star(angle, np.array([6]), np.array([np.cos(np.pi / 6)])),
        "triangle": _star(angle, np.array([3]), np.array([0.5])),
    }
    return {name: of_area_1(radii)[0] for name, radii in found.items()}
