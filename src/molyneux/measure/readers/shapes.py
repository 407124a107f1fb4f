"""Shapes as polygons: those of CdSprites+ and GeBiD, shapes that neither world has, and shapes that resemble theirs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image, ImageDraw

Polygon = list[tuple[float, float]]
Parts = list[tuple[Polygon, int]]
"""Polygons in lengths around the middle, x right and y down, and whether each is filled (1) or cut out (0)."""


def arc(start: float, end: float, radius: float = 0.5, x: float = 0.0, y: float = 0.0) -> Polygon:
    """Points on a circle, angles in degrees clockwise from the right."""
    angles = np.radians(np.linspace(start, end, 73))
    return [(x + radius * math.cos(a), y + radius * math.sin(a)) for a in angles]


def regular(corners: int, inner: float = 0.0) -> Polygon:
    """A regular polygon; a star where `inner` says how far in its dents lie."""
    count = 2 * corners if inner else corners
    radii = [0.5 * (inner if inner and i % 2 else 1.0) for i in range(count)]
    return [(r * math.cos(2 * math.pi * i / count), r * math.sin(2 * math.pi * i / count)) for i, r in enumerate(radii)]


def box(width: float, height: float) -> Polygon:
    """A rectangle around the middle."""
    return [(-width / 2, -height / 2), (width / 2, -height / 2), (width / 2, height / 2), (-width / 2, height / 2)]


def heart() -> Polygon:
    """A square on its corner with half a disc on both upper sides, of width 1."""
    side = 1 / (1 + math.sqrt(0.5))
    away = side * math.sqrt(2) / 4
    return [(0.0, 2 * away), *arc(135, 315, side / 2, -away, -away), *arc(225, 405, side / 2, away, -away)]


def spiral() -> Polygon:
    """A stroke of five turns as a thin closed polygon."""
    angles = np.arange(0.0, 10 * math.pi, 0.1)
    growth = 0.5 / (1 + 10 * math.pi)
    sides = [
        [((growth * (1 + a) + w) * math.cos(a), (growth * (1 + a) + w) * math.sin(a)) for a in angles] for w in (-0.017, 0.017)
    ]
    return [*sides[0], *sides[1][::-1]]


_ELLIPSE = [(0.565 * x, y) for x, y in arc(0, 360)]
SPRITES: Mapping[str, Parts] = {"square": [(box(1, 1), 1)], "ellipse": [(_ELLIPSE, 1)], "heart": [(heart(), 1)]}
SHAPES: Mapping[str, Parts] = {
    "line": [([((x - y) * math.sqrt(0.5), (x + y) * math.sqrt(0.5)) for x, y in box(math.sqrt(2), 0.5)], 1)],
    "circle": [(arc(0, 360), 1)],
    "square": [(box(1, 1), 1)],
    "semicircle": [(arc(50, 270), 1)],
    "pieslice": [([(0.5, 0.5), *arc(200, 250, 1.0, 0.5, 0.5)], 1)],
    "spiral": [(spiral(), 1)],
}
FOREIGN: Mapping[str, Parts] = {
    "triangle": [(regular(3), 1)],
    "star": [(regular(5, 0.45), 1)],
    "burst": [(regular(8, 0.6), 1)],
    "cross": [(box(1, 0.32), 1), (box(0.32, 1), 1)],
    "ring": [(arc(0, 360), 1), (arc(0, 360, 0.28), 0)],
    "crescent": [(arc(0, 360), 1), (arc(0, 360, 0.45, 0.3), 0)],
    "corner": [(box(1, 1), 1), ([(-0.15, -0.6), (0.6, -0.6), (0.6, 0.15), (-0.15, 0.15)], 0)],
    "arrow": [([(-0.5, -0.14), (0.05, -0.14), (0.05, -0.4), (0.5, 0), (0.05, 0.4), (0.05, 0.14), (-0.5, 0.14)], 1)],
    "frame": [(box(1, 1), 1), (box(0.55, 0.55), 0)],
    "bolt": [([(-0.5, 0.2), (0.1, -0.5), (0.05, -0.05), (0.5, -0.2), (-0.1, 0.5), (-0.05, 0.05)], 1)],
}
"""For every world."""
ANGULAR: Mapping[str, Parts] = {
    "pentagon": [(regular(5), 1)],
    "half disc": [(arc(0, 180), 1)],
    "bar": [(box(1, 0.33), 1)],
    "lens": [([(0.3 * x, y) for x, y in arc(0, 360)], 1)],
    "rhomb": [([(0.5, 0), (0, 0.26), (-0.5, 0), (0, -0.26)], 1)],
}
"""For worlds without circles and lines."""

NEAR: Mapping[str, Parts] = {
    "round square": [([point for x, y, a in ((0.3, -0.3, 270), (0.3, 0.3, 0), (-0.3, 0.3, 90), (-0.3, -0.3, 180))
                       for point in arc(a, a + 90, 0.2, x, y)], 1)],
    "trapezoid": [([(-0.25, -0.4), (0.25, -0.4), (0.5, 0.4), (-0.5, 0.4)], 1)],
    "drop": [([(0.0, -0.6), *arc(-23, 203, 0.4, 0.0, 0.15)], 1)],
    "bean": [([(x * (1 - 0.45 * math.exp(-((a / 30) ** 2))), 0.7 * y * (1 - 0.45 * math.exp(-((a / 30) ** 2))))
               for a, (x, y) in zip(range(-180, 180, 5), arc(-270, 85), strict=False)], 1)],
    "slim ellipse": [([(0.45 * x, y) for x, y in arc(0, 360)], 1)],
    "wide ellipse": [([(0.7 * x, y) for x, y in arc(0, 360)], 1)],
}  # fmt: skip
"""Shapes that resemble one of a world."""

LIKE: Mapping[str, Parts] = {
    **{f"ellipse {ratio}:1": [([(ratio * x, y) for x, y in arc(0, 360)], 1)] for ratio in (0.65, 0.75, 0.8, 0.85, 0.9, 0.95)},
    "stadium": [([*arc(180, 360, 0.25, 0.0, -0.25), *arc(0, 180, 0.25, 0.0, 0.25)], 1)],
    "slim heart": [([(0.8 * x, y) for x, y in heart()], 1)],
    "plus": [(box(1, 0.4), 1), (box(0.4, 1), 1)],
    "cut square": [([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.2), (0.2, 0.5), (-0.5, 0.5)], 1)],
}
"""More of them, which are drawn one by one."""

OTHERS: Mapping[str, Callable[[np.random.Generator], Parts]] = {
    "rectangles": lambda rng: [(box(1, 1 / rng.uniform(1.18, 1.6)), 1)],
    "rhombi": lambda rng: [([(0.5, 0), (0, w := rng.uniform(0.22, 0.4)), (-0.5, 0), (0, -w)], 1)],
    "crosses": lambda rng: [(box(1, w := rng.uniform(0.22, 0.42)), 1), (box(w, 1), 1)],
    "quarter discs": lambda rng: [([(-0.3, -0.3), *arc(0, 90, 0.7, -0.3, -0.3)], 1)],
    "parallelograms": lambda rng: [([(-0.5 + (a := rng.uniform(0.15, 0.3)), -0.35), (0.5 + a, -0.35), (0.5 - a, 0.35),
                                     (-0.5 - a, 0.35)], 1)],
    "trapeziums": lambda rng: [([(-(a := rng.uniform(0.15, 0.3)), -0.4), (a, -0.4), (0.5, 0.4), (-0.5, 0.4)], 1)],
    "hexagons": lambda rng: [(regular(6), 1)],
    "kites": lambda rng: [([(0, -0.3), (0.32, 0), (0, rng.uniform(0.5, 0.8)), (-0.32, 0)], 1)],
}  # fmt: skip
"""Shapes that no world has, drawn anew for each picture."""


def area_of(parts: Parts) -> float:
    """The area of a shape in squared lengths, counted on a fine grid."""
    canvas = Image.new("L", (400, 400))
    for polygon, filled in parts:
        ImageDraw.Draw(canvas).polygon([(200 + 200 * x, 200 + 200 * y) for x, y in polygon], fill=filled)
    return float(np.asarray(canvas).sum()) / 200**2
