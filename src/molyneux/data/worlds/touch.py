"""The sense of touch: the closed contour of a scene's object as a finger would follow it, as a sequence of contacts.

Sine, cosine and logarithm are those of the system's mathematical library, so the last bit of a number may differ from system to
system.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from molyneux.core import seeds
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.raster import (
    ELLIPSE_RATIO,
    HEART_CENTROID,
    HEART_HEIGHT,
    SHAPES,
    SPIRAL_GROWTH,
    SPIRAL_VERTICES,
    Figures,
)

CONTACTS = 64
"""Contacts in one contour."""

REACH = 0.1
"""Position error in scene units of a sensor of noise 1."""

_STRAIGHT = -1
"""Code, in place of a table's number, of the rectangle that a line is."""

STEPS = 8192
"""Points in the table of an outline."""

_FINE = 20_000
"""Points on a curved piece before it is cut into equal steps."""


def contours(figures: Figures, indices: np.ndarray, stream: np.ndarray, *, noise: float) -> np.ndarray:
    """Contours: 64 contacts, equally spaced along the object's border, clockwise, from a random start; (n, 64, 5) float32.

    Each contact has five numbers:

    - x, y: where it is in the scene (0..1 from the left and from the top of the picture). An object that the picture's
      border clips is felt whole, so values may lie outside 0..1.
    - cos, sin of the direction of travel on leaving the contact: the straight way to the next one, clockwise from the right.
    - turn: how far the finger turns there, in radians, -pi..pi, positive clockwise: the curvature times the step, which is
      finite at corners and sums to 2 pi over a closed curve without crossings. 0.098 everywhere on a circle.

    The line is its thick rectangle. The spiral's stroke is thinner than a finger, so it is followed along its middle, out
    and back. Colours, textures and backgrounds cannot be felt.

    Args:
        figures: n figures.
        indices: (n,) numbers of their scenes, which decide on start and noise.
        stream: key of the random numbers.
        noise: of the sensor: the standard deviation of the direction and of the turn in radians, and of each coordinate in
            tenths of the scene's side; 0.02 is an eighth of a pixel of a 64-pixel picture.
    """
    draws = seeds.uniforms(stream, indices, 1 + (4 * CONTACTS if noise else 0))
    exact = follow(figures, draws[:, 0], CONTACTS)
    if noise:
        disturb(exact, draws[:, 1:], noise)
    return exact.astype(np.float32)


def disturb(felt: np.ndarray, uniforms: np.ndarray, noise: float) -> None:
    """Add the errors of a sensor to contours (n, contacts, 5) in place, from uniform numbers (n, 4 * contacts)."""
    _disturb(felt, uniforms, noise, REACH * noise)


def traced(points: np.ndarray) -> np.ndarray:
    """Contours (n, contacts, 5) float64 of closed lines through contacts (n, contacts, 2), without sensor noise."""
    out = np.concatenate([points, np.empty((*points.shape[:2], 3))], 2)
    _travel(out)
    return out


def follow(figures: Figures, start: np.ndarray, contacts: int) -> np.ndarray:
    """Contours without sensor noise, (n, contacts, 5) float64; they begin at the share `start` of the border."""
    out = np.empty((len(figures), contacts, 5))
    tables = outlines()
    table = np.where(figures.shape == SHAPES.index("line"), _STRAIGHT, figures.shape)
    _place(table, figures.centre, figures.size, figures.rotation, figures.thickness, start, tables, out)
    _travel(out)
    return out


@compiled
def _place(
    which: np.ndarray,
    centre: np.ndarray,
    size: np.ndarray,
    rotation: np.ndarray,
    thickness: np.ndarray,
    start: np.ndarray,
    tables: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill in x and y."""
    contacts, steps = out.shape[1], tables.shape[1] - 1
    for row in range(len(which)):
        cos, sin = math.cos(rotation[row]), math.sin(rotation[row])
        for contact in range(contacts):
            share = (start[row] + contact / contacts) % 1.0
            if which[row] == _STRAIGHT:
                x, y = _rectangle(share, size[row] * math.sqrt(2.0), thickness[row])
            else:
                table = tables[which[row]]
                step = min(int(share * steps), steps - 1)
                rest = share * steps - step
                x = size[row] * (table[step, 0] + rest * (table[step + 1, 0] - table[step, 0]))
                y = size[row] * (table[step, 1] + rest * (table[step + 1, 1] - table[step, 1]))
            out[row, contact, 0] = centre[row, 0] + cos * x - sin * y
            out[row, contact, 1] = centre[row, 1] + sin * x + cos * y


@compiled
def _rectangle(share: float, length: float, width: float) -> tuple[float, float]:
    """The point at a share of the border of a rectangle that lies along the falling diagonal."""
    way = share * 2.0 * (length + width)
    if way < length:
        along, across = way - length / 2.0, -width / 2.0
    elif way < length + width:
        along, across = length / 2.0, way - length - width / 2.0
    elif way < 2.0 * length + width:
        along, across = 1.5 * length + width - way, width / 2.0
    else:
        along, across = -length / 2.0, 2.0 * length + 1.5 * width - way
    return (along - across) * math.sqrt(0.5), (along + across) * math.sqrt(0.5)


@compiled
def _travel(out: np.ndarray) -> None:
    """Fill in direction and turn from x and y."""
    contacts = out.shape[1]
    for row in range(len(out)):
        for contact in range(contacts):
            following = (contact + 1) % contacts
            dx = out[row, following, 0] - out[row, contact, 0]
            dy = out[row, following, 1] - out[row, contact, 1]
            length = math.sqrt(dx * dx + dy * dy)
            out[row, contact, 2], out[row, contact, 3] = (dx / length, dy / length) if length > 0.0 else (1.0, 0.0)
        for contact in range(contacts):
            before = (contact - 1) % contacts
            ax, ay = out[row, before, 2], out[row, before, 3]
            bx, by = out[row, contact, 2], out[row, contact, 3]
            out[row, contact, 4] = math.atan2(ax * by - ay * bx, ax * bx + ay * by)


@compiled
def _disturb(out: np.ndarray, uniforms: np.ndarray, angle: float, place: float) -> None:
    """Add normal errors (Box and Muller, 1958) to places, directions and turns."""
    for row in range(len(out)):
        for contact in range(out.shape[1]):
            first = 4 * contact
            a, b = _normals(uniforms[row, first], uniforms[row, first + 1])
            out[row, contact, 0] += place * a
            out[row, contact, 1] += place * b
            a, b = _normals(uniforms[row, first + 2], uniforms[row, first + 3])
            cos, sin = math.cos(angle * a), math.sin(angle * a)
            x, y = out[row, contact, 2], out[row, contact, 3]
            out[row, contact, 2], out[row, contact, 3] = cos * x - sin * y, sin * x + cos * y
            out[row, contact, 4] += angle * b


@compiled
def _normals(u: float, v: float) -> tuple[float, float]:
    radius = math.sqrt(-2.0 * math.log(1.0 - u))
    return radius * math.cos(2.0 * math.pi * v), radius * math.sin(2.0 * math.pi * v)


@cache
def outlines() -> np.ndarray:
    """Outlines of all shapes but the line, whose proportions vary, in the order of `SHAPES`; (shapes, STEPS + 1, 2) float64.

    An outline is a closed curve as points at equal steps along it, in the frame of `raster`: lengths in sizes of the figure, x
    right, y down, clockwise as seen in the picture. Its last point is its first.
    """
    return np.stack([np.zeros((STEPS + 1, 2)) if shape == "line" else _equal_steps(_curve(shape)) for shape in SHAPES])


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
