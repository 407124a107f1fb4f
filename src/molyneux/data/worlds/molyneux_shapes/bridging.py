"""Which shapes are seen and felt together in training: the design of an experiment on Molyneux's question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Annotated, Literal

import numpy as np

from molyneux.core import ConfigError, DataError, choice_problems, seeds
from molyneux.core.tooling.classes import ADDED
from molyneux.core.tooling.kinds import kind_problems
from molyneux.data.dataset import Split
from molyneux.data.worlds.combinations import pick
from molyneux.data.worlds.molyneux_shapes.chosen import COUNT

Role = Literal["bridged", "parted", "felt", "seen", "new"]
"""What a shape is in training: seen and felt together; seen, or felt, but never together; only felt; only seen; neither."""

ROLES: tuple[Role, ...] = ("bridged", "parted", "felt", "seen", "new")

POOL = 128
"""Shapes that are bridged or parted."""

_FEWEST = 4
"""Shapes of which each can be felt in place of one that is not alike."""

ASKED = 64
"""Shapes of each other role: the first quarter of them are asked about in validation, the others in the test."""

_SENSES: dict[str, tuple[tuple[bool, bool], ...]] = {
    "bridged": ((True, True),),
    "parted": ((True, False), (False, True)),
    "felt": ((False, True),),
    "seen": ((True, False),),
    "new": (),
}
"""By role, the pairs of sight and touch that samples of training have, equally likely."""


@dataclass(frozen=True)
class Bridging:
    """Which of the 320 shapes training samples show, in which senses, and which shapes are asked about.

    Of 128 shapes, `bridged` are seen and felt in the same sample. The others of the 128 are `parted`: each sample shows them to
    one sense, so that both senses meet the same shapes whatever `bridged` is. 64 shapes are only `felt`, 64 only `seen`, and 64
    are `new` to both senses. Samples of the splits `validation` and `test` are complete: they show the 128 shapes, and of each
    other role 16 and 48, of which no shape is in both.

    Args:
        bridged: how many shapes are seen and felt together, 0 to 128; an even number, since shapes come in pairs that are alike.
        named: roles of the shapes that have their name in training, where the world has names; new ones have none.
        assignment: another number gives the roles to other shapes.
        share: of the training samples, that which shows bridged shapes, if there are any; None shows all shapes equally often, so
            that fewer bridged shapes are also fewer bridged samples.
        permuted: whether training samples of bridged shapes are a control: who sees one shape feels another bridged one, always
            the same, which is neither it nor the one that is alike. Factors and name are those of the shape that is seen.

    Raises:
        ConfigError: settings of the wrong kind; a number of shapes or a share out of range, a negative assignment, an odd
            number, an unknown role, or fewer than 4 bridged shapes to permute.
    """

    bridged: int = 32
    named: tuple[Role, ...] = ("bridged", "parted", "felt", "seen")
    assignment: int = 0
    share: float | None = None
    permuted: Annotated[bool, ADDED] = False

    def __post_init__(self) -> None:
        if problems := kind_problems(Bridging, vars(self)):
            raise ConfigError(problems)
        problems += [problem for role in self.named for problem in choice_problems(named=(role, ROLES[:-1]))]
        problems += [f"assignment: expected a whole number of at least 0, got {self.assignment}"] * (self.assignment < 0)
        if not 0 <= self.bridged <= POOL or self.bridged % 2:
            problems.append(f"bridged: expected an even number from 0 to {POOL}, got {self.bridged}")
        elif self.permuted and self.bridged < _FEWEST:
            problems.append(f"permuted: expected at least {_FEWEST} bridged shapes, got {self.bridged}")
        problems += share_problems(self.share)
        if problems:
            raise ConfigError(problems)

    @cached_property
    def roles(self) -> np.ndarray:
        """The role of every shape, (320,) int64: 0 bridged, 1 parted, 2 felt, 3 seen, 4 new."""
        return self._design[0]

    def of(self, role: Role) -> np.ndarray:
        """Numbers of the shapes of a role, in rising order, (k,) int64.

        Raises:
            ConfigError: an unknown role.
        """
        if problems := choice_problems(role=(role, ROLES)):
            raise ConfigError(problems)
        return np.flatnonzero(self.roles == ROLES.index(role))

    def shapes(self, split: Split) -> np.ndarray:
        """Numbers of the shapes that a split shows, in rising order, (k,) int64."""
        asked = {"validation": 1, "test": 2}.get(split, 0)
        roles, part = self._design
        if asked:
            return np.flatnonzero(np.isin(part, (0, asked)))
        return np.flatnonzero(roles != ROLES.index("new"))

    def draw(self, uniforms: np.ndarray, split: Split) -> np.ndarray:
        """Numbers of the shapes that samples of a split show, (n,) int64, from uniform numbers (n,) of [0, 1)."""
        return shown_things(self.shapes(split), self.roles, uniforms, self.share if split == "train" else None)

    def felt(self, shapes: np.ndarray, split: Split) -> np.ndarray:
        """Numbers of the shapes that samples of a split show to touch, (n,) int64, where these are what they show to sight."""
        return self._partners[shapes] if self.permuted and split == "train" else shapes

    def present(self, shapes: np.ndarray, draws: np.ndarray, split: Split) -> dict[str, np.ndarray]:
        """Which samples have sight, touch and name: three masks (n,) bool.

        Args:
            shapes: (n,) numbers of the shapes.
            draws: (n,) of [0, 1), for what one of two senses is present.
            split: of the samples.
        """
        whole = np.ones(len(shapes), bool)
        if split != "train":
            return {"image": whole, "touch": whole, "text": whole}
        roles = self.roles[shapes]
        image, touch = senses(roles, draws)
        present = {"image": image, "touch": touch, "text": np.isin(roles, [ROLES.index(role) for role in self.named])}
        self.check(shapes, present)
        return present

    def check(self, shapes: np.ndarray, present: dict[str, np.ndarray]) -> None:
        """Refuse training samples that show a shape in senses that its role does not have.

        Raises:
            DataError: names the first such shape.
        """
        check_senses(self.roles[shapes], present["image"], present["touch"], lambda row: f"shape {shapes[row]}")

    @cached_property
    def _partners(self) -> np.ndarray:
        """By shape, the one that is felt where it is seen, (320,): the first permutation that leaves no shape within its pair."""
        bridged, partners = np.flatnonzero(self.roles == ROLES.index("bridged")), np.arange(COUNT)
        key = seeds.key(self.assignment, "molyneux-v1", "permuted")
        for draws in (seeds.uniforms(key, np.arange(first, first + COUNT), 1)[:, 0] for first in count(step=COUNT)):
            others = bridged[np.argsort(draws[: len(bridged)])]
            if (others // 2 != bridged // 2).all():
                partners[bridged] = others
                return partners
        raise AssertionError("unreachable: at least 4 shapes can be permuted so")

    @cached_property
    def _design(self) -> tuple[np.ndarray, np.ndarray]:
        """Roles (320,), and where each shape is asked about (320,): 0 in both, 1 in validation, 2 in the test."""
        draws = seeds.uniforms(seeds.key(self.assignment, "molyneux-v1", "roles"), np.arange(COUNT // 2), 1)[:, 0]
        return dealt(np.argsort(draws), self.bridged, POOL, ASKED)


def dealt(order: np.ndarray, bridged: int, pool: int, asked: int) -> tuple[np.ndarray, np.ndarray]:
    """Roles of things that come in pairs (2 K,), and where each is asked about (2 K,): 0 in both, 1 in validation, 2 in the test.

    Things 2 k and 2 k + 1 are a pair, and have the same role.

    Args:
        order: (K,) pairs in the order in which they are given roles.
        bridged: how many things are bridged.
        pool: how many are bridged or parted, an even number.
        asked: how many have each other role; of these, a quarter is asked about in validation.
    """
    things = (2 * order[:, None] + np.arange(2)).ravel()
    roles, part = np.empty(len(things), np.int64), np.zeros(len(things), np.int64)
    roles[things[:bridged]], roles[things[bridged:pool]] = 0, 1
    for number in range(2, len(ROLES)):
        first = pool + (number - 2) * asked
        own = things[first : first + asked]
        roles[own], part[own[: asked // 4]], part[own[asked // 4 :]] = number, 1, 2
    return roles, part


def share_problems(share: float | None) -> list[str]:
    """What is wrong with the share of training samples that show bridged things."""
    if share is None or 0 < share < 1:
        return []
    return [f"share: expected a number above 0 and below 1, or none, got {share}"]


def shown_things(things: np.ndarray, roles: np.ndarray, uniforms: np.ndarray, share: float | None) -> np.ndarray:
    """The things that samples show, (n,) int64.

    Args:
        things: (k,) numbers of those that a split shows.
        roles: (N,) places in `ROLES` of all things.
        uniforms: (n,) of [0, 1), one for each sample.
        share: of the samples, that which shows bridged things, if there are any; None shows all things equally often.
    """
    together = roles[things] == ROLES.index("bridged")
    if share is None or not together.any():
        return np.asarray(things[pick(uniforms, len(things))])
    first, others, inside = things[together], things[~together], uniforms < share
    within = np.where(inside, uniforms / share, (uniforms - share) / (1.0 - share))
    return np.asarray(np.where(inside, first[pick(within, len(first))], others[pick(within, len(others))]))


def senses(roles: np.ndarray, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which samples of training have sight, and which have touch, (n,) bool each.

    Args:
        roles: (n,) places in `ROLES`.
        draws: (n,) of [0, 1), for what one of two senses is present.
    """
    sight, touch = np.zeros(len(roles), bool), np.zeros(len(roles), bool)
    for number, role in enumerate(ROLES):
        rows = roles == number
        if _SENSES[role] and rows.any():
            sets = np.array(_SENSES[role])
            sight[rows], touch[rows] = sets[(draws[rows] * len(sets)).astype(np.int64)].T
    return sight, touch


def check_senses(roles: np.ndarray, sight: np.ndarray, touch: np.ndarray, thing: Callable[[int], str]) -> None:
    """Refuse training samples that show a thing in senses that its role does not have.

    Args:
        roles: (n,) places in `ROLES`.
        sight: (n,) which samples show it to sight.
        touch: (n,) which samples show it to touch.
        thing: what the sample of this row shows, in the words of an error.

    Raises:
        DataError: names the first such thing.
    """
    wrong = (sight & touch & (roles != ROLES.index("bridged"))) | (roles == ROLES.index("new"))
    wrong |= (sight & (roles == ROLES.index("felt"))) | (touch & (roles == ROLES.index("seen")))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(f"{thing(row)} is {ROLES[roles[row]]} and shown otherwise in training: report this as a bug")
