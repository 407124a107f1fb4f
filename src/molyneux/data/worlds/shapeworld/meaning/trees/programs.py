"""Captions as arrays: trees in Polish notation as codes, and what a stack machine has to do at each code."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from typing import get_args

import numpy as np

from molyneux.core import DataError
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.shapeworld.meaning.trees.trees import (
    CODES,
    COMPARATORS,
    PADDING,
    SYMBOLS,
    Sort,
    Symbol,
    Tree,
    fits_sort,
)
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

COLOUR_CODES = np.array([CODES[name] for name in COLOURS], np.int16)
SHAPE_CODES = np.array([CODES[name] for name in SHAPES], np.int16)
"""Codes of colours and shapes, in the order of the scenes' arrays."""

_STRUCTURE_BASE = np.uint64(0x9E3779B97F4A7C15)


class Operation(IntEnum):
    """What a symbol computes: predicates first, then relations, selectors, statements and connectives."""

    ANY = 0
    COLOUR = 1
    SHAPE = 2
    BOTH = 3
    NOT = 4
    AXIS = 5
    DEPTH = 6
    SIZE = 7
    SHADE = 8
    SAME_SHAPE = 9
    SAME_COLOUR = 10
    BESIDES = 11
    PROXIMITY = 12
    UNIQUE = 13
    SELECT_AXIS = 14
    SELECT_SIZE = 15
    SELECT_SHADE = 16
    SELECT_DISTANCE = 17
    THERE_IS = 18
    EXISTS = 19
    BARE = 20
    COUNT = 21
    RATIO = 22
    BOUND = 23
    DIFFERENCE = 24
    QUOTIENT = 25
    NOT_TRUE = 26
    AND = 27
    OR = 28
    EITHER = 29
    IF = 30
    IFF = 31


_DIRECTED = {
    Operation.AXIS: ("left", "right", "above", "below"),
    Operation.DEPTH: ("behind", "in-front"),
    Operation.SIZE: ("smaller", "bigger"),
    Operation.SHADE: ("darker", "lighter"),
    Operation.SAME_SHAPE: ("different-shape", "same-shape"),
    Operation.SAME_COLOUR: ("different-colour", "same-colour"),
    Operation.PROXIMITY: ("closer", "farther"),
    Operation.SELECT_AXIS: (
        *("left-of-two", "right-of-two", "upper-of-two", "lower-of-two"),
        *("leftmost", "rightmost", "uppermost", "lowermost"),
    ),
    Operation.SELECT_SIZE: ("smaller-of-two", "bigger-of-two", "smallest", "biggest"),
    Operation.SELECT_SHADE: ("darker-of-two", "lighter-of-two", "darkest", "lightest"),
    Operation.SELECT_DISTANCE: ("closer-of-two", "farther-of-two", "closest", "farthest"),
}
"""Symbols with a direction: in pairs, the first of which is negative. Of pairs along an axis, every other is along y."""

_COUNTING = {
    "bare": Operation.BARE,
    "count": Operation.COUNT,
    "ratio": Operation.RATIO,
    "bound": Operation.BOUND,
    "difference": Operation.DIFFERENCE,
    "quotient": Operation.QUOTIENT,
}

_BARE_AS = {
    "bare-the": (Operation.COUNT, "eq", 1.0),
    "bare-two": (Operation.COUNT, "geq", 2.0),
    "bare-most": (Operation.BARE, "geq", 0.6),
}
"""What the paper's quantifiers count: "the" is exactly one; `most` has bounds of its own."""

_PLACES = {name: (operation, place) for operation, names in _DIRECTED.items() for place, name in enumerate(names)}

OPERATION, DETAIL, DIRECTION, ARITY, COMPARATOR, QUANTITY, OF_TWO = range(7)
"""Columns of `instructions`."""


@cache
def instructions() -> np.ndarray:
    """What each code stands for, (codes, 7): operation, axis or value, direction, arity, comparator, quantity, of two or not."""
    return np.array([(0.0,) * 7, *map(_instruction, SYMBOLS.values())])


def _instruction(symbol: Symbol) -> tuple[float, ...]:
    arity, name = len(symbol.arguments), symbol.name
    if symbol.kind in ("colour", "shape"):
        values, operation = (COLOURS, Operation.COLOUR) if symbol.kind == "colour" else (SHAPES, Operation.SHAPE)
        return (operation, values.index(name), 0, 0, 0, 0, 0)
    if symbol.kind in _COUNTING:
        operation, comparator, quantity = _COUNTING[symbol.kind], symbol.comparator, symbol.quantity
        if symbol.kind == "bare":
            operation, comparator, quantity = _BARE_AS[name]
        return (operation, 0, 0, arity, COMPARATORS.index(comparator), quantity, 0)
    if name in _PLACES:
        operation, place = _PLACES[name]
        axis = operation in (Operation.AXIS, Operation.SELECT_AXIS)
        return (operation, place // 2 % 2 if axis else 0, 2 * (place % 2) - 1, arity, 0, 0, name.endswith("-of-two"))
    return (Operation[name.replace("-", "_").upper()], 0, 1, arity, 0, 0, 0)


def programs_of(trees: Sequence[Tree], length: int | None = None) -> np.ndarray:
    """Codes of trees in Polish notation, (n, L) int16, padded with 0.

    Args:
        trees: n of them.
        length: L; that of the longest by default.

    Raises:
        DataError: a tree is longer.
    """
    rows = [[CODES[name] for name in tree.polish] for tree in trees]
    longest = max(map(len, rows), default=0)
    if length is not None and longest > length:
        raise DataError(f"expected trees of at most {length} symbols, got one of {longest}")
    programs = np.full((len(rows), longest if length is None else length), PADDING, np.int16)
    for row, codes in zip(programs, rows, strict=True):
        row[: len(codes)] = codes
    return programs


def trees_of(programs: np.ndarray) -> list[Tree]:
    """The trees of codes (n, L).

    Raises:
        DataError: unknown codes, or errors as `Tree.from_polish`.
    """
    names = ("", *SYMBOLS)
    if programs.size and (programs.min() < 0 or programs.max() >= len(names)):
        raise DataError(f"expected codes of 0 to {len(names) - 1}, got {programs.min()} to {programs.max()}")
    return [Tree.from_polish([names[code] for code in row if code != PADDING]) for row in programs.tolist()]


def packed(codes: np.ndarray) -> np.ndarray:
    """Codes (n, L) with the zeros between them moved to the end."""
    out = np.zeros_like(codes)
    _pack(codes, out)
    return out


def ends(programs: np.ndarray) -> np.ndarray:
    """Where the part of a tree that begins at each place ends, (n, L) int64: the place after its last symbol; 0 in the padding.

    Args:
        programs: (n, L), sound programs.
    """
    out = np.zeros(programs.shape, np.int64)
    _ends(programs, instructions()[:, ARITY].astype(np.int64), out)
    return out


def structures(programs: np.ndarray) -> np.ndarray:
    """The structure of captions, (n,) uint64: equal for captions that differ in their colours and shapes alone.

    It is a function of the symbols and does not depend on the length of the padding. (A polynomial hash of 64 bits: two of a
    thousand structures are the same with a probability below 1e-13.)
    """
    symbols = programs.astype(np.uint64)
    symbols[np.isin(programs, COLOUR_CODES)] = COLOUR_CODES[0]
    symbols[np.isin(programs, SHAPE_CODES)] = SHAPE_CODES[0]
    weights = np.cumprod(np.full(programs.shape[1], _STRUCTURE_BASE, np.uint64))
    return np.asarray((symbols * weights).sum(1, dtype=np.uint64))


def well_typed(programs: np.ndarray) -> np.ndarray:
    """Which rows of codes are statements whose arguments have the sorts that their symbols ask for, (n,) bool.

    Args:
        programs: (n, L), padded with 0 at the end.
    """
    out = np.zeros(len(programs), np.bool_)
    _check(np.ascontiguousarray(programs, np.int64), *_sort_tables(), out)
    return out


@cache
def _sort_tables() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """By code: arity, sort, and sorts of up to three arguments; and which sort (first) may have another one (second)."""
    sorts = list(get_args(Sort))
    arity, own, wanted = (
        np.zeros(len(CODES) + 1, np.int64),
        np.zeros(len(CODES) + 1, np.int64),
        np.zeros((len(CODES) + 1, 3), np.int64),
    )
    for name, code in CODES.items():
        arity[code], own[code] = len(SYMBOLS[name].arguments), sorts.index(SYMBOLS[name].sort)
        wanted[code, : arity[code]] = [sorts.index(sort) for sort in SYMBOLS[name].arguments]
    fits = np.array([[fits_sort(want, have) for have in sorts] for want in sorts])
    return arity, own, wanted, fits


@compiled
def _check(
    programs: np.ndarray, arity: np.ndarray, own: np.ndarray, wanted: np.ndarray, fits: np.ndarray, out: np.ndarray
) -> None:
    statement = own[len(own) - 1]  # the last symbol is a connective
    stack = np.empty(programs.shape[1] + 4, np.int64)
    for row in range(len(programs)):
        top, sound = 0, True
        for place in range(programs.shape[1] - 1, -1, -1):
            code = programs[row, place]
            if code == 0 and top == 0:
                continue
            if code <= 0 or code >= len(arity) or top < arity[code]:
                sound = False
                break
            for argument in range(arity[code]):
                sound = sound and fits[wanted[code, argument], stack[top - 1 - argument]]
            top -= arity[code]
            stack[top] = own[code]
            top += 1
        out[row] = sound and top == 1 and fits[statement, stack[0]]


@compiled
def _pack(codes: np.ndarray, out: np.ndarray) -> None:
    for row in range(len(codes)):
        place = 0
        for column in range(codes.shape[1]):
            if codes[row, column] != 0:
                out[row, place] = codes[row, column]
                place += 1


@compiled
def _ends(programs: np.ndarray, arities: np.ndarray, out: np.ndarray) -> None:
    for row in range(len(programs)):
        for place in range(programs.shape[1] - 1, -1, -1):
            code = programs[row, place]
            if code != 0:
                end = place + 1
                for _ in range(arities[code]):
                    end = out[row, end] if end < programs.shape[1] else end
                out[row, place] = end
