"""What CdSprites is made of: the published attributes as data.

Source: the generator's configuration of CdSprites+ (Sejnova et al., "Benchmarking multimodal variational autoencoders:
CdSprites+ dataset and toolkit", 2023). Lengths are in pixels of the 64-pixel picture and were measured on dSprites (Matthey et
al., 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from molyneux.data.worlds.raster import SHAPES

Colour = tuple[int, int, int]

COLOURS: dict[str, Colour] = {
    "red": (192, 64, 0),
    "yellow": (228, 217, 111),
    "green": (10, 107, 60),
    "blue": (0, 127, 200),
    "pink": (255, 0, 255),
}
"""RGB by name: ratios, since every picture is stretched to full brightness."""

WHITE: Colour = (255, 255, 255)

SCALES = {"small": 0.5, "big": 1.0}
"""Length of a sprite relative to the biggest, by name."""

OTHER_SCALES = {"medium": 0.7}
"""Defined by the published generator and unused there; can be chosen."""

BOXES = {"square": 19.3, "ellipse": 25.5, "heart": 19.04} | dict.fromkeys(SHAPES[3:7], 22.0) | {"spiral": 26.0}
"""Size of every shape at scale 1 as `raster` defines it. CdSprites has the first three; any other can be chosen."""

STROKES = {"line": 11.0, "spiral": 1.0}
"""Thickness at scale 1."""

DEFAULT_SHAPES = ("square", "ellipse", "heart")

ROTATIONS = 40
"""Orientations: linspace(0, 2 pi, 40) as in dSprites, so the first and the last are the same picture."""

PLACES = 32
"""Positions along each axis, numbered from the left and from the top."""

STEP = 1.03
"""Pixels between neighbouring positions; their middle is the middle of the picture."""

MIDDLE = tuple(range(5, 30))
"""Positions at levels 1 to 3, both axes."""

LOW = (1, 2, 3, 5, 6, 7, 8, 9)
"""Positions left or at the top at levels 4 and 5. Index 4 is missing in the published configuration and so in this version."""

HIGH = tuple(range(26, 32))
"""Positions right or at the bottom at levels 4 and 5."""

QUADRANTS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "at top left": (LOW, LOW),
    "at top right": (HIGH, LOW),
    "at bottom left": (LOW, HIGH),
    "at bottom right": (HIGH, HIGH),
}
"""Positions along x and y by caption phrase. The paper has quadrants at level 5 only; the generator, followed here, also at 4."""

BACKGROUNDS = ("on light", "on dark")

TEMPLATES = {
    1: "{shape}",
    2: "{size} {shape}",
    3: "{size} {colour} {shape}",
    4: "{size} {colour} {shape} {position}",
    5: "{size} {colour} {shape} {position} {background}",
}
"""Captions by level; a level's picture shows what its caption says."""


def read_rgb(value: Any) -> Colour | None:
    """Three whole numbers from 0 to 255."""
    if not isinstance(value, Sequence) or len(value) != 3 or not all(isinstance(v, int) and 0 <= v <= 255 for v in value):
        return None
    return value[0], value[1], value[2]


def read_colour(value: Any) -> Colour | None:
    """Three whole numbers from 0 to 255, not all 0."""
    colour = read_rgb(value)
    return colour if colour is not None and any(colour) else None


def read_scale(value: Any) -> float | None:
    """A number from 0.25 to 1.25, where 1 is the published big."""
    return float(value) if isinstance(value, int | float) and 0.25 <= value <= 1.25 else None


def read_shape(value: Any) -> str | None:
    """The name of a shape that can be drawn."""
    return value if value in SHAPES else None
