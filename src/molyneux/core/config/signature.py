"""What a class can be told: the arguments of its constructor, their types and defaults."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass
from typing import Any, get_type_hints

_KEYWORDS = inspect.Parameter.VAR_KEYWORD
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
REQUIRED: Any = inspect.Parameter.empty
"""Stands for the default of an argument that has none."""


@dataclass(frozen=True)
class Argument:
    """One argument of a constructor."""

    kind: Any
    default: Any = REQUIRED


def arguments(target: type) -> dict[str, Argument]:
    """The arguments of a class by name, in the order of its signature.

    A constructor that takes `**settings` passes them to the next one of its bases, whose arguments follow.
    """
    if dataclasses.is_dataclass(target):
        return _fields(target)
    found: dict[str, Argument] = {}
    for base in target.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        constructor = vars(base)["__init__"]
        parameters, hints = list(inspect.signature(constructor).parameters.values())[1:], _hints(constructor)
        named = {item.name: item for item in parameters if item.kind in _NAMED}
        found.update({name: Argument(hints.get(name, Any), item.default) for name, item in named.items() if name not in found})
        if not any(item.kind is _KEYWORDS for item in parameters):
            break
    return found


def _fields(target: type) -> dict[str, Argument]:
    hints = _hints(target)
    found = {}
    for item in dataclasses.fields(target):
        default = item.default
        if item.default_factory is not dataclasses.MISSING:
            default = item.default_factory()
        if item.init:
            found[item.name] = Argument(hints.get(item.name, Any), REQUIRED if default is dataclasses.MISSING else default)
    return found


def _hints(thing: Any) -> dict[str, Any]:
    """Resolved annotations; none where they name what only a type checker imports."""
    try:
        return get_type_hints(thing, include_extras=True)
    except NameError:
        return {}
