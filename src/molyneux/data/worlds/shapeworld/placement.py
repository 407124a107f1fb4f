"""Where entities of a scene may lie: inside of it, and over others by no more than a share; and the order of drawing."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from molyneux.core.compiled import compiled
from molyneux.data.worlds.shapeworld.geometry import distance, half_extents
from molyneux.data.worlds.shapeworld.scenes import AREAS

_GRID = 64
"""Points on a side at which the overlap of two entities is counted."""

_SHADE_DIFFERENCE = 0.5
"""Entities of one colour may overlap if their shades differ by as much."""

_AREAS = np.array(AREAS)


class Rows(NamedTuple):
    """The arrays of `Scenes`."""

    present: np.ndarray
    shape: np.ndarray
    colour: np.ndarray
    centre: np.ndarray
    size: np.ndarray
    distortion: np.ndarray
    rotation: np.ndarray
    shade: np.ndarray
    overlap: np.ndarray


@compiled
def box(row: int, e: int, rows: Rows) -> tuple[float, float]:
    """Half the width and height of the box around an entity as it is rotated."""
    width, height = _extents(row, e, rows)
    cos, sin = abs(math.cos(2 * math.pi * rows.rotation[row, e])), abs(math.sin(2 * math.pi * rows.rotation[row, e]))
    return cos * width + sin * height, sin * width + cos * height


@compiled
def fits(row: int, e: int, rows: Rows, overlap: float, outside: float) -> bool:
    """Whether an entity lies inside the scene and does not overlap others by more than it may; fills in its overlaps."""
    width, height = box(row, e, rows)
    x, y = rows.centre[row, e, 0], rows.centre[row, e, 1]
    beyond = x < width or y < height or x > 1 - width or y > 1 - height
    if beyond and (outside <= 0 or _outside(row, e, rows) > outside):
        return False
    together, free = 0.0, overlap <= 0
    own = _AREAS[rows.shape[row, e]] * rows.size[row, e] ** 2 / rows.distortion[row, e]
    for o in range(e):
        other = _AREAS[rows.shape[row, o]] * rows.size[row, o] ** 2 / rows.distortion[row, o]
        alike = rows.colour[row, e] == rows.colour[row, o]
        alike = free or (alike and abs(rows.shade[row, e] - rows.shade[row, o]) < _SHADE_DIFFERENCE)
        common = _common(row, e, o, rows, 0.5 / _GRID if free else 0.0, alike)
        if common > 0 and alike:
            return False
        share, covered = min(1.0, common / own), min(1.0, common / other)
        rows.overlap[row, e, o], rows.overlap[row, o, e] = share, covered
        together += share
        others = covered
        for p in range(e):
            others += rows.overlap[row, o, p]
        if min(share, covered) > overlap or (common > 0 and max(together, others) > overlap):
            return False
    return True


@compiled
def _outside(row: int, e: int, rows: Rows) -> float:
    """Share of an entity that lies outside of the scene, by points of a grid."""
    width, height = _extents(row, e, rows)
    reach_x, reach_y = box(row, e, rows)
    cos, sin = math.cos(2 * math.pi * rows.rotation[row, e]), math.sin(2 * math.pi * rows.rotation[row, e])
    own, beyond = 0, 0
    for i in range(-int(reach_y * _GRID) - 1, int(reach_y * _GRID) + 2):
        for j in range(-int(reach_x * _GRID) - 1, int(reach_x * _GRID) + 2):
            x, y = j / _GRID, i / _GRID
            if distance(rows.shape[row, e], cos * x + sin * y, cos * y - sin * x, width, height) <= 0:
                own += 1
                px, py = rows.centre[row, e, 0] + x, rows.centre[row, e, 1] + y
                beyond += px < 0 or py < 0 or px > 1 or py > 1
    return beyond / max(own, 1)


@compiled
def _common(row: int, e: int, o: int, rows: Rows, margin: float, any_is_enough: bool) -> float:
    """Area that two entities have in common, by points of a grid; each is `margin` larger all around.

    Args:
        row: of the scene.
        e: one entity.
        o: another.
        rows: the scenes.
        margin: in sides of the scene.
        any_is_enough: whether to stop at the first point.
    """
    (width, height), (box_x, box_y) = _extents(row, e, rows), box(row, e, rows)
    (there_w, there_h), (there_x, there_y) = _extents(row, o, rows), box(row, o, rows)
    (ax, ay), (bx, by) = rows.centre[row, e], rows.centre[row, o]
    left, right = max(ax - box_x, bx - there_x) - margin, min(ax + box_x, bx + there_x) + margin
    top, bottom = max(ay - box_y, by - there_y) - margin, min(ay + box_y, by + there_y) + margin
    if left > right or top > bottom:
        return 0.0
    cos, sin = math.cos(2 * math.pi * rows.rotation[row, e]), math.sin(2 * math.pi * rows.rotation[row, e])
    turn_cos, turn_sin = math.cos(2 * math.pi * rows.rotation[row, o]), math.sin(2 * math.pi * rows.rotation[row, o])
    shape, there, common = rows.shape[row, e], rows.shape[row, o], 0
    for i in range(math.ceil(top * _GRID), math.floor(bottom * _GRID) + 1):
        for j in range(math.ceil(left * _GRID), math.floor(right * _GRID) + 1):
            x, y = j / _GRID - ax, i / _GRID - ay
            if distance(shape, cos * x + sin * y, cos * y - sin * x, width, height) > margin:
                continue
            x, y = j / _GRID - bx, i / _GRID - by
            if distance(there, turn_cos * x + turn_sin * y, turn_cos * y - turn_sin * x, there_w, there_h) <= margin:
                common += 1
                if any_is_enough:
                    return 1.0
    return common / _GRID**2


@compiled
def _extents(row: int, e: int, rows: Rows) -> tuple[float, float]:
    """Half the width and height of an entity before it is rotated."""
    return half_extents(rows.shape[row, e], rows.size[row, e], rows.distortion[row, e])


@compiled
def order(row: int, count: int, rows: Rows) -> None:
    """Put the entities of a scene in the order of drawing: of two that overlap, the one of which more is covered lies on top."""
    order, taken = np.empty(count, np.int64), np.zeros(count, np.bool_)
    for place in range(count):
        chosen = -1
        for e in range(count):
            if taken[e]:
                continue
            chosen = e if chosen < 0 else chosen
            free = True
            for o in range(count):
                free = free and (taken[o] or o == e or rows.overlap[row, o, e] >= rows.overlap[row, e, o])
            if free:
                chosen = e
                break
        order[place], taken[chosen] = chosen, True
    rows.shape[row, :count] = rows.shape[row][order]
    rows.colour[row, :count] = rows.colour[row][order]
    rows.size[row, :count] = rows.size[row][order]
    rows.distortion[row, :count] = rows.distortion[row][order]
    rows.rotation[row, :count] = rows.rotation[row][order]
    rows.shade[row, :count] = rows.shade[row][order]
    rows.centre[row, :count] = rows.centre[row][order]
    rows.overlap[row, :count] = rows.overlap[row][order]
    for e in range(count):
        rows.overlap[row, e, :count] = rows.overlap[row, e][order]
