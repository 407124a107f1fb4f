"""Changes of one thing in captions, for whole batches: another attribute, relation, quantity or order, or a negation.

Captions that are falsified by one change, and foils, are made of them. A change says for each caption whether it could be
made; what it does to the truth is for `truth` to say. Kinds follow ShapeWorld (Kuhnle & Copestake, 2017, and its code) and the
foils of VALSE, ARO and SugarCrepe.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from molyneux.core import ConfigError, nearest
from molyneux.data.worlds.shapeworld.meaning.captioners.parts import Seen, kth_of
from molyneux.data.worlds.shapeworld.meaning.captioners.quantities import UNSAID
from molyneux.data.worlds.shapeworld.meaning.trees.programs import COLOUR_CODES, SHAPE_CODES, ends, packed
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES, SYMBOLS
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

Changed = tuple[np.ndarray, np.ndarray]
"""Captions (n, L') and whether each was changed, (n,) bool."""

Alternatives = Mapping[str, Sequence[str]]
"""What a symbol may be replaced by."""


class Change(ABC):
    """A change of captions.

    Args:
        name: what it is called in records.
        numbers: how many random numbers it takes for each caption.
    """

    def __init__(self, name: str, numbers: int) -> None:
        self.name, self.numbers = name, numbers

    @abstractmethod
    def apply(self, programs: np.ndarray, seen: Seen, numbers: np.ndarray) -> Changed:
        """Changed captions, by captions (n, L) about entities, and numbers (n, numbers) of [0, 1)."""


class Replace(Change):
    """One symbol by another.

    Args:
        name: of the change.
        alternatives: by symbol.
        argument: of the root, in which the symbol is; anywhere by default.
    """

    def __init__(self, name: str, alternatives: Alternatives, argument: int | None = None) -> None:
        super().__init__(name, 2)
        self._counts = np.zeros(len(CODES) + 1, np.int64)
        self._options = np.zeros((len(CODES) + 1, max(map(len, alternatives.values()))), np.int16)
        for symbol, others in alternatives.items():
            self._counts[CODES[symbol]] = len(others)
            self._options[CODES[symbol], : len(others)] = [CODES[other] for other in others]
        self._argument = argument

    def apply(self, programs: np.ndarray, seen: Seen, numbers: np.ndarray) -> Changed:
        """See `Change.apply`."""
        there = (self._counts[programs] > 0) & _region(programs, self._argument)
        place, one = kth_of(there, numbers[:, 0]), np.arange(len(programs))
        codes, out = programs[one, place], programs.copy()
        which = (numbers[:, 1] * self._counts[codes]).astype(np.int64)
        changed = there.any(1)
        out[one, place] = np.where(changed, self._options[codes, which], codes)
        return out, changed


class ReplaceAttribute(Change):
    """A shape or a colour by another, or both of one noun.

    Args:
        name: of the change.
        what: "shape", "colour", "either" of them or "both" of a noun that has both.
        existing: share of new values that some entity of the scene has.
        argument: of the root, in which the noun is; anywhere by default.
        shapes: names of shapes that may be new.
        colours: names of colours that may be new.
    """

    def __init__(
        self,
        name: str,
        what: str,
        *,
        existing: float = 0.5,
        argument: int | None = None,
        shapes: Sequence[str] = SHAPES,
        colours: Sequence[str] = COLOURS,
    ) -> None:
        super().__init__(name, 4)
        if what not in ("shape", "colour", "either", "both"):
            raise ConfigError(f"what: {nearest(what, ('shape', 'colour', 'either', 'both'))}")
        self._what, self._existing, self._argument = what, existing, argument
        self._kinds = [(SHAPE_CODES, np.isin(SHAPES, shapes)), (COLOUR_CODES, np.isin(COLOURS, colours))]

    def apply(self, programs: np.ndarray, seen: Seen, numbers: np.ndarray) -> Changed:
        """See `Change.apply`."""
        wanted = {
            "shape": programs >= SHAPE_CODES[0],
            "colour": programs <= COLOUR_CODES[-1],
            "either": np.ones(programs.shape, bool),
            "both": programs == CODES["both"],
        }[self._what]
        if self._what != "both":
            wanted = wanted & (programs >= COLOUR_CODES[0]) & (programs <= SHAPE_CODES[-1])
        there = wanted & _region(programs, self._argument)
        place, changed = kth_of(there, numbers[:, 0]), there.any(1)
        if self._what == "both":
            out, first = self._replaced(programs, np.where(changed, place + 1, 0), seen, numbers[:, 1:3])
            out, last = self._replaced(out, np.where(changed, place + 2, 0), seen, numbers[:, [1, 3]])
            return out, changed & first & last
        out, found = self._replaced(programs, place, seen, numbers[:, 1:3])
        return out, changed & found

    def _replaced(self, programs: np.ndarray, place: np.ndarray, seen: Seen, numbers: np.ndarray) -> Changed:
        """Another value at one place of each caption, of the kind of the one there."""
        one, out, changed = np.arange(len(programs)), programs.copy(), np.zeros(len(programs), bool)
        codes, use_existing = programs[one, place], numbers[:, 0] < self._existing
        for (values, allowed), have in zip(self._kinds, (seen.shape, seen.colour), strict=True):
            mine = (codes >= values[0]) & (codes <= values[-1])
            options = np.where(use_existing[:, None], existing_values(seen, have, values), allowed) & (values != codes[:, None])
            mine &= options.any(1)
            out[one[mine], place[mine]] = values[kth_of(options, numbers[:, 1])][mine]
            changed |= mine
        return out, changed


class Exchange(Change):
    """Two parts of a caption change places.

    Args:
        name: of the change.
        parts: gives the beginnings and ends of the first and the last part, and whether there are such, of captions.
        numbers: random numbers that `parts` takes.
    """

    def __init__(self, name: str, parts: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, ...]], numbers: int = 0) -> None:
        super().__init__(name, numbers)
        self._parts = parts

    def apply(self, programs: np.ndarray, seen: Seen, numbers: np.ndarray) -> Changed:
        """See `Change.apply`."""
        start, end, other, last, there = (array[:, None] for array in self._parts(programs, numbers))
        column = np.arange(programs.shape[1])
        group = np.select(
            [column < start, column < end, column < other, column < last],
            [np.int8(0), np.int8(3), np.int8(2), np.int8(1)],
            np.int8(4),
        )
        out = np.take_along_axis(programs, np.where(there, group, 0).argsort(1, kind="stable"), 1)
        return out, there[:, 0] & (out != programs).any(1)


class Negate(Change):
    """The negation of what is said of an entity or of entities: added, or taken away.

    Args:
        name: of the change.
        statement: whether the whole statement is denied instead.
    """

    def __init__(self, name: str = "negation", *, statement: bool = False) -> None:
        super().__init__(name, 0)
        self._statement = statement

    def apply(self, programs: np.ndarray, seen: Seen, numbers: np.ndarray) -> Changed:
        """See `Change.apply`."""
        one = np.arange(len(programs))
        if self._statement:
            place, there, negation = np.zeros(len(programs), np.int64), np.ones(len(programs), bool), CODES["not-true"]
        else:
            place, _ = argument_of(programs, -1)
            there, negation = (place > 0) & _LAST_IS_PREDICATE[programs[:, 0]], CODES["not"]
        wide = np.zeros((len(programs), 2 * programs.shape[1]), np.int16)
        wide[:, 1::2] = programs
        had = there & (programs[one, place] == negation)
        wide[one[had], 2 * place[had] + 1] = 0
        wide[one[there & ~had], 2 * place[there & ~had]] = negation
        return packed(wide)[:, : programs.shape[1] + 1], there


def argument_of(programs: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Where an argument of the root begins and ends, (n,) int64 each; 0 and 0 where there is none. -1 is the last one."""
    until, arity = ends(programs), _ARITIES[programs[:, 0]]
    start, one = np.ones(len(programs), np.int64), np.arange(len(programs))
    wanted = arity - 1 if number < 0 else np.full(len(programs), number)
    for place in range(int(wanted.max(initial=0))):
        start = np.where(place < wanted, until[one, np.minimum(start, programs.shape[1] - 1)], start)
    there = (wanted >= 0) & (wanted < arity)
    start = np.where(there, start, 0)
    return start, np.where(there, until[one, start], 0)


def existing_values(seen: Seen, have: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Which values (K,) some entity of each scene has, (n, K) bool; `have` are the codes of entities, (n, E)."""
    return np.stack([((have == value) & seen.present).any(1) for value in values], 1)


def _region(programs: np.ndarray, argument: int | None) -> np.ndarray:
    if argument is None:
        return np.ones(programs.shape, bool)
    start, end = argument_of(programs, argument)
    column = np.arange(programs.shape[1])
    return np.asarray((column >= start[:, None]) & (column < end[:, None]))


_ARITIES = np.array([0, *(len(symbol.arguments) for symbol in SYMBOLS.values())])
_LAST_IS_PREDICATE = np.array([False, *(symbol.arguments[-1:] == ("predicate",) for symbol in SYMBOLS.values())])


def inverse(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Each of a row of opposites, `left right above below`, by its opposite."""
    pairs = list(zip(names[::2], names[1::2], strict=True))
    return {name: (other,) for pair in pairs for name, other in (pair, pair[::-1])}


def others(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Each of some symbols by all others."""
    return {name: tuple(other for other in names if other != name) for name in names}


def quantifiers(by: str) -> dict[str, tuple[str, ...]]:
    """Each quantifier of a count or a share, and each comparison of counts, by others of its kind.

    Args:
        by: "closest": the next smaller and larger quantity; "quantity": any other one; "range": another comparator; "any".
    """
    alternatives: dict[str, tuple[str, ...]] = {}
    kinds = ("count", "ratio", "difference", "quotient")
    counted = [symbol for symbol in SYMBOLS.values() if symbol.kind in kinds and symbol.name not in UNSAID]
    for symbol in counted:
        alike = [other for other in counted if other.kind == symbol.kind and other != symbol]
        same_range = [other for other in alike if other.comparator == symbol.comparator]
        smaller = sorted((other for other in same_range if other.quantity < symbol.quantity), key=lambda other: -other.quantity)
        larger = sorted((other for other in same_range if other.quantity > symbol.quantity), key=lambda other: other.quantity)
        found = {
            "closest": [*smaller[:1], *larger[:1]],
            "quantity": same_range,
            "range": [other for other in alike if other.quantity == symbol.quantity],
            "any": alike,
        }[by]
        if found:
            alternatives[symbol.name] = tuple(other.name for other in found)
    return alternatives


def bounds(off: Sequence[int]) -> dict[str, tuple[str, ...]]:
    """Each number bound by those that are off by one of some numbers."""
    return {
        f"of-{number}": tuple(f"of-{number + step}" for step in off if 2 <= number + step <= 8)
        for number in range(2, 9)
        if any(2 <= number + step <= 8 for step in off)
    }
