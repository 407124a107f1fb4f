"""Lines that a person draws, as points or as SVG paths, become contours as a finger feels them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from molyneux.core import ConvertedViews, DataError, Modality, views_of
from molyneux.core.conversion.given import as_array, is_array, require_finite
from molyneux.data.worlds.touch import traced

MOST_POINTS = 100_000
"""Of one line."""

MOST_TEXT = 1_000_000
"""Characters of an SVG path."""

_CURVE_STEPS = 24
"""Points on each curve of an SVG path."""

_TOKEN = re.compile(r"([MmLlHhVvCcSsQqTtZz])|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|([^\s,])")
"""A command, a number, or a sign that is neither."""

_NUMBERS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "Z": 0}
"""How many numbers each command of a path takes."""


def contour_view(modality: Modality, contour: Any, *, side: float) -> ConvertedViews:
    """The contour (1, contacts, 5) of a closed line, without sensor noise; see `core.TracesContours`.

    The line is closed, followed clockwise from its first point, and cut into equal steps. Of several parts of a path, the
    longest is followed.

    Args:
        modality: of touch, a series of contacts.
        contour: points (n, 2) or an SVG path.
        side: of the square drawing, in the unit of the points.

    Raises:
        DataError: no path, arcs in a path, fewer than three points, numbers that are not finite, or a line without length.
    """
    at = f"modality {modality.name}"
    if not isinstance(side, int | float) or not 0 < side < float("inf"):
        raise DataError(f"{at}: expected the side of the drawing as a number above 0, got {side!r}")
    points = _longest(path_points(contour, at)) if isinstance(contour, str) else _given(contour, at)
    points = points / side
    if len(points) > 1 and (points[0] == points[-1]).all():
        points = points[:-1]
    if not 3 <= len(points) <= MOST_POINTS:
        raise DataError(f"{at}: expected a line of 3 to {MOST_POINTS:,} points, got {len(points):,}: draw a closed line")
    places = _equal_steps(points, modality.shape[0])
    if places is None:
        raise DataError(f"{at}: expected a line of some length, got the same point {len(points):,} times: draw a closed line")
    notes = (
        () if points.min() >= -0.5 and points.max() <= 1.5 else ("the line leaves the picture: set side to that of the drawing",)
    )
    return ConvertedViews(views_of(modality, traced(places[None])).view, notes=notes)


def _given(contour: object, at: str) -> np.ndarray:
    if not is_array(contour) and not isinstance(contour, list | tuple):
        raise DataError(f"{at}: expected points (n, 2) or the text of an SVG path, got a {type(contour).__name__}")
    points = as_array(contour, at)
    if points.ndim != 2 or points.shape[1] != 2:
        raise DataError(f"{at}: expected points (n, 2), got shape {points.shape}: give x and y of each point")
    require_finite(points, at)
    return points.astype(np.float64)


def _equal_steps(points: np.ndarray, count: int) -> np.ndarray | None:
    """Points (count, 2) at equal steps along a closed line, clockwise as seen where y is down; None for one without length."""
    x, y = points.T
    following = np.roll(points, -1, 0)
    if float((x * following[:, 1] - following[:, 0] * y).sum()) < 0:
        points = np.concatenate([points[:1], points[:0:-1]])
    closed = np.concatenate([points, points[:1]])
    travelled = np.concatenate([[0.0], np.hypot(*np.diff(closed, axis=0).T).cumsum()])
    if not travelled[-1] > 0:
        return None
    wanted = travelled[-1] * np.arange(count) / count
    return np.stack([np.interp(wanted, travelled, closed[:, axis]) for axis in (0, 1)], 1)


def _longest(parts: Sequence[np.ndarray]) -> np.ndarray:
    return max(parts, key=lambda points: float(np.hypot(*np.diff(points, axis=0).T).sum()))


def path_points(path: str, at: str = "SVG path") -> list[np.ndarray]:
    """The points (n, 2) of each part of an SVG path; curves are cut into straight steps.

    >>> path_points("M0 0h2v1z")[0].tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 0.0]]

    Raises:
        DataError: another command than M, L, H, V, C, S, Q, T and Z, numbers missing, or no line.
    """
    if len(path) > MOST_TEXT:
        raise DataError(f"{at}: expected a path of at most {MOST_TEXT:,} characters, got {len(path):,}: draw fewer points")
    parts = list[list[np.ndarray]]()
    here = start = control = np.zeros(2)
    before = ""
    for letter, numbers in _commands(path, at):
        name, origin = letter.upper(), np.zeros(2) if letter.isupper() else here
        if name in "HV":
            ends = here.copy()
            ends["HV".index(name)] = numbers[0] + origin["HV".index(name)]
            pairs = ends[None]
        else:
            pairs = start[None] if name == "Z" else np.array(numbers).reshape(-1, 2) + origin
        if name == "M":
            parts.append([])
            start = pairs[0]
        if name in "ST":
            smooth = before in ("CS" if name == "S" else "QT")
            pairs = np.concatenate([(2 * here - control if smooth else here)[None], pairs])
        curved = len(pairs) > 1
        parts[-1].extend(_curve(np.concatenate([here[None], pairs])) if curved else pairs)
        control, here, before = pairs[-2] if curved else pairs[-1], pairs[-1], name
    found = [np.array(part) for part in parts if len(part) > 1]
    if not found:
        raise DataError(f"{at}: expected an SVG path such as 'M 10 10 L 50 10 L 30 40 Z', got one without a line: draw one")
    return found


def _curve(controls: np.ndarray) -> np.ndarray:
    """Points on a Bezier curve of control points (n, 2), without the first one."""
    share = (np.arange(1, _CURVE_STEPS + 1) / _CURVE_STEPS)[:, None, None]
    points = np.repeat(controls[None], _CURVE_STEPS, 0)
    while points.shape[1] > 1:
        points = points[:, :-1] * (1 - share) + points[:, 1:] * share
    return points[:, 0]


def _commands(path: str, at: str) -> Iterator[tuple[str, list[float]]]:
    """Each command of a path with the numbers that it takes once; what follows the first pair of M are lines."""
    found = list[tuple[str, list[float]]]()
    for name, number, wrong in _TOKEN.findall(path):
        if wrong or (number and not found):
            raise DataError(f"{at}: expected the commands M, L, H, V, C, S, Q, T and Z of an SVG path, got {wrong or number!r}")
        if name:
            found.append((name, []))
        else:
            found[-1][1].append(float(number))
    if found and found[0][0] not in "Mm":
        raise DataError(f"{at}: expected an SVG path that begins with M, got {found[0][0]!r}: correct the path")
    for name, numbers in found:
        need = _NUMBERS[name.upper()]
        if bool(numbers) != bool(need) or (need and len(numbers) % need) or not all(map(math.isfinite, numbers)):
            raise DataError(
                f"{at}: expected {need} finite numbers after {name} in an SVG path, got {len(numbers)}: correct the path"
            )
        for place in range(0, len(numbers) or 1, need or 1):
            again = {"M": "L", "m": "l"}.get(name, name) if place else name
            yield again, numbers[place : place + need]
