"""Batches of microworlds: shapes with attributes, one row a scene (Kuhnle & Copestake, 2017)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from molyneux.core import ConfigError

SHAPES = ("square", "rectangle", "triangle", "pentagon", "cross", "circle", "semicircle", "ellipse")

COLOURS = ("red", "green", "blue", "yellow", "magenta", "cyan", "gray", "white")

_GOLDEN = (math.sqrt(5) - 1) / 2

AREAS = (
    *(1.0, 1.0, math.sqrt(0.75) / 2),
    math.cos(math.radians(18)) * (_GOLDEN**2 + (1 + _GOLDEN) * (1 - _GOLDEN) / 2),
    *(5 / 9, math.pi / 4, math.pi / 8, math.pi / 4),
)
"""Area of each of `SHAPES` of width 1 and distortion 1; those of rectangles and ellipses are divided by the distortion."""


class NotDrawnError(ConfigError):
    """Scenes, or captions of them, that a bounded number of trials did not find.

    Args:
        what: was not found, and what was tried.
        advice: what to do where nothing more is known.
    """

    def __init__(self, what: str, advice: str) -> None:
        self.what, self.advice = what, advice
        super().__init__(f"{what}: {advice}")


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

    def __getitem__(self, rows: slice | np.ndarray) -> Scenes:
        """The scenes of some rows."""
        return Scenes(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    @property
    def areas(self) -> np.ndarray:
        """(n, E) float64, area of each entity in areas of the scene; 0 of absent ones."""
        return np.where(self.present, np.array(AREAS)[self.shape] * self.size**2 / self.distortion, 0.0)
