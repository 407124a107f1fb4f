"""What the scenes of ShapeWorld are drawn from: settings, and those of the paper's four data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Literal

import numpy as np

from molyneux.core import ConfigError, nearest
from molyneux.core.errors import choice_problems
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES, Scenes
from molyneux.data.worlds.shapeworld.scenes.setting_types import (
    covers_range,
    covers_square,
    held_out_problems,
    is_a,
    list_problems,
)

Attributes = Literal["random", "reinforced", "limited", "framed", "clustered"]
"""How shapes and colours of a scene go together; see `SceneSettings.attributes`."""

Combination = tuple[str, str]
"""A shape and a colour."""

Place = tuple[float, float, float, float]
"""A part of the scene: left, top, right and bottom, 0..1, y down."""

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
        excluded_places: parts of the scene in which no entity has its centre.
        required_places: parts of the scene in one of which the first entity has its centre.
        excluded_sizes: smallest and largest of widths that no entity has.
        required_sizes: smallest and largest of widths, one of which the first entity has.
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
    excluded_places: Sequence[Place] = ()
    required_places: Sequence[Place] = ()
    excluded_sizes: Sequence[tuple[float, float]] = ()
    required_sizes: Sequence[tuple[float, float]] = ()
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
        problems = self._type_problems()
        if problems:
            raise ConfigError(problems)
        problems = [f"unknown shape {name!r}; {nearest(name, SHAPES)}" for name in self.shapes if name not in SHAPES]
        problems += [f"unknown colour {name!r}; {nearest(name, COLOURS)}" for name in self.colours if name not in COLOURS]
        problems += [
            f"{name}: expected different ones, got {', '.join(twice)} twice"
            for name in ("shapes", "colours")
            if (twice := [one for one in dict.fromkeys(getattr(self, name)) if list(getattr(self, name)).count(one) > 1])
        ]
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
        problems += self._combination_problems() + self._part_problems()
        if problems:
            raise ConfigError(problems)

    def _type_problems(self) -> list[str]:
        """Settings of a wrong type, which come from code: those of files are checked before."""
        problems = list_problems(str, "names", shapes=self.shapes, colours=self.colours)
        problems += [
            f"{name}: expected at least one, got none" for name in ("shapes", "colours") if getattr(self, name) in ([], ())
        ]
        problems += list_problems(int, "whole numbers", counts=self.counts)
        pairs = {name: getattr(self, name) for name in ("size", "distortion", "limits", "reinforcement")}
        problems += list_problems((int, float), "two numbers", length=2, **pairs)
        if not problems:
            whole = {name: pairs[name] for name in ("limits", "reinforcement")}
            problems += list_problems(int, "two whole numbers", length=2, **whole)
        shares = {name: getattr(self, name) for name in ("shade", "overlap", "provoked", "outside")}
        problems += [
            f"{name}: expected a number, got {value!r}" for name, value in shares.items() if not is_a(value, (int, float))
        ]
        return problems + held_out_problems(
            {name: getattr(self, name) for name in ("excluded", "required")},
            {name: getattr(self, name) for name in ("excluded_places", "required_places")},
            {name: getattr(self, name) for name in ("excluded_sizes", "required_sizes")},
        )

    def _part_problems(self) -> list[str]:
        """Problems of the parts of the scene and of the range of widths that are held out."""
        problems = []
        for name in ("excluded_places", "required_places"):
            for place in getattr(self, name):
                if len(place) != 4 or not (0 <= place[0] < place[2] <= 1 and 0 <= place[1] < place[3] <= 1):
                    problems.append(f"{name}: expected left, top, right and bottom within 0 to 1, rising, got {tuple(place)}")
        for name in ("excluded_sizes", "required_sizes"):
            for sizes in getattr(self, name):
                if len(sizes) != 2 or not 0 < sizes[0] < sizes[1] <= 1:
                    problems.append(f"{name}: expected two rising widths of 0 to 1, got {tuple(sizes)}")
        if not problems and covers_range(*self.size, self.excluded_sizes):
            problems.append(f"excluded_sizes: all widths of {self.size[0]} to {self.size[1]} are excluded: leave some")
        if not problems and covers_square(self.excluded_places):
            problems.append("excluded_places: the whole scene is excluded, so there is no place for an entity: leave some")
        return problems

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
        """Which combinations an entity may have, (shapes, colours) bool over all of `SHAPES` and `COLOURS`; not to be changed.

        Args:
            first: those of the first entity, which has a required one.
        """
        return self._tables[first]

    @cached_property
    def _tables(self) -> tuple[np.ndarray, np.ndarray]:
        return self._combinations(first=False), self._combinations(first=True)

    def _combinations(self, *, first: bool) -> np.ndarray:
        allowed = np.zeros((len(SHAPES), len(COLOURS)), bool)
        pairs = (
            self.required if first and self.required else [(shape, colour) for shape in self.shapes for colour in self.colours]
        )
        for shape, colour in pairs:
            allowed[SHAPES.index(shape), COLOURS.index(colour)] = True
        for shape, colour in self.excluded:
            allowed[SHAPES.index(shape), COLOURS.index(colour)] = False
        return allowed

    def contains(self, scenes: Scenes) -> np.ndarray:
        """Whether scenes can be drawn, as far as numbers, shapes, colours, places and sizes are concerned, (n,) bool."""
        usual, first = self.table()[scenes.shape, scenes.colour], self.table(first=True)[scenes.shape, scenes.colour]
        placed, sized = self._placed(scenes), self._sized(scenes)
        held_out = (
            (self.required, first),
            (self.required_places, within_places(scenes.centre, self.required_places)),
            (self.required_sizes, within_sizes(scenes.size, self.required_sizes)),
        )
        fits = np.isin(scenes.present.sum(1), np.asarray(self.counts)) & (
            (usual | first & bool(self.required)) | ~scenes.present
        ).all(1)
        fits &= (placed & sized | ~scenes.present).all(1)
        for asked, has in held_out:
            fits &= (has & scenes.present).any(1) | (not asked)
        return np.asarray(fits)

    def _placed(self, scenes: Scenes) -> np.ndarray:
        """Entities that lie where they may, (n, E) bool."""
        return ~within_places(scenes.centre, self.excluded_places)

    def _sized(self, scenes: Scenes) -> np.ndarray:
        """Entities of a size that they may have, (n, E) bool."""
        return ~within_sizes(scenes.size, self.excluded_sizes)


def within_places(centre: np.ndarray, places: Sequence[Place]) -> np.ndarray:
    """Which centres (n, E, 2) lie in one of some parts of the scene, (n, E) bool."""
    x, y = centre[..., 0], centre[..., 1]
    inside = [(x >= left) & (x <= right) & (y >= top) & (y <= bottom) for left, top, right, bottom in places]
    return np.asarray(np.any(inside, 0)) if inside else np.zeros(x.shape, bool)


def within_sizes(size: np.ndarray, ranges: Sequence[tuple[float, float]]) -> np.ndarray:
    """Which sizes (n, E) lie in one of some ranges, (n, E) bool."""
    inside = [(size >= low) & (size <= high) for low, high in ranges]
    return np.asarray(np.any(inside, 0)) if inside else np.zeros(size.shape, bool)


@dataclass(frozen=True)
class HeldOut:
    """What samples of one split have and those of training do not; every level is a distribution that says what it contains.

    Args:
        combinations: of shape and colour; every scene of the split has an entity with one of them.
        counts: numbers of entities; all scenes of the split have one of them.
        places: parts of the scene; every scene of the split has an entity with its centre in one of them.
        sizes: smallest and largest widths; every scene of the split has an entity of such a width.
        patterns: groups of symbols of meaning; every caption of the split has all symbols of one of the groups, such as `left`
            and `circle`.
        lengths: numbers of words, the full stop included; every caption of the split has one of them.

    Raises:
        ConfigError: settings of a wrong type; what the scenes make of them, `ShapeWorld` says.
    """

    combinations: Sequence[Combination] = ()
    counts: Sequence[int] = ()
    places: Sequence[Place] = ()
    sizes: Sequence[tuple[float, float]] = ()
    patterns: Sequence[Sequence[str]] = ()
    lengths: Sequence[int] = ()

    def __post_init__(self) -> None:
        problems = list_problems(int, "whole numbers", counts=self.counts, lengths=self.lengths)
        parts = {"combinations": self.combinations}, {"places": self.places}, {"sizes": self.sizes}
        problems += held_out_problems(*parts)
        listed = isinstance(self.patterns, Sequence) and not isinstance(self.patterns, str)
        if not listed or any(list_problems(str, "", x=group) for group in self.patterns):
            problems.append(f"patterns: expected groups of symbols, as a list of lists, got {self.patterns!r}")
        elif not problems and min(self.lengths, default=1) < 1:
            problems.append(f"lengths: expected numbers of words of at least 1, got {tuple(self.lengths)}")
        if not problems:
            problems = [
                f"{name}: expected numbers of 0 to 1, got {tuple(one)}"
                for name in ("places", "sizes")
                for one in getattr(self, name)
                if not all(0 <= number <= 1 for number in one)
            ]
        if problems:
            raise ConfigError(problems)

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the settings in which something is held out."""
        return tuple(one.name for one in fields(self) if len(getattr(self, one.name)))

    def scenes(self, usual: SceneSettings) -> SceneSettings:
        """The distribution of the scenes of the split, of that of training without anything held out."""
        return replace(
            usual,
            counts=tuple(self.counts) or usual.counts,
            required=tuple(self.combinations),
            required_places=tuple(self.places),
            required_sizes=tuple(self.sizes),
        )


def training_scenes(usual: SceneSettings, held_out: Sequence[HeldOut]) -> SceneSettings:
    """The distribution of training scenes: without what any split holds out.

    Raises:
        ConfigError: nothing is left.
    """
    counts = tuple(count for count in usual.counts if not any(count in one.counts for one in held_out))
    if not counts:
        raise ConfigError(f"counts: every number of entities ({', '.join(map(str, usual.counts))}) is held out: leave some")
    return replace(
        usual,
        counts=counts,
        excluded=(*usual.excluded, *(pair for one in held_out for pair in one.combinations)),
        excluded_places=(*usual.excluded_places, *(place for one in held_out for place in one.places)),
        excluded_sizes=(*usual.excluded_sizes, *(sizes for one in held_out for sizes in one.sizes)),
    )


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

_COMBINATIONS = (HeldOut(combinations=VALIDATION_COMBINATIONS), HeldOut(combinations=TEST_COMBINATIONS))

PAPER_HELD_OUT = {
    "oneshape": _COMBINATIONS,
    "multishape": (HeldOut(counts=(4,)), HeldOut(counts=(6,))),
    "spatial": _COMBINATIONS,
    "quantification": (HeldOut(counts=(6,)), HeldOut(counts=(8,))),
}
"""What their validation and test scenes have and their training scenes do not."""

ONESHAPE_HELD_OUT = tuple(
    HeldOut(combinations=tuple((shape, colour) for shape in shapes for colour in colours))
    for shapes, colours in (
        (("square", "triangle", "circle"), ("red", "green", "blue")),
        (("rectangle", "cross", "ellipse"), ("yellow", "magenta", "cyan")),
    )
)
"""What validation and test of ONESHAPE hold out but for the published data: every combination of three shapes and three colours.

Of the three combinations of the paper, which are among them, no two share a shape or a colour. A test scene then has one of three
objects, so that its colour alone, or its shape alone, answers every question of a balanced set, and most foils are denials. Of
nine, the colour alone answers no more than it does of training scenes.
"""
