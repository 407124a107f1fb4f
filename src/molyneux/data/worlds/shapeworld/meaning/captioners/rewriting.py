"""Changes that rearrange captions or add to them: nouns, attributes and clauses exchanged, attributes and objects added."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from molyneux.data.worlds.shapeworld.meaning.captioners.changes import Change, Changed, Exchange, argument_of
from molyneux.data.worlds.shapeworld.meaning.captioners.parts import Seen, kth_of
from molyneux.data.worlds.shapeworld.meaning.trees.programs import COLOUR_CODES, SHAPE_CODES, ends, packed
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES, RELATIONS, SYMBOLS

_KINDS = np.array(["", *(symbol.kind for symbol in SYMBOLS.values())])
_TYPES = np.array([False, *(symbol.sort in ("type", "colour", "shape") for symbol in SYMBOLS.values())])
_COUNTING = np.isin(_KINDS, ("bare", "count", "ratio"))


class Then(Change):
    """One change after the other."""

    def __init__(self, name: str, first: Change, second: Change) -> None:
        super().__init__(name, first.numbers + second.numbers)
        self._first, self._second = first, second

    def apply(self, programs: np.ndarray, seen: Seen, numbers: np.ndarray) -> Changed:
        """See `Change.apply`."""
        out, changed = self._first.apply(programs, seen, numbers[:, : self._first.numbers])
        out, also = self._second.apply(out, seen, numbers[:, self._first.numbers :])
        return out, changed & also


class AddAttribute(Change):
    """A colour for a noun that has a shape alone, or a shape for one that has a colour alone.

    Args:
        name: of the change.
        shapes: names of shapes that may be added.
        colours: names of colours.
    """

    def __init__(self, name: str, shapes: Sequence[str], colours: Sequence[str]) -> None:
        super().__init__(name, 2)
        self._values = [np.array([CODES[value] for value in values], np.int16) for values in (shapes, colours)]

    def apply(self, programs: np.ndarray, seen: Seen, numbers: np.ndarray) -> Changed:
        """See `Change.apply`."""
        one, before = np.arange(len(programs)), np.pad(programs, ((0, 0), (2, 0)))
        alone = np.isin(programs, [*COLOUR_CODES, *SHAPE_CODES])
        alone &= (before[:, 1:-1] != CODES["both"]) & (before[:, :-2] != CODES["both"])
        place, there = kth_of(alone, numbers[:, 0]), np.asarray(alone.any(1))
        of_shape = programs[one, place] >= SHAPE_CODES[0]
        wide = np.zeros((len(programs), programs.shape[1], 4), np.int16)
        wide[:, :, 2] = programs
        shape, colour = (values[(numbers[:, 1] * len(values)).astype(np.int64)] for values in self._values)
        wide[one, place, 0] = np.where(there, CODES["both"], 0)
        wide[one, place, 1] = np.where(there & of_shape, colour, 0)
        wide[one, place, 3] = np.where(there & ~of_shape, shape, 0)
        return packed(wide.reshape(len(programs), -1))[:, : programs.shape[1] + 2], there


class AddObject(Change):
    """The statement, and that there is some object.

    Args:
        name: of the change.
        shapes: names of shapes that it may have.
        colours: names of colours.
    """

    def __init__(self, name: str, shapes: Sequence[str], colours: Sequence[str]) -> None:
        super().__init__(name, 2)
        self._values = [np.array([CODES[value] for value in values], np.int16) for values in (shapes, colours)]

    def apply(self, programs: np.ndarray, seen: Seen, numbers: np.ndarray) -> Changed:
        """See `Change.apply`."""
        shape, colour = (values[(numbers[:, place] * len(values)).astype(np.int64)] for place, values in enumerate(self._values))
        added = np.zeros((len(programs), programs.shape[1] + 5), np.int16)
        added[:, 0], added[:, 1:-4] = CODES["and"], programs
        added[:, -4:-2] = CODES["there-is"], CODES["both"]
        added[:, -2], added[:, -1] = colour, shape
        return packed(added), np.ones(len(programs), bool)


class Restate(Change):
    """Sentences such as "there is a red square", "a square is red" and "a red shape is a square" by each other."""

    def __init__(self, name: str) -> None:
        super().__init__(name, 1)

    def apply(self, programs: np.ndarray, seen: Seen, numbers: np.ndarray) -> Changed:
        """See `Change.apply`."""
        codes = np.pad(programs, ((0, 0), (0, 6)))[:, :6]
        root, first, second, third, fourth, rest = codes.T
        swapped = numbers[:, 0] < 0.5
        single = ((first >= COLOUR_CODES[0]) & (first <= SHAPE_CODES[-1])) & (second == 0)
        whole, said = CODES["both"], codes[:, 1:3]
        is_colour = (said >= COLOUR_CODES[0]) & (said <= COLOUR_CODES[-1])
        is_shape = (said >= SHAPE_CODES[0]) & (said <= SHAPE_CODES[-1])
        there, exists = root == CODES["there-is"], (root == CODES["exists"]) & (rest == 0)
        pair = exists & (third == 0) & ((is_colour[:, 0] & is_shape[:, 1]) | (is_shape[:, 0] & is_colour[:, 1]))
        colour, shape = np.where(is_colour[:, 0], first, second), np.where(is_colour[:, 0], second, first)
        anything, none = np.full(len(codes), CODES["any"]), np.zeros(len(codes), np.int64)
        is_so, is_there, joined = (np.full(len(codes), CODES[name]) for name in ("exists", "there-is", "both"))
        cases = [
            (there & (first == whole), [is_so, np.where(swapped, second, third), np.where(swapped, third, second)]),
            (there & single, [is_so, anything, first]),
            (exists & (first == CODES["any"]) & (second == whole) & (fourth > 0), [is_there, second, third, fourth]),
            (exists & (first == CODES["any"]) & (is_colour[:, 1] | is_shape[:, 1]) & (third == 0), [is_there, second]),
            (pair, [is_there, joined, colour, shape]),
        ]
        out, changed = np.zeros((len(programs), programs.shape[1] + 2), np.int16), np.zeros(len(programs), bool)
        out[:, : programs.shape[1]] = programs
        for case, columns in cases:
            new = np.zeros_like(out)
            for place, column in enumerate([*columns, none][: out.shape[1]]):
                new[:, place] = column
            out[case], changed = new[case], changed | case
        return out, changed


def exchange_nouns(name: str, relations: Sequence[str] = (*RELATIONS, "closer", "farther")) -> Exchange:
    """Exchange subject and reference of a relation; of quantifiers the noun and what is said of it; of comparisons both nouns.

    Args:
        name: of the change.
        relations: names of relations to which it is restricted; quantifiers and comparisons count as all relations.
    """
    codes = [CODES[relation] for relation in relations]
    whole = len(relations) == len(RELATIONS) + 2

    def parts(programs: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
        one, until = np.arange(len(programs)), ends(programs)
        start, end = argument_of(programs, 0)
        second, last = argument_of(programs, 1)
        negated = programs[one, second] == CODES["not"]
        relation = second + negated
        related = np.isin(programs[one, relation], codes) & (programs[:, 0] == CODES["exists"]) & (second > 0)
        related &= ~negated if not whole else True
        reference = np.minimum(relation + 1, programs.shape[1] - 1)
        counting = whole & (_COUNTING[programs[:, 0]] | np.isin(_KINDS[programs[:, 0]], ("difference", "quotient")))
        counting = counting & _TYPES[programs[one, second]]
        other = np.where(related, reference, second)
        return start, end, other, np.where(related, until[one, reference], last), related | counting

    return Exchange(name, parts)


def exchange_clauses(name: str, connectives: Sequence[str]) -> Exchange:
    """The two clauses of some connectives exchanged."""
    codes = [CODES[connective] for connective in connectives]

    def parts(programs: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
        return *argument_of(programs, 0), *argument_of(programs, 1), np.isin(programs[:, 0], codes)

    return Exchange(name, parts)


def exchange_attributes(name: str) -> Exchange:
    """Two different colours, or two different shapes, of a caption exchanged: the same words in another order.

    One of them belongs to a noun that has the other attribute too: else whole nouns would be exchanged.
    """
    both = CODES["both"]

    def parts(programs: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
        one = np.arange(len(programs))
        colours = (programs >= COLOUR_CODES[0]) & (programs <= COLOUR_CODES[-1])
        shapes = (programs >= SHAPE_CODES[0]) & (programs <= SHAPE_CODES[-1])
        use_colours = np.where((colours.sum(1) > 1) & (shapes.sum(1) > 1), numbers[:, 0] < 0.5, colours.sum(1) > 1)
        kind = np.where(use_colours[:, None], colours, shapes)
        first = kth_of(kind, numbers[:, 1])
        rest = kind & (programs != programs[one, first][:, None])
        second = kth_of(rest, numbers[:, 2])
        low, high = np.minimum(first, second), np.maximum(first, second)
        before = np.pad(programs, ((0, 0), (2, 0)))  # a colour stands after `both`, a shape after `both` and a colour
        whole = np.any([(before[one, place + 1] == both) | (before[one, place] == both) for place in (low, high)], 0)
        return low, low + 1, high, high + 1, rest.any(1) & whole

    return Exchange(name, parts, 3)
