"""Arguments of constructors that have become fields of a dataclass among the arguments; their earlier names are still read."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Any, TypeVar, cast, get_args, get_type_hints

from molyneux.core.errors import ConfigError

C = TypeVar("C", bound=Callable[..., None])


def moved(**places: str) -> Callable[[C], C]:
    """Let a constructor also take arguments by the names that they had before they became fields of a dataclass.

    `@moved(textures="rendering.textures")` makes `World(textures=None)` mean `World(rendering=Rendering(textures=None))`, where
    the annotation of `rendering` is `Rendering` or `Rendering | None`. Settings files are read in the same way; resolved settings
    have the names of today.

    Args:
        places: by earlier name, the argument and its field.
    """

    def mark(constructor: C) -> C:
        @functools.wraps(constructor)
        def made(self: Any, *values: Any, **arguments: Any) -> None:
            earlier = {name: arguments.pop(name) for name in places if name in arguments}
            for group, fields in _grouped(earlier, places, arguments).items():
                arguments[group] = _dataclass_of(constructor, group)(**fields)
            constructor(self, *values, **arguments)

        made.__dict__["moved_arguments"] = dict(places)
        return cast(C, made)

    return mark


@functools.cache
def moved_arguments(target: type) -> Mapping[str, str]:
    """By their earlier names, the arguments of a class that are now fields, as `argument.field`.

    A constructor that takes `**settings` passes them to the next one of its bases, whose earlier names count too.
    """
    found = dict[str, str]()
    for constructor in (vars(base)["__init__"] for base in target.__mro__[:-1] if "__init__" in vars(base)):
        found = {**getattr(constructor, "moved_arguments", {}), **found}
        if all(item.kind is not item.VAR_KEYWORD for item in inspect.signature(constructor).parameters.values()):
            break
    return found


def with_moved(target: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Plain settings of a class, with those under earlier names moved into their groups.

    Raises:
        ConfigError: one stands under both names; names both.
    """
    places = moved_arguments(target)
    earlier = {name: value for name, value in settings.items() if name in places}
    today = {name: value for name, value in settings.items() if name not in places}
    given = {name: value for name, value in today.items() if value is not None}
    return {**today, **_grouped(earlier, places, given)}


def _grouped(earlier: Mapping[str, Any], places: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The fields of each argument that has some under earlier names."""
    groups = dict[str, dict[str, Any]]()
    for name, value in earlier.items():
        group, _, field = places[name].partition(".")
        groups.setdefault(group, {})[field] = value
    both = [name for name in earlier if places[name].partition(".")[0] in given]
    if both:
        raise ConfigError([f"{name}: is {places[name]} now: write it under {places[name].partition('.')[0]}" for name in both])
    return groups


def _dataclass_of(constructor: Callable[..., None], argument: str) -> Any:
    return group_kind(get_type_hints(constructor)[argument])


def group_kind(kind: Any) -> Any:
    """The dataclass whose settings an argument of this annotation takes without a `class_path`, or None.

    >>> from molyneux.core import Factor
    >>> group_kind(Factor | None).__name__
    'Factor'
    """
    return next((part for part in (kind, *get_args(kind)) if isinstance(part, type) and is_dataclass(part)), None)
