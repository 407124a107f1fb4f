"""What the scenes of ShapeWorld are drawn from: settings, and those of the paper's four data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from molyneux.core import ConfigError, nearest
from molyneux.core.errors import choice_problems
from molyneux.data.worlds.shapeworld.scenes import COLOURS, SHAPES

Attributes = Literal["random", "reinforced", "limited", "framed", "clustered"]
"""How shapes and colours of a scene go together; see `SceneSettings.attributes`."""

Combination = tuple[str, str]
"""A shape and a colour."""

PUBLISHED_COLOURS = ("red", "green", "blue", "yellow", "magenta", "cyan", "gray")
"""Colours of the published code; the paper of 2017 has white in place of gray."""


@dataclass(frozen=True)
class SceneSettings:
    """The distribution of scenes. Lengths are sides of the scene, shares and shades 0..1.

    Args:
        counts: numbers of entities, equally likely.
        shapes: names of shapes.
        colours: names of colours.
        excluded: combinations of shape and colour that no scene has.
        required: combinations one of which the first entity has; the others are drawn as without, and may have them too.
        attributes: "random": independent and equal; "reinforced": each entity makes its shape and its colour likelier for
            later ones (an urn); "limited": a scene has few shapes and colours; "framed": a part of the entities is alike and
            the others are not; "clustered": entities gather around a few places.
        limits: smallest and largest number of shapes, and of colours, of a scene, for "limited".
        reinforcement: smallest and largest number of copies that "reinforced" puts back.
        size: smallest and largest width.
        uniform_area: whether the square of the size is uniform, and not the size.
        distortion: smallest and largest width by height of rectangles and ellipses.
        rotated: whether shapes are rotated.
        shade: largest shade, lighter or darker.
        normal_shade: whether shades are normal with that standard deviation, drawn again beyond it, and not uniform.
        overlap: share of the less covered of two entities that may be covered, and of each by all others together; 0 keeps them
            apart by a pixel.
        provoked: with which probability an entity is put next to another, at most; each scene draws its own.
        outside: share of an entity that may lie outside of the scene.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    counts: Sequence[int] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    shapes: Sequence[str] = SHAPES
    colours: Sequence[str] = PUBLISHED_COLOURS
    excluded: Sequence[Combination] = ()
    required: Sequence[Combination] = ()
    attributes: Attributes = "random"
    limits: tuple[int, int] = (2, 4)
    reinforcement: tuple[int, int] = (1, 3)
    size: tuple[float, float] = (0.1, 0.25)
    uniform_area: bool = True
    distortion: tuple[float, float] = (2.0, 3.0)
    rotated: bool = True
    shade: float = 0.4
    normal_shade: bool = False
    overlap: float = 0.25
    provoked: float = 0.33
    outside: float = 0.0

    def __post_init__(self) -> None:
        problems = [f"unknown shape {name!r}; {nearest(name, SHAPES)}" for name in self.shapes if name not in SHAPES]
        problems += [f"unknown colour {name!r}; {nearest(name, COLOURS)}" for name in self.colours if name not in COLOURS]
        problems += choice_problems(attributes=(self.attributes, ("random", "reinforced", "limited", "framed", "clustered")))
        if not self.counts or min(self.counts) < 1 or max(self.counts) > 40:
            problems.append(f"counts: expected numbers of 1 to 40 entities, got {tuple(self.counts)}")
        for name, (low, high), bounds in (
            ("size", self.size, (0.02, 1.0)),
            ("distortion", self.distortion, (1.0, 10.0)),
            ("limits", self.limits, (1, 8)),
            ("reinforcement", self.reinforcement, (0, 100)),
        ):
            if not bounds[0] <= low <= high <= bounds[1]:
                problems.append(f"{name}: expected two rising numbers of {bounds[0]} to {bounds[1]}, got {low} and {high}")
        for name in ("shade", "overlap", "provoked", "outside"):
            if not 0 <= getattr(self, name) <= 1:
                problems.append(f"{name}: expected a number of 0 to 1, got {getattr(self, name)}")
        problems += self._combination_problems()
        if problems:
            raise ConfigError(problems)

    def _combination_problems(self) -> list[str]:
        known = set(self.shapes), set(self.colours)
        problems = [
            f"{name}: expected a shape and a colour of the scenes, got {pair}"
            for name in ("excluded", "required")
            for pair in getattr(self, name)
            if len(pair) != 2 or pair[0] not in known[0] or pair[1] not in known[1]
        ]
        if not problems and len(set(self.excluded)) >= len(known[0]) * len(known[1]):
            problems.append("excluded: every combination of shape and colour is excluded, so there is no scene: leave some")
        if not problems and self.required and not set(self.required) - set(self.excluded):
            problems.append("required: every required combination is excluded too: take some out of excluded")
        if self.attributes == "limited" and self.limits[0] > min(len(self.shapes), len(self.colours)):
            least = min(len(self.shapes), len(self.colours))
            problems.append(f"limits: a scene cannot have {self.limits[0]} of {least}: lower the limit or add shapes or colours")
        return problems

    def table(self, *, first: bool = False) -> np.ndarray:
        """Which combinations an entity may have, (shapes, colours) bool over all of `SHAPES` and `COLOURS`.

        Args:
            first: those of the first entity, which has a required one.
        """
        allowed = np.zeros((len(SHAPES), len(COLOURS)), bool)
        pairs = (
            self.required if first and self.required else [(shape, colour) for shape in self.shapes for colour in self.colours]
        )
        for shape, colour in pairs:
            allowed[SHAPES.index(shape), COLOURS.index(colour)] = True
        for shape, colour in self.excluded:
            allowed[SHAPES.index(shape), COLOURS.index(colour)] = False
        return allowed

    def contains(self, present: np.ndarray, shape: np.ndarray, colour: np.ndarray) -> np.ndarray:
        """Whether scenes can be drawn, as far as numbers, shapes and colours are concerned: (n,) bool of arrays (n, E)."""
        fits = self.table()[shape, colour] | ~present
        first = ~present[:, 0] | self.table(first=True)[shape, colour].any(1) if self.required else np.ones(len(shape), bool)
        if self.required:
            fits |= self.table(first=True)[shape, colour]
        return np.asarray(fits.all(1) & first & np.isin(present.sum(1), np.asarray(self.counts)))


_PAPER = SceneSettings(
    colours=("red", "green", "blue", "yellow", "magenta", "cyan", "white"),
    size=(0.15, 0.3),
    uniform_area=False,
    shade=0.5,
    normal_shade=True,
    overlap=0.0,
    provoked=0.0,
)

VALIDATION_COMBINATIONS = (("square", "red"), ("triangle", "green"), ("circle", "blue"))
TEST_COMBINATIONS = (("rectangle", "yellow"), ("cross", "magenta"), ("ellipse", "cyan"))
"""Combinations that the paper holds out."""

PAPER_SCENES = {
    "oneshape": replace(_PAPER, counts=(1,)),
    "multishape": replace(_PAPER, counts=(1, 2, 3, 5)),
    "spatial": replace(_PAPER, counts=(2,)),
    "quantification": replace(_PAPER, counts=(3, 4, 5, 7), attributes="limited"),
}
"""Training scenes of the data sets of Kuhnle & Copestake (2017), table 1, with the held-out combinations still in them."""

PAPER_COUNTS = {"multishape": ((4,), (6,)), "quantification": ((6,), (8,))}
"""Numbers of entities of their validation and test scenes, where they differ from those of training."""
