"""Outlines of the rasteriser's shapes: closed curves, as tables of points equally spaced along them.

Outlines are in the frame of `raster`: lengths in sizes of the figure, x right, y down, and run clockwise as seen in the picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from molyneux.data.worlds.raster import (
    ELLIPSE_RATIO,
    HEART_CENTROID,
    HEART_HEIGHT,
    SHAPES,
    SPIRAL_GROWTH,
    SPIRAL_VERTICES,
)

STEPS = 8192
"""Points in the table of an outline."""

_FINE = 20_000
"""Points on a curved piece before it is cut into equal steps."""


@cache
def outlines() -> tuple[np.ndarray, np.ndarray]:
    """Tables of all shapes but the line, whose proportions vary, in the order of `SHAPES`.

    Returns:
        points: (shapes, STEPS + 1, 2) float64, the last point being the first.
        lengths: (shapes,) float64 lengths of the curves.
    """
    tables = [np.zeros((STEPS + 1, 2)) if shape == "line" else _equal_steps(_curve(shape)) for shape in SHAPES]
    lengths = [np.hypot(*np.diff(table, axis=0).T).sum() for table in tables]
    return np.stack(tables), np.array(lengths)


def _curve(shape: str) -> np.ndarray:
    """A closed curve as a polygon that is dense where it bends, (n, 2)."""
    corner = 0.5 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    curves: dict[str, Callable[[], np.ndarray]] = {
        "square": lambda: corner,
        "ellipse": lambda: _arc(0.0, 360.0, 0.5) * (ELLIPSE_RATIO, 1.0),
        "heart": _heart,
        "circle": lambda: _arc(0.0, 360.0, 0.5),
        "semicircle": lambda: _arc(50.0, 270.0, 0.5),
        "pieslice": lambda: np.concatenate([np.full((1, 2), 0.5), _arc(200.0, 250.0, 1.0, (0.5, 0.5))]),
        "spiral": lambda: SPIRAL_GROWTH * np.concatenate([SPIRAL_VERTICES, SPIRAL_VERTICES[-2:0:-1]]),
    }
    points = curves[shape]()
    return np.concatenate([points, points[:1]])


def _heart() -> np.ndarray:
    """Tip, left half disc, crease, right half disc; in the unit of `raster`: tip (0, 0), crease (0, 1), y up, then turned."""
    radius = math.sqrt(0.125)
    left, right = _arc(135.0, 315.0, radius, (-0.25, -0.75)), _arc(225.0, 405.0, radius, (0.25, -0.75))
    points = np.concatenate([np.zeros((1, 2)), left, right])
    points[:, 1] += HEART_CENTROID
    return HEART_HEIGHT * points


def _arc(start: float, end: float, radius: float, centre: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
    """Points on a circle between two angles in degrees, clockwise from the right."""
    angle = np.radians(np.linspace(start, end, _FINE))
    return np.stack([centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle)], 1)


def _equal_steps(curve: np.ndarray) -> np.ndarray:
    """A polygon cut into `STEPS` steps of equal length along it."""
    travelled = np.concatenate([[0.0], np.hypot(*np.diff(curve, axis=0).T).cumsum()])
    wanted = np.linspace(0.0, travelled[-1], STEPS + 1)
    return np.stack([np.interp(wanted, travelled, curve[:, axis]) for axis in (0, 1)], 1)
