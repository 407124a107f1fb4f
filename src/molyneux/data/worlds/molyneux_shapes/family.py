"""A continuous family of closed curves: polygons and stars with round corners, waves, a long axis and a thin end.

A curve is made from `NUMBERS` numbers of [0, 1), so that the family can be sampled without end. In polar coordinates,

1. a star with `corners` tips at radius 1 and dents half-way between them at a radius from that of the regular polygon
   (`concavity` 0) to 0.42 (1);
2. smoothed twice by a moving average, whose half width is a share of half of the angle between tip and tip: 0.06 of it at
   `sharpness` 1, 0.86 at 0;
3. multiplied by 1 + `depth` cos(`lobes` angle + phase);
4. stretched by `elongation` along an axis;
5. mapped by p -> p / (1 - `asymmetry` u.p) for a direction u, which makes one end larger than the other.

Each step keeps straight rays from the middle, so a curve is star-shaped. It is moved to its centroid, scaled to the area pi
(that of a disc of radius 1), and cut into `POINTS` steps of equal length. Sine, cosine and square root are those of the system's
mathematical library, as for the other worlds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from molyneux.core import seeds
from molyneux.core.tooling.compiled import compiled

NUMBERS = 10
"""Numbers of [0, 1) that a curve is made from."""

POINTS = 256
"""Points of a curve, at equal steps along it."""

CORNERS = (3, 4, 5, 6, 7)
LOBES = (0, 2, 3, 4, 5)
"""How many corners and lobes a curve can have, equally likely."""

MOST_DEPTH, LEAST_DEPTH, MOST_ELONGATION, MOST_ASYMMETRY, DENT = 0.30, 0.08, 2.0, 0.45, 0.42
"""Largest and smallest depth of lobes, largest elongation and asymmetry, and the radius of the deepest dents."""

NEAR, FAR = 0.35, 2.0
"""Smallest and largest distance of the points of a curve that is taken from its centroid."""

_FINE = 1024
_ROUND, _SHARP = 0.86, 0.06


class CurveParameters(NamedTuple):
    """What curves are like, one row each; see the module.

    Args:
        corners: (n,) int64 how many.
        lobes: (n,) int64 how many; 0 for none.
        sharpness: (n,) 0..1.
        concavity: (n,) 0..1.
        depth: (n,) of the lobes, 0 where there are none.
        phase: (n,) of the lobes, radians.
        elongation: (n,) ratio of the axes of the stretch.
        axis: (n,) of the stretch, radians.
        asymmetry: (n,) 0..`MOST_ASYMMETRY`.
        end: (n,) direction of the larger end, radians.
    """

    corners: np.ndarray
    lobes: np.ndarray
    sharpness: np.ndarray
    concavity: np.ndarray
    depth: np.ndarray
    phase: np.ndarray
    elongation: np.ndarray
    axis: np.ndarray
    asymmetry: np.ndarray
    end: np.ndarray


def candidates(numbers: np.ndarray) -> np.ndarray:
    """The numbers (n, `NUMBERS`) of these members of the family; candidates come in one endless row, always the same."""
    return seeds.uniforms(seeds.key(0, "molyneux-v1", "shapes"), numbers, NUMBERS)


def parameters(numbers: np.ndarray) -> CurveParameters:
    """What the curves of some numbers (n, `NUMBERS`) are like."""
    corners = np.array(CORNERS)[(numbers[:, 0] * len(CORNERS)).astype(np.int64)]
    lobes = np.array(LOBES)[(numbers[:, 3] * len(LOBES)).astype(np.int64)]
    depth = np.where(lobes > 0, LEAST_DEPTH + (MOST_DEPTH - LEAST_DEPTH) * numbers[:, 4], 0.0)
    return CurveParameters(
        corners=corners,
        lobes=lobes,
        sharpness=numbers[:, 1],
        concavity=numbers[:, 2],
        depth=depth,
        phase=2.0 * math.pi * numbers[:, 5],
        elongation=1.0 + (MOST_ELONGATION - 1.0) * numbers[:, 6],
        axis=math.pi * numbers[:, 7],
        asymmetry=MOST_ASYMMETRY * numbers[:, 8],
        end=2.0 * math.pi * numbers[:, 9],
    )


def curves(numbers: np.ndarray) -> np.ndarray:
    """The points (n, `POINTS`, 2) of curves, clockwise as seen in a picture (x right, y down), around their centroid."""
    out = np.empty((len(numbers), POINTS, 2))
    _trace(*parameters(numbers), out)
    return out


def is_plain(points: np.ndarray) -> np.ndarray:
    """Whether curves (n, `POINTS`, 2) are star-shaped around their centroid, and nowhere too thin or too long, (n,) bool."""
    after = np.roll(points, -1, 1)
    turns = points[..., 0] * after[..., 1] - points[..., 1] * after[..., 0]
    away = np.sqrt((points**2).sum(2))
    return np.asarray((turns > 0).all(1) & (away.min(1) >= NEAR) & (away.max(1) <= FAR))


@compiled
def _trace(
    corners: np.ndarray,
    lobes: np.ndarray,
    sharpness: np.ndarray,
    concavity: np.ndarray,
    depth: np.ndarray,
    phase: np.ndarray,
    elongation: np.ndarray,
    axis: np.ndarray,
    asymmetry: np.ndarray,
    end: np.ndarray,
    out: np.ndarray,
) -> None:
    radii, smooth = np.empty(_FINE), np.empty(_FINE)
    x, y, travelled = np.empty(_FINE + 1), np.empty(_FINE + 1), np.empty(_FINE + 1)
    step = 2.0 * math.pi / _FINE
    for row in range(len(corners)):
        half = math.pi / corners[row]
        dent = math.cos(half) * (1.0 - concavity[row]) + DENT * concavity[row]
        for i in range(_FINE):
            away = abs((i * step + half) % (2.0 * half) - half)
            radii[i] = dent * math.sin(half) / (dent * math.sin(half - away) + math.sin(away))
        reach = int((_SHARP + (_ROUND - _SHARP) * (1.0 - sharpness[row])) * half / step)
        for _ in range(2):
            total = 0.0
            for i in range(-reach - 1, reach):
                total += radii[i % _FINE]
            for i in range(_FINE):
                total += radii[(i + reach) % _FINE] - radii[(i - reach - 1) % _FINE]
                smooth[i] = total / (2 * reach + 1)
            for i in range(_FINE):
                radii[i] = smooth[i]
        long, cos, sin = math.sqrt(elongation[row]), math.cos(axis[row]), math.sin(axis[row])
        toward, across = math.cos(end[row]), math.sin(end[row])
        for i in range(_FINE):
            radius = radii[i] * (1.0 + depth[row] * math.cos(lobes[row] * i * step + phase[row]))
            u, v = radius * math.cos(i * step), radius * math.sin(i * step)
            along, aside = (cos * u + sin * v) * long, (cos * v - sin * u) / long
            u, v = cos * along - sin * aside, sin * along + cos * aside
            share = 1.0 - asymmetry[row] * (toward * u + across * v)
            share = max(share, 0.1)
            x[i], y[i] = u / share, v / share
        x[_FINE], y[_FINE] = x[0], y[0]
        area, middle_x, middle_y = 0.0, 0.0, 0.0
        for i in range(_FINE):
            turn = x[i] * y[i + 1] - y[i] * x[i + 1]
            area += turn / 2.0
            middle_x += (x[i] + x[i + 1]) * turn / 6.0
            middle_y += (y[i] + y[i + 1]) * turn / 6.0
        scale = math.sqrt(math.pi / area)
        travelled[0] = 0.0
        for i in range(_FINE + 1):
            x[i], y[i] = (x[i] - middle_x / area) * scale, (y[i] - middle_y / area) * scale
            if i > 0:
                travelled[i] = travelled[i - 1] + math.sqrt((x[i] - x[i - 1]) ** 2 + (y[i] - y[i - 1]) ** 2)
        _cut(x, y, travelled, out[row])


@compiled
def _cut(x: np.ndarray, y: np.ndarray, travelled: np.ndarray, out: np.ndarray) -> None:
    """Points (points, 2) at equal steps along a closed line, of which the way to each point is known."""
    place, whole = 0, travelled[len(travelled) - 1]
    for point in range(len(out)):
        wanted = whole * point / len(out)
        while travelled[place + 1] <= wanted:
            place += 1
        rest = (wanted - travelled[place]) / (travelled[place + 1] - travelled[place])
        out[point, 0] = x[place] + rest * (x[place + 1] - x[place])
        out[point, 1] = y[place] + rest * (y[place + 1] - y[place])
