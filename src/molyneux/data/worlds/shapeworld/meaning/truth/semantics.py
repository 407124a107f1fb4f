"""When a caption is true: the margins below which a relation is undetermined, and what is decided where ShapeWorld is silent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from molyneux.core import ConfigError
from molyneux.core.errors import choice_problems

Vacuous = Literal["undetermined", "published"]


@dataclass(frozen=True)
class Semantics:
    """How captions are evaluated on scenes, with three values: agrees (1), undetermined (0), disagrees (-1).

    Margins are those of the published system (ShapeWorld, class `Settings`, since July 2018); lengths are sides of the scene.
    What it leaves open or gets wrong is decided here:

    - **Self-reference**: an entity is never its own reference. Where it is the only one, a relation is undetermined, and
      `besides` is false.
    - **Closest and farthest**: the entity has to beat all others by the margin; published code asks for one.
    - **Negation** negates; published code takes "not" for nothing in relations.
    - **Vacuous quantification and presupposition**: what compares a share or a multiple presupposes something that it is a
      share or a multiple of ("all triangles" and "most triangles" without triangles, "twice as many as none"), and a selector
      that its noun fits enough entities ("the left circle" of three does not): else the statement is undetermined. What
      compares numbers presupposes nothing, whatever its words: without circles "exactly zero circles are red", "no circle is
      red" and "as many circles as squares are red" (of no red square) are true, "a circle is red", "some circles are red" and
      "at least one circle is red" false. The number in "one of the three squares" is asserted: it is false of two squares.
      With `vacuous="published"` they have the truth values of the published code.

    Args:
        axis_distance: how far two entities have to be apart along an axis to be left and right of, above and below each other.
        distance: by how much two distances have to differ.
        overlap: share of an entity that has to be covered for one to be in front of the other.
        area: by how much two areas have to differ, in areas of the scene.
        shade: by how much two shades have to differ.
        quantifier: how far a share may be away from one that is no whole number.
        vacuous: see above.
        cone: whether spatial relations have two values, as in the paper of 2017: left is within 45 degrees of the axis, at any
            distance, and what is left of no other entity of the reference is not left, even if there is no other.

    Raises:
        ConfigError: a margin below 0, or an unknown choice.
    """

    axis_distance: float = 0.1
    distance: float = 0.15
    overlap: float = 0.1
    area: float = 0.005
    shade: float = 0.2
    quantifier: float = 0.005
    vacuous: Vacuous = "undetermined"
    cone: bool = False

    def __post_init__(self) -> None:
        margins = {name: getattr(self, name) for name in ("axis_distance", "distance", "overlap", "area", "shade", "quantifier")}
        problems = [
            f"{name}: expected a number of at least 0, got {value!r}"
            for name, value in margins.items()
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf
        ]
        problems += choice_problems(vacuous=(self.vacuous, ("undetermined", "published")), cone=(self.cone, (False, True)))
        if problems:
            raise ConfigError(problems)

    @classmethod
    def published(cls) -> Semantics:
        """Truth values of the published code for vacuous quantification and presupposition."""
        return cls(vacuous="published")

    @classmethod
    def paper(cls) -> Semantics:
        """Those of the paper's data sets (2017): two-valued spatial relations, without margins."""
        return cls(axis_distance=0.0, vacuous="published", cone=True)
