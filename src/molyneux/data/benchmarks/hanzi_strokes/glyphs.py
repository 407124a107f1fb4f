"""Characters as the files have them: outlines of strokes, and the path of the pen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from molyneux.core import DataError

OUTLINE = 32
"""Points of the outline of a stroke."""

MOMENTS = 256
"""Places of the path of a pen."""

FEWEST, MOST = 4, 20
"""Strokes of a character."""

_EM, _MIDDLE = 1024.0, (512.0, 388.0)
"""Units of the files in the side of a character, and the middle of its square, in which y points up."""

_NUMBERS = {"M": 2, "L": 2, "Q": 4, "C": 6, "Z": 0}
"""Numbers of each command of a path."""

_LIFTED = 0.5
"""How long a lifted pen takes for a way that takes one that writes the time 1."""

_ROUNDED = 1 << 16
"""Places are rounded to this part of the side, so that their last bits do not depend on the processor."""


@dataclass(frozen=True)
class Glyphs:
    """N characters. Places are in sides of a character from its middle; x points right, y points down.

    Args:
        signs: (N,) the characters.
        counts: (N,) their strokes.
        outlines: (N, P, 2) one polygon each, which covers what the strokes cover; it ends in repeats of its last point.
        feet: (N, P, 2) the place of the pen that is nearest to each point of the outline.
        paths: (N, MOMENTS, 3) x and y of the pen at equal times, and 1 where it writes, 0 where it is lifted.
    """

    signs: tuple[str, ...]
    counts: np.ndarray
    outlines: np.ndarray
    feet: np.ndarray
    paths: np.ndarray

    def __getitem__(self, index: np.ndarray) -> Glyphs:
        """The characters at `index`."""
        signs = tuple(self.signs[place] for place in index.tolist())
        return Glyphs(signs, self.counts[index], self.outlines[index], self.feet[index], self.paths[index])


def glyphs(signs: Sequence[str], strokes: Sequence[Sequence[str]], medians: Sequence[Sequence[np.ndarray]]) -> Glyphs:
    """Characters from the outlines of their strokes and the ways of the pen along them.

    Args:
        signs: (N,) the characters.
        strokes: by character the outline of each stroke, a path of SVG with the commands M, L, Q, C and Z.
        medians: by character, for each stroke the places of the pen (points, 2), in the order of writing.

    Raises:
        DataError: a path that is none; names it.
    """
    points = MOST * (OUTLINE + 2)
    outlines, feet = np.empty((len(signs), points, 2)), np.empty((len(signs), points, 2))
    paths = np.empty((len(signs), MOMENTS, 3))
    for row, (shapes, ways) in enumerate(zip(strokes, medians, strict=True)):
        loops = [_clockwise(_even(_corners(shape, signs[row]), OUTLINE)) for shape in shapes]
        places = [_placed(way) for way in ways]
        near = [_nearest(loop, way) for loop, way in zip(loops, places, strict=True)]
        for target, parts in ((outlines, loops), (feet, near)):
            whole = _one_polygon(parts)
            target[row, : len(whole)], target[row, len(whole) :] = whole, whole[-1]
        paths[row] = _path(places)
    return Glyphs(
        tuple(signs),
        np.array([len(ways) for ways in medians]),
        _round(outlines),
        _round(feet),
        np.stack([*np.moveaxis(_round(paths[..., :2]), -1, 0), paths[..., 2]], -1),
    )


def _corners(path: str, sign: str) -> np.ndarray:
    """The corners (n, 2) of a path of SVG, whose curves are cut into two or three straight lines."""
    words, points, place = path.replace(",", " ").split(), list[np.ndarray](), 0
    while place < len(words):
        command = words[place]
        count = _NUMBERS.get(command, -1)
        numbers = words[place + 1 : place + 1 + count]
        place += 1 + count
        try:
            given = np.array([float(number) for number in numbers]).reshape(-1, 2)
        except ValueError:
            count = -1
        if count < 0 or len(numbers) < count or (not points and command != "M"):
            raise DataError(f"{sign}: expected a path of the commands M, L, Q, C and Z with their numbers, got {path[:60]!r}")
        if command == "Q":
            points += [0.25 * points[-1] + 0.5 * given[0] + 0.25 * given[1], given[1]]
        elif command == "C":
            first = points[-1]
            points += [
                (1 - t) ** 3 * first + 3 * t * (1 - t) ** 2 * given[0] + 3 * t * t * (1 - t) * given[1] + t**3 * given[2]
                for t in (1 / 3, 2 / 3, 1.0)
            ]
        elif count:
            points.append(given[0])
    if len(points) < 3:
        raise DataError(f"{sign}: expected an outline of at least three corners, got {path[:60]!r}")
    return _placed(np.array(points))


def _placed(points: np.ndarray) -> np.ndarray:
    """Places (n, 2) of the files in sides of a character from its middle, y down."""
    return np.asarray((points - _MIDDLE) / (_EM, -_EM))


def _even(corners: np.ndarray, count: int) -> np.ndarray:
    """`count` points at equal ways around a closed polygon."""
    loop = np.concatenate([corners, corners[:1]])
    ways = np.concatenate([[0.0], np.cumsum(np.sqrt((np.diff(loop, axis=0) ** 2).sum(1)))])
    wanted = ways[-1] * np.arange(count) / count
    return np.stack([np.interp(wanted, ways, loop[:, axis]) for axis in (0, 1)], 1)


def _clockwise(loop: np.ndarray) -> np.ndarray:
    after = np.roll(loop, -1, 0)
    area = (loop[:, 0] * after[:, 1] - loop[:, 1] * after[:, 0]).sum()
    return loop if area >= 0 else loop[::-1]


def _nearest(points: np.ndarray, way: np.ndarray) -> np.ndarray:
    """The nearest places (n, 2) on a way (m, 2) of straight lines."""
    if len(way) < 2:
        return np.repeat(way, len(points), 0)
    start, step = way[:-1], np.diff(way, axis=0)
    length = np.maximum((step**2).sum(1), 1e-12)
    share = (((points[:, None] - start) * step).sum(2) / length).clip(0.0, 1.0)
    feet = start + share[..., None] * step
    best = ((points[:, None] - feet) ** 2).sum(2).argmin(1)
    return np.asarray(feet[np.arange(len(points)), best])


def _one_polygon(loops: Sequence[np.ndarray]) -> np.ndarray:
    """Closed loops as one polygon: what leads from one to the next is gone back the same way, and so covers nothing."""
    there = [np.concatenate([loop, loop[:1]]) for loop in loops]
    back = [loop[:1] for loop in loops[-2::-1]] if len(loops) > 1 else []
    return np.concatenate([*there, *back])


def _path(ways: Sequence[np.ndarray]) -> np.ndarray:
    """The pen at equal times (MOMENTS, 3): along each way, and lifted from its end to the beginning of the next one."""
    points = np.concatenate(ways)
    writes = np.ones(len(points) - 1, bool)
    writes[np.cumsum([len(way) for way in ways])[:-1] - 1] = False
    lengths = np.sqrt((np.diff(points, axis=0) ** 2).sum(1)) * np.where(writes, 1.0, _LIFTED)
    times = np.concatenate([[0.0], np.cumsum(lengths)])
    wanted = times[-1] * np.arange(MOMENTS) / (MOMENTS - 1)
    line = np.clip(np.searchsorted(times, wanted, "right") - 1, 0, len(writes) - 1)
    return np.stack([*(np.interp(wanted, times, points[:, axis]) for axis in (0, 1)), writes[line].astype(np.float64)], 1)


def _round(places: np.ndarray) -> np.ndarray:
    return np.asarray((places * _ROUNDED).round() / _ROUNDED)
