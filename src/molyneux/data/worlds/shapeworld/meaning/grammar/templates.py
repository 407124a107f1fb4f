"""Meanings of rules that are more than one symbol and its arguments: trees with slots, holes and remarks, in Polish notation.

A rule for reading may say its meaning as a template: `and(exists(0 2) exists(1 2))` makes two statements of the arguments 0, 1
and 2. A hole `_` is filled later: "a square and a circle" is `and(exists(square _) exists(circle _))`, and `0(1)` fills the holes
of argument 0 with argument 1. A remark `#all` tells which reading was taken; remarks stand before the symbols of a value.

>>> fill("and(exists(0 _) exists(1 _))", [("square",), ("circle",)])
('and', 'exists', 'square', '_', 'exists', 'circle', '_')
>>> fill("#one 0(1)", [("exists", "square", "_"), ("red",)])
('#one', 'exists', 'square', 'red')
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

HOLE, REMARK = "_", "#"
"""The symbol of a hole, and what remarks begin with."""

Polish = tuple[str, ...]


class _Part(NamedTuple):
    """A symbol, a slot (its number as text) or a hole, and what stands in its brackets."""

    name: str
    arguments: tuple[_Part, ...]


def names_of(template: str) -> set[str]:
    """The symbols of meaning that a template has."""
    return {name for name in re.findall(r"[#\w-]+", template) if not name.isdigit() and name != HOLE and name[0] != REMARK}


def fill(template: str, values: Sequence[Polish]) -> Polish:
    """The value of a template.

    Args:
        template: parts beside each other, such as remarks and a tree.
        values: of the slots by their number; remarks within them are passed on.
    """
    told = [name for value in values for name in value if name.startswith(REMARK)]
    plain = [tuple(name for name in value if not name.startswith(REMARK)) for value in values]
    made = [name for part in _parsed(template) for name in _filled(part, plain)]
    told += [name for name in made if name.startswith(REMARK)]
    return (*dict.fromkeys(told), *(name for name in made if not name.startswith(REMARK)))


def remarks_of(value: Polish) -> tuple[str, ...]:
    """The names of the remarks of a value, without their mark."""
    return tuple(name[1:] for name in value if name.startswith(REMARK))


def without_remarks(value: Polish) -> Polish:
    """The symbols of a value."""
    return tuple(name for name in value if not name.startswith(REMARK))


def _filled(part: _Part, values: Sequence[Polish]) -> Polish:
    arguments = [_filled(one, values) for one in part.arguments]
    if not part.name.isdigit():
        return (part.name, *(name for one in arguments for name in one))
    value = values[int(part.name)]
    if not arguments:
        return value
    rest = iter(arguments if len(arguments) > 1 else arguments * value.count(HOLE))
    return tuple(name for symbol in value for name in (next(rest, (HOLE,)) if symbol == HOLE else (symbol,)))


@lru_cache(maxsize=4096)
def _parsed(template: str) -> tuple[_Part, ...]:
    tokens = re.findall(r"[#\w-]+|[()]", template)
    return tuple(_parts(iter(tokens)))


def _parts(tokens: Iterator[str]) -> Iterator[_Part]:
    """The parts up to a closing bracket."""
    name = ""
    for token in tokens:
        if token == "(":
            yield _Part(name, tuple(_parts(tokens)))
            name = ""
            continue
        if name:
            yield _Part(name, ())
        if token == ")":
            return
        name = token
    if name:
        yield _Part(name, ())
