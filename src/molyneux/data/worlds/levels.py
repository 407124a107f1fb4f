"""Levels of difficulty: what a world's pictures show and its captions say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from molyneux.core import Factor
from molyneux.data.worlds.choices import Choices


@dataclass(frozen=True)
class Levels:
    """What a world tells by level; a level's picture shows what its caption says.

    Args:
        templates: captions by level, from 1.
        positions: caption phrases of the positions.
        backgrounds: caption phrases of the backgrounds.
    """

    templates: Mapping[int, str]
    positions: tuple[str, ...]
    backgrounds: tuple[str, ...]

    def said(self, level: int) -> tuple[str, ...]:
        """Names of the factors of a level, in the order in which its caption says them."""
        return tuple(place.strip("{}") for place in self.templates[level].split(" "))

    def factors(self, level: int, choices: Choices) -> tuple[Factor, ...]:
        """The factors of a level, in the order in which its caption says them."""
        values = {
            "size": tuple(choices.sizes),
            "colour": tuple(choices.colours),
            "shape": tuple(choices.shapes),
            "position": self.positions,
            "background": self.backgrounds,
        }
        return tuple(Factor(name, values[name]) for name in self.said(level))
