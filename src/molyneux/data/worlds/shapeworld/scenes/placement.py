"""Where entities of a scene may lie: inside of it, and over others by no more than a share; and the order of drawing."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.shapeworld.scenes.geometry import distance, half_extents, inside, reach
from molyneux.data.worlds.shapeworld.scenes.scenes import AREAS

_GRID = 64
"""Points on a side at which the overlap of two entities is counted."""

_SHADE_DIFFERENCE = 0.5
"""Entities of one colour may overlap if their shades differ by as much."""

_AREAS = np.array(AREAS)

_ABOVE = 1 + 1e-9
"""Beyond a radius for certain, whatever is lost by rounding."""


class SceneRows(NamedTuple):
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
def box(row: int, e: int, rows: SceneRows) -> tuple[float, float]:
    """Half the width and height of the box around an entity as it is rotated."""
    width, height = half_extents(rows.shape[row, e], rows.size[row, e], rows.distortion[row, e])
    return _around(width, height, math.cos(2 * math.pi * rows.rotation[row, e]), math.sin(2 * math.pi * rows.rotation[row, e]))


@compiled
def _around(width: float, height: float, cos: float, sin: float) -> tuple[float, float]:
    cos, sin = abs(cos), abs(sin)
    return cos * width + sin * height, sin * width + cos * height


@compiled
def fits(row: int, e: int, rows: SceneRows, overlap: float, outside: float, moved: np.ndarray, before: np.ndarray) -> bool:
    """Whether an entity lies inside the scene and does not overlap others by more than it may; fills in its overlaps.

    Args:
        row: of the scene.
        e: the entity.
        rows: the scenes.
        overlap: see `SceneSettings`.
        outside: the same.
        moved: (n, E) bool, entities that have moved or have another form since overlaps were measured; (0, 0): all.
        before: (n, E, E) overlaps that were measured then; (0, 0, 0): none.
    """
    width, height = box(row, e, rows)
    x, y = rows.centre[row, e, 0], rows.centre[row, e, 1]
    beyond = x < width or y < height or x > 1 - width or y > 1 - height
    if beyond and (outside <= 0 or _outside(row, e, rows) > outside):
        return False
    shape, size, distortion, overlaps = rows.shape, rows.size, rows.distortion, rows.overlap
    together, free = 0.0, overlap <= 0
    radius = reach(shape[row, e], *half_extents(shape[row, e], size[row, e], distortion[row, e]))
    own = _AREAS[shape[row, e]] * size[row, e] ** 2 / distortion[row, e]
    for o in range(e):
        alike = rows.colour[row, e] == rows.colour[row, o]
        alike = free or (alike and abs(rows.shade[row, e] - rows.shade[row, o]) < _SHADE_DIFFERENCE)
        if len(moved) and not moved[row, e] and not moved[row, o]:
            share, covered = before[row, e, o], before[row, o, e]
        elif free:
            share = covered = _near(row, e, o, rows)
        else:
            span = radius + reach(shape[row, o], *half_extents(shape[row, o], size[row, o], distortion[row, o]))
            common = 0.0
            if (x - rows.centre[row, o, 0]) ** 2 + (y - rows.centre[row, o, 1]) ** 2 <= _ABOVE * span**2:
                common = _common(row, e, o, rows, alike)
            other = _AREAS[shape[row, o]] * size[row, o] ** 2 / distortion[row, o]
            share, covered = min(1.0, common / own), min(1.0, common / other)
        overlaps[row, e, o], overlaps[row, o, e] = share, covered
        if share <= 0:
            continue
        together += share
        others = covered
        for p in range(e):
            others += overlaps[row, o, p]
        if alike or min(share, covered) > overlap or max(together, others) > overlap:
            return False
    return True


@compiled
def _outside(row: int, e: int, rows: SceneRows) -> float:
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
def _near(row: int, e: int, o: int, rows: SceneRows) -> float:
    """1 if two entities are less than a pixel apart, else 0: whether they share a grid point, enlarged by half a pixel."""
    margin = 0.5 / _GRID
    (width, height), (box_x, box_y) = _extents(row, e, rows), box(row, e, rows)
    (there_w, there_h), (there_x, there_y) = _extents(row, o, rows), box(row, o, rows)
    centre = rows.centre
    ax, ay, bx, by = centre[row, e, 0], centre[row, e, 1], centre[row, o, 0], centre[row, o, 1]
    left, right = max(ax - box_x, bx - there_x) - margin, min(ax + box_x, bx + there_x) + margin
    top, bottom = max(ay - box_y, by - there_y) - margin, min(ay + box_y, by + there_y) + margin
    if left > right or top > bottom:
        return 0.0
    cos, sin = math.cos(2 * math.pi * rows.rotation[row, e]), math.sin(2 * math.pi * rows.rotation[row, e])
    turn_cos, turn_sin = math.cos(2 * math.pi * rows.rotation[row, o]), math.sin(2 * math.pi * rows.rotation[row, o])
    shape, there = rows.shape[row, e], rows.shape[row, o]
    for i in range(math.ceil(top * _GRID), math.floor(bottom * _GRID) + 1):
        for j in range(math.ceil(left * _GRID), math.floor(right * _GRID) + 1):
            x, y = j / _GRID - ax, i / _GRID - ay
            if distance(shape, cos * x + sin * y, cos * y - sin * x, width, height) > margin:
                continue
            x, y = j / _GRID - bx, i / _GRID - by
            if distance(there, turn_cos * x + turn_sin * y, turn_cos * y - turn_sin * x, there_w, there_h) <= margin:
                return 1.0
    return 0.0


@compiled
def _common(row: int, e: int, o: int, rows: SceneRows, any_is_enough: bool) -> float:
    """Area that two entities have in common, by points of a grid.

    Args:
        row: of the scene.
        e: one entity.
        o: another.
        rows: the scenes.
        any_is_enough: whether to stop at the first point.
    """
    width, height = half_extents(rows.shape[row, e], rows.size[row, e], rows.distortion[row, e])
    there_w, there_h = half_extents(rows.shape[row, o], rows.size[row, o], rows.distortion[row, o])
    centre = rows.centre
    ax, ay, bx, by = centre[row, e, 0], centre[row, e, 1], centre[row, o, 0], centre[row, o, 1]
    shape, there, common = rows.shape[row, e], rows.shape[row, o], 0
    radius, there_radius = reach(shape, width, height), reach(there, there_w, there_h)
    cos, sin = math.cos(2 * math.pi * rows.rotation[row, e]), math.sin(2 * math.pi * rows.rotation[row, e])
    turn_cos, turn_sin = math.cos(2 * math.pi * rows.rotation[row, o]), math.sin(2 * math.pi * rows.rotation[row, o])
    (box_x, box_y), (there_x, there_y) = _around(width, height, cos, sin), _around(there_w, there_h, turn_cos, turn_sin)
    left, right = max(ax - box_x, bx - there_x), min(ax + box_x, bx + there_x)
    top, bottom = max(ay - box_y, by - there_y), min(ay + box_y, by + there_y)
    if left > right or top > bottom:
        return 0.0
    far, there_far = _ABOVE * radius * radius, _ABOVE * there_radius * there_radius
    for i in range(math.ceil(top * _GRID), math.floor(bottom * _GRID) + 1):
        y, there_y = i / _GRID - ay, i / _GRID - by
        for j in range(math.ceil(left * _GRID), math.floor(right * _GRID) + 1):
            x, there_x = j / _GRID - ax, j / _GRID - bx
            if x * x + y * y > far or there_x * there_x + there_y * there_y > there_far:
                continue
            if not inside(shape, cos * x + sin * y, cos * y - sin * x, width, height):
                continue
            turned, upright = turn_cos * there_x + turn_sin * there_y, turn_cos * there_y - turn_sin * there_x
            if inside(there, turned, upright, there_w, there_h):
                common += 1
                if any_is_enough:
                    return 1.0
    return common / _GRID**2


@compiled
def _extents(row: int, e: int, rows: SceneRows) -> tuple[float, float]:
    """Half the width and height of an entity before it is rotated."""
    return half_extents(rows.shape[row, e], rows.size[row, e], rows.distortion[row, e])


@compiled
def order(row: int, count: int, rows: SceneRows) -> None:
    """Put the entities of a scene in the order of drawing: of two that overlap, the one of which more is covered lies on top."""
    order, taken = np.empty(count, np.int64), np.zeros(count, np.bool_)
    shape, colour, size, overlap = rows.shape, rows.colour, rows.size, rows.overlap
    distortion, rotation, shade, centre = rows.distortion, rows.rotation, rows.shade, rows.centre
    for place in range(count):
        chosen = -1
        for e in range(count):
            if taken[e]:
                continue
            chosen = e if chosen < 0 else chosen
            free = True
            for o in range(count):
                free = free and (taken[o] or o == e or overlap[row, o, e] >= overlap[row, e, o])
            if free:
                chosen = e
                break
        order[place], taken[chosen] = chosen, True
    entities = overlap.shape[2]
    kept = np.empty((count, 8 + entities))
    for e in range(count):
        kept[e, 0], kept[e, 1], kept[e, 2] = shape[row, e], colour[row, e], size[row, e]
        kept[e, 3], kept[e, 4], kept[e, 5] = distortion[row, e], rotation[row, e], shade[row, e]
        kept[e, 6], kept[e, 7] = centre[row, e, 0], centre[row, e, 1]
        for o in range(entities):
            kept[e, 8 + o] = overlap[row, e, order[o] if o < count else o]
    for place in range(count):  # element by element: indices that are arrays take seconds to compile
        e = order[place]
        shape[row, place], colour[row, place], size[row, place] = int(kept[e, 0]), int(kept[e, 1]), kept[e, 2]
        distortion[row, place], rotation[row, place], shade[row, place] = kept[e, 3], kept[e, 4], kept[e, 5]
        centre[row, place, 0], centre[row, place, 1] = kept[e, 6], kept[e, 7]
        for o in range(entities):
            overlap[row, place, o] = kept[e, 8 + o]
