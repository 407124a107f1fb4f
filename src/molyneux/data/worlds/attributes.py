"""What CdSprites is made of: the published attributes as data, and the choice among them.

Source: the generator's configuration of CdSprites+ (Sejnova et al., "Benchmarking multimodal variational autoencoders:
CdSprites+ dataset and toolkit", 2023). Lengths are in pixels of the 64-pixel picture and were measured on dSprites (Matthey et
al., 2017).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from molyneux.core import nearest
from molyneux.data.worlds.grammar import ALPHABET
from molyneux.data.worlds.raster import SHAPES

T = TypeVar("T")
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


def choose(
    what: str,
    choice: Sequence[str] | Mapping[str, Any] | None,
    known: Mapping[str, T],
    default: Sequence[str],
    read: Callable[[Any], T | None],
) -> tuple[dict[str, T], list[str]]:
    """A choice among known values, or own ones, and what is wrong with it.

    Args:
        what: the setting's name, for the messages.
        choice: names among `known`, or name -> own definition, or None for the default.
        known: definitions by name.
        default: names to take if nothing was chosen.
        read: turns an own definition into a value; None if it cannot.
    """
    if choice is None:
        return {name: known[name] for name in default}, []
    names = (choice,) if isinstance(choice, str) else tuple(choice)
    problems = [] if names else [f"expected at least one of {what}, got none"]
    if len(set(names)) != len(names):
        problems.append(f"expected {what} that differ, got {', '.join(names)}")
    chosen: dict[str, T] = {}
    for name in names:
        value = read(choice[name]) if isinstance(choice, Mapping) else known.get(name)
        if value is not None and _sayable(name):
            chosen[name] = value
        elif not _sayable(name):
            problems.append(f"expected {what} named in letters a to z and single spaces, got {name!r}: rename it")
        elif isinstance(choice, Mapping):
            problems.append(f"{what}: cannot use {choice[name]!r} for {name!r}; expected {str(read.__doc__).lower().rstrip('.')}")
        else:
            problems.append(f"{what}: unknown {name!r}; {nearest(name, known)}")
    return chosen, problems


def _sayable(name: str) -> bool:
    return bool(name) and all(symbol in ALPHABET for symbol in name) and all(name.split(" "))


def read_colour(value: Any) -> Colour | None:
    """Three whole numbers from 0 to 255, not all 0."""
    if not isinstance(value, Sequence) or len(value) != 3 or not all(isinstance(v, int) and 0 <= v <= 255 for v in value):
        return None
    return (value[0], value[1], value[2]) if any(value) else None


def read_scale(value: Any) -> float | None:
    """A number from 0.25 to 1.25, where 1 is the published big."""
    return float(value) if isinstance(value, int | float) and 0.25 <= value <= 1.25 else None


def read_shape(value: Any) -> str | None:
    """The name of a shape that can be drawn."""
    return value if value in SHAPES else None
