"""Batches of microworlds: shapes with attributes, one row a scene (Kuhnle & Copestake, 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SHAPES = ("square", "rectangle", "triangle", "pentagon", "cross", "circle", "semicircle", "ellipse")

COLOURS = ("red", "green", "blue", "yellow", "magenta", "cyan", "gray", "white")


@dataclass(frozen=True)
class Scenes:
    """Microworlds of at most E entities each, in the order in which they are drawn: later ones lie on top.

    Lengths and places are in sides of the unit square, x to the right and y **down**. Absent entities come last in a row.

    Args:
        present: (n, E) bool, which entities exist.
        shape: (n, E) int8, position in `SHAPES`.
        colour: (n, E) int8, position in `COLOURS`.
        centre: (n, E, 2) float64, x and y.
        size: (n, E) float64, full width.
        distortion: (n, E) float64, width by height of rectangles and ellipses; 1 for others.
        rotation: (n, E) float64, in turns, 0..1.
        shade: (n, E) float64, -1..1: below 0 darker, above 0 lighter.
        overlap: (n, E, E) float64, share of the first entity's area that the second covers or is covered by; 0 on the diagonal.
    """

    present: np.ndarray
    shape: np.ndarray
    colour: np.ndarray
    centre: np.ndarray
    size: np.ndarray
    distortion: np.ndarray
    rotation: np.ndarray
    shade: np.ndarray
    overlap: np.ndarray

    def __len__(self) -> int:
        return len(self.present)
