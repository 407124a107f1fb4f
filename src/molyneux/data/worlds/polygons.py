"""Masks of polygons: the rasteriser for curves that no formula describes, compiled, whole batches.

Coverage is exact: the share of a pixel's area that lies inside. It is summed from the edges: each adds to the pixels that it
crosses what it cuts off to their right, and a running sum along each row turns that into areas (as in the rasteriser of fonts
`font-rs`, Levien, 2016). Lengths are in scene units as in `raster`: 1 is the side of the picture, x points right, y points down.
"""

from __future__ import annotations

import math

import numpy as np

from molyneux.core.tooling.compiled import compiled


def polygon_masks(
    polygons: np.ndarray,
    which: np.ndarray,
    centre: np.ndarray,
    size: np.ndarray,
    rotation: np.ndarray,
    image_size: int,
    *,
    anti_alias: bool = True,
) -> np.ndarray:
    """Coverage of every pixel by a polygon, (n, image_size, image_size) uint8: 0 outside, 255 inside.

    Args:
        polygons: (k, points, 2) float64 corners around the origin, all clockwise or all the other way round, without crossings.
        which: (n,) int64 the polygon of each picture.
        centre: (n, 2) float64 where its origin is, scene units.
        size: (n,) float64 scene units in one unit of the polygons.
        rotation: (n,) float64 radians, clockwise.
        image_size: side of the picture in pixels. What lies outside of the picture is cut off.
        anti_alias: grade the border; otherwise a pixel belongs to the polygon if at least half of it lies inside.
    """
    out = np.empty((len(which), image_size, image_size), np.uint8)
    _draw(polygons, which, centre, size, rotation, anti_alias, out)
    return out


@compiled
def _draw(
    polygons: np.ndarray,
    which: np.ndarray,
    centre: np.ndarray,
    size: np.ndarray,
    rotation: np.ndarray,
    anti_alias: bool,
    out: np.ndarray,
) -> None:
    side, points = out.shape[1], polygons.shape[1]
    cut = np.empty((side, side + 2))
    x, y = np.empty(points + 1), np.empty(points + 1)
    for row in range(len(which)):
        cos, sin, scale = math.cos(rotation[row]), math.sin(rotation[row]), size[row] * side
        corners = polygons[which[row]]
        low, high, start, end = float(side), 0.0, float(side), 0.0
        for i in range(points):
            x[i] = centre[row, 0] * side + scale * (cos * corners[i, 0] - sin * corners[i, 1])
            y[i] = centre[row, 1] * side + scale * (sin * corners[i, 0] + cos * corners[i, 1])
            low, high = min(low, y[i]), max(high, y[i])
            start, end = min(start, x[i]), max(end, x[i])
        x[points], y[points] = x[0], y[0]
        top, bottom = max(math.floor(low), 0), min(math.ceil(high), side)
        left, right = max(math.floor(start), 0), min(math.ceil(end), side)
        for i in range(top, bottom):
            for j in range(left, right + 2):
                cut[i, j] = 0.0
        for i in range(points):
            j, k, height = int(x[i]), int(y[i]), y[i + 1] - y[i]
            # within one pixel, as most edges are
            if int(x[i + 1]) == j and int(y[i + 1]) == k and min(x[i], x[i + 1], y[i], y[i + 1]) >= 0.0 and max(j, k) < side:
                middle = 0.5 * (x[i] + x[i + 1]) - j
                cut[k, j] += height * (1.0 - middle)
                cut[k, j + 1] += height * middle
            elif height != 0.0:
                _cut(x[i], y[i], x[i + 1], y[i + 1], cut)
        for i in range(side):
            for j in range(side):
                out[row, i, j] = 0
        for i in range(top, bottom):
            inside = 0.0
            for j in range(left, right):
                inside += cut[i, j]
                cover = min(abs(inside), 1.0)
                out[row, i, j] = int(cover * 255.0 + 0.5) if anti_alias else (255 if cover >= 0.5 else 0)


@compiled
def _cut(ax: float, ay: float, bx: float, by: float, cut: np.ndarray) -> None:
    """Add what an edge cuts off: to each pixel the change of coverage from its left neighbour."""
    sign, side = 1.0, cut.shape[0]
    if ay > by:
        sign, ax, ay, bx, by = -1.0, bx, by, ax, ay
    slope, x = (bx - ax) / (by - ay), ax
    if ay < 0.0:
        x -= ay * slope
    for i in range(max(math.floor(ay), 0), min(math.ceil(by), side)):
        height = min(i + 1.0, by) - max(float(i), ay)
        after = x + slope * height
        left, right, area = min(x, after), max(x, after), sign * height
        x = after
        if left < 0.0:
            outside = 1.0 if right <= 0.0 else left / (left - right)
            cut[i, 0] += area * outside
            left, right, area = 0.0, max(right, 0.0), area * (1.0 - outside)
        if right > side:
            outside = 1.0 if left >= side else (right - side) / (right - left)
            left, right, area = min(left, float(side)), float(side), area * (1.0 - outside)
        first = int(left)
        if right <= first + 1.0:
            middle = 0.5 * (left + right) - first
            cut[i, first] += area * (1.0 - middle)
            cut[i, first + 1] += area * middle
        else:
            before, last = 0.0, math.ceil(right) - 1
            for j in range(first, last + 1):
                start, end = max(left, float(j)), min(right, j + 1.0)
                share = (end - start) / (right - left)
                filled = area * share * (j + 1.0 - 0.5 * (start + end)) + before
                cut[i, j] += filled
                carried = area * share * (0.5 * (start + end) - j)
                before = carried
            cut[i, last + 1] += before
