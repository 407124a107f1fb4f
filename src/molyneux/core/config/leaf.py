"""Values without parts: numbers, words, truth values, choices, paths. jsonargparse says what fits a type; we say it short."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import math
import types
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from jsonargparse import ArgumentError, ArgumentParser

from molyneux.core.config.recipe import Recipe
from molyneux.core.errors import ConfigError, nearest

LISTS: dict[Any, Any] = {
    list: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    Collection: tuple,
    Iterable: tuple,
    Sequence: tuple,
    Set: frozenset,
}
"""Types that are written as a list, and what is made of it."""
MAPPINGS = (dict, Mapping)
"""Types that are written as `name: value` lines."""

_PLAIN = (bool, float, int, str, type(None), Path)
_WORDS = {type(None): "null", Path: "a path", Any: "any value", str: "a word or sentence", bool: "true or false"}


def is_leaf(kind: Any) -> bool:
    """Whether values of a type have no parts that are looked at by themselves."""
    if kind is Any or kind in _PLAIN or get_origin(kind) is Literal:
        return True
    if get_origin(kind) in (Union, types.UnionType):
        return all(is_leaf(member) for member in get_args(kind))
    return inspect.isclass(kind) and issubclass(kind, enum.Enum)


def convert(kind: Any, value: Any) -> Any:
    """The value as a leaf type, such as a Path for a word, a float for an int, or a choice for the number that it is written as.

    >>> convert(float, 1), convert(Literal["auto", "32"], 32)
    (1.0, '32')

    Raises:
        ConfigError: it does not fit: what was expected, what came.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"expected a finite number, got {value}")
    if kind is Any or (isinstance(value, str) and kind is str):
        return value
    if (value is None and not _takes_null(kind)) or (isinstance(value, str) and not _takes_words(kind)):
        raise ConfigError(f"expected {described(kind)}, got {value!r}")
    parser = ArgumentParser(exit_on_error=False)
    parser.add_argument("--value", type=kind)
    try:
        return parser.parse_object({"value": value}).value
    except ArgumentError as error:
        choices = [str(choice) for choice in _choices(kind)]
        if type(value) is int and str(value) in choices:
            return str(value)
        offer = f"; {nearest(str(value), choices)}" if choices and isinstance(value, str) else ""
        raise ConfigError(f"expected {described(kind)}, got {value!r}{offer}") from error


def described(kind: Any) -> str:
    """A type in words.

    >>> described(int | None), described(Literal["adam", "adamw"]), described(list[int])
    ('int or null', 'one of adam, adamw', 'a list of int')
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _WORDS:
        return _WORDS[kind]
    if origin is Annotated or origin is Recipe:
        return described(inner[0])
    if origin is Literal:
        return f"one of {', '.join(str(choice) for choice in inner)}" if len(inner) > 1 else str(inner[0])
    if origin in (Union, types.UnionType):
        return " or ".join(described(member) for member in inner)
    if (origin or kind) in MAPPINGS:
        return f"names with {described(inner[1])} each" if inner else "`name: value` lines"
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        return f"a list of {len(inner)}: {', '.join(described(part) for part in inner)}"
    if (origin or kind) in LISTS:
        return f"a list of {described(inner[0])}" if inner else "a list"
    return _class_described(kind)


def _class_described(kind: Any) -> str:
    if inspect.isclass(kind) and issubclass(kind, enum.Enum):
        return f"one of {', '.join(member.name for member in kind)}"
    name = getattr(kind, "__name__", str(kind))
    if kind in _PLAIN or not inspect.isclass(kind):
        return str(name)
    return f"`name: value` lines of {name}" if dataclasses.is_dataclass(kind) else f"the name of a {name} class"


def _choices(kind: Any) -> list[Any]:
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        return [choice for member in get_args(kind) for choice in _choices(member)]
    return [member.name for member in kind] if inspect.isclass(kind) and issubclass(kind, enum.Enum) else []


def _takes_null(kind: Any) -> bool:
    if get_origin(kind) in (Union, types.UnionType):
        return any(_takes_null(member) for member in get_args(kind))
    return kind is type(None) or (get_origin(kind) is Literal and None in get_args(kind))


def _takes_words(kind: Any) -> bool:
    """Whether a word can be of the type: a number in quotes is a word, and no number."""
    if get_origin(kind) in (Union, types.UnionType):
        return any(_takes_words(member) for member in get_args(kind))
    return kind in (str, Path) or bool(_choices(kind))
