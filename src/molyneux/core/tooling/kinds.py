"""Settings of the wrong kind, such as a text in place of true or false, told from the annotations of a constructor."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

from molyneux.core.errors import ConfigError, choice_problems, instance_problems, shown, text_problems
from molyneux.core.tooling.classes import arguments

_Class = TypeVar("_Class", bound=type)

_PLAIN: dict[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool, np.bool_), "true or false"),
    int: ((Integral,), "a whole number"),
    float: ((Real,), "a number"),
    str: ((str,), "a text"),
}
"""By annotation, what is taken, and in words."""


def kind_problems(target: type, settings: Mapping[str, object], *, prefix: str = "") -> list[str]:
    """A problem for each setting that is not of the kind that the constructor of a class is annotated with.

    Numbers, texts, true and false, lists, mappings, choices and instances of classes are told apart; every whole number is a
    number, and true and false are none. Any collection but a text is taken for a list. Of data classes the fields are checked
    too. Other annotations are not checked, nor is whether a value of the right kind is in range.

    Args:
        target: the class.
        settings: by name; others than its arguments are left out.
        prefix: before each name.

    >>> from molyneux.core import Modality
    >>> kind_problems(Modality, {"name": 3, "kind": "image", "shape": 3}, prefix="image.")
    ['image.name: expected a text, got 3', 'image.shape: expected a list of whole numbers, got 3']
    """
    known = arguments(target)
    return [
        problem
        for name, value in settings.items()
        if name in known and value is not known[name].default
        for problem in _problems(known[name].kind, f"{prefix}{name}", value)
    ]


def refuse_wrong_kinds(target: _Class) -> _Class:
    """Let the constructor of a class raise ConfigError for settings of the wrong kind, with all that it finds in the others."""
    if (constructor := vars(target).get("__init__")) is None or getattr(constructor, "__isabstractmethod__", False):
        return target
    parameters = inspect.signature(constructor).parameters

    @functools.wraps(constructor)
    def checked(self: Any, *given: Any, **settings: Any) -> None:
        whole = type(self).__init__ is checked  # and not the constructor of a base, which is given what another one made
        if given or not whole or not (problems := kind_problems(type(self), settings)):
            constructor(self, *given, **settings)
            return
        wrong = {problem.partition(":")[0].partition("[")[0].partition(".")[0] for problem in problems}
        if all(parameters[name].default is not inspect.Parameter.empty for name in wrong if name in parameters):
            try:
                constructor(self, **{name: value for name, value in settings.items() if name not in wrong})
            except ConfigError as error:
                problems += error.problems
        raise ConfigError(problems)

    target.__init__ = checked  # type: ignore[misc]
    return target


def _problems(kind: Any, name: str, value: object) -> list[str]:
    """Those of one value."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _problems(inner[0], name, value)
    if origin in (Union, types.UnionType):
        return _union_problems(inner, name, value)
    if origin is Literal:
        alike = any(type(value) is type(choice) for choice in inner)
        return [] if alike else choice_problems(**{name: (value, inner)})
    if kind in _PLAIN:
        taken, words = _PLAIN[kind]
        right = isinstance(value, taken) and (kind is bool or not isinstance(value, bool))
        return [] if right else [f"{name}: expected {words}, got {shown(value)}"]
    if isinstance(origin, type):
        return _many_problems(origin, inner, name, value)
    if isinstance(kind, type) and kind is not object and not getattr(kind, "_is_protocol", False):
        if is_dataclass(kind) and type(value) is kind:
            return kind_problems(kind, {item.name: getattr(value, item.name) for item in fields(kind)}, prefix=f"{name}.")
        return [] if value is None and kind is types.NoneType else instance_problems(kind, **{name: value})
    return []


def _union_problems(kinds: Sequence[Any], name: str, value: object) -> list[str]:
    """None where one of several kinds fits; else those of the kinds that hold items where items came, or of the first one."""
    found = [_problems(kind, name, value) for kind in kinds if kind is not type(None)]
    if (value is None and type(None) in kinds) or not all(found):
        return []
    items = isinstance(value, Collection) and not isinstance(value, str)
    return next((part for part in found if items and "[" in part[0].partition(":")[0]), found[0])


def _many_problems(origin: type, inner: tuple[Any, ...], name: str, value: object) -> list[str]:
    """Those of a list or a mapping and of its items."""
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return [f"{name}: expected a mapping of names, got {shown(value)}"]
        return [problem for key, item in value.items() for problem in _problems(inner[1], f"{name}[{key!r}]", item)]
    if not issubclass(origin, Collection):
        return []
    if isinstance(value, str) and _names(inner[0]):
        return text_problems(**{name: value})
    if isinstance(value, str | Mapping) or not isinstance(value, Collection):
        return [f"{name}: expected {_in_words(inner)}, got {shown(value)}"]
    fixed = issubclass(origin, tuple) and inner[-1] is not Ellipsis
    if fixed and len(value) != len(inner):
        return [f"{name}: expected {_in_words(inner)}, got {len(value)} items"]
    kinds: Iterator[Any] = iter(inner) if fixed else (inner[0] for _ in value)
    parts = (_problems(kind, f"{name}[{place}]", one) for place, (kind, one) in enumerate(zip(kinds, value, strict=True)))
    return [problem for part in parts for problem in part]


def _names(kind: Any) -> bool:
    """Whether a text is of this kind."""
    return kind is str or (get_origin(kind) is Literal and any(isinstance(choice, str) for choice in get_args(kind)))


def _in_words(inner: tuple[Any, ...]) -> str:
    """What a list holds."""
    several = {bool: "true or false", int: "whole numbers", float: "numbers"}
    words = "names" if _names(inner[0]) else several.get(inner[0], "")
    return f"a list of {words}" if words else "a list of lists" if get_origin(inner[0]) is not None else "a list"
