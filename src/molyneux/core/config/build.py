"""Plain settings become objects, as the annotations of classes say.

Every function here gives what was made, or raises ConfigError with every problem of its part of the file; the parts of a
whole are all tried before the whole gives up.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from molyneux.core.config.classes import find_class, public_path
from molyneux.core.config.leaf import LISTS, MAPPINGS, convert, described, is_leaf
from molyneux.core.config.plain import plain
from molyneux.core.config.recipe import Later, Recipe, located
from molyneux.core.config.signature import REQUIRED, Argument, arguments
from molyneux.core.errors import ConfigError, SpecError, nearest

_KEYS = ("class_path", "init_args")


class Built(NamedTuple):
    """What a piece of a file became: the object, and the same as plain data with every default filled in."""

    value: Any
    plain: Any


def build(kind: Any, value: Any, at: str = "") -> Built:
    """Make a value of the type `kind` from plain settings that stand at the dotted path `at`.

    >>> build(tuple[int, ...], [1, 2]).value
    (1, 2)

    Raises:
        ConfigError: with every problem found, one sentence each, with its path.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        later = next((item for item in inner[1:] if isinstance(item, Later)), None)
        return _recipe(get_args(inner[0])[0], value, at, later) if later else build(inner[0], value, at)
    if origin is Recipe:
        return _recipe(inner[0], value, at, Later())
    if is_leaf(kind):
        return _leaf(kind, value, at)
    if origin in (Union, types.UnionType):
        return _union(kind, value, at)
    if (origin or kind) in LISTS:
        return _list(kind, value, at)
    if (origin or kind) in MAPPINGS:
        return _mapping(kind, value, at)
    if inspect.isclass(kind):
        return _object(kind, value, at)
    raise _problem(at, f"has the type {kind}, which cannot be written in a file: leave it out")


def build_fields(kind: type, tree: Mapping[str, Any], **later: Any) -> Built:
    """Make a dataclass from the mapping of a whole file; arguments in `later` are given here and not in the file."""
    return _instance(kind, dict(tree), "", later)


def collected(parts: Iterable[Callable[[], Any]]) -> list[Any]:
    """The results of all parts; all are tried, and the problems of all are raised as one ConfigError."""
    made, problems = [], list[str]()
    for part in parts:
        try:
            made.append(part())
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return made


def _leaf(kind: Any, value: Any, at: str) -> Built:
    try:
        made = convert(kind, value)
    except ConfigError as error:
        raise _problem(at, str(error)) from error
    return Built(made, plain(made))


def _union(kind: Any, value: Any, at: str) -> Built:
    """A leaf where the value is one, else the first composite member it fits."""
    leaves = [member for member in get_args(kind) if is_leaf(member)]
    fitting = [member for member in get_args(kind) if not is_leaf(member) and _has_form(member, value)]
    if leaves:
        try:
            return _leaf(functools.reduce(operator.or_, leaves), value, at)
        except ConfigError:
            if not fitting:
                raise _problem(at, f"expected {described(kind)}, got {value!r}") from None
    if not fitting:
        raise _problem(at, f"expected {described(kind)}, got {value!r}")
    for member in fitting[:-1]:
        try:
            return build(member, value, at)
        except ConfigError:
            continue
    return build(fitting[-1], value, at)


def _list(kind: Any, value: Any, at: str) -> Built:
    inner, origin = get_args(kind), get_origin(kind) or kind
    if not isinstance(value, list | tuple):
        raise _problem(at, f"expected {described(kind)}, got {value!r}")
    fixed = origin is tuple and inner and inner[-1] is not Ellipsis
    if fixed and len(inner) != len(value):
        raise _problem(at, f"expected {described(kind)}, got a list of {len(value)}")
    kinds = inner if fixed else [inner[0] if inner else Any] * len(value)
    places = [_join(at, place) for place in range(len(value))]
    made = collected(_part(part, item, place) for part, item, place in zip(kinds, value, places, strict=True))
    return Built(LISTS[origin](item.value for item in made), [item.plain for item in made])


def _mapping(kind: Any, value: Any, at: str) -> Built:
    if not isinstance(value, Mapping):
        raise _problem(at, f"expected {described(kind)}, got {value!r}")
    of_key, of_value = get_args(kind) or (Any, Any)
    keys = collected(_part(of_key, name, at) for name in value)
    items = collected(_part(of_value, item, _join(at, name)) for name, item in value.items())
    pairs = list(zip(keys, items, strict=True))
    return Built({key.value: item.value for key, item in pairs}, {key.plain: item.plain for key, item in pairs})


def _object(base: type, value: Any, at: str) -> Built:
    """A dataclass from its fields, or any class by its name."""
    if dataclasses.is_dataclass(base) and isinstance(value, dict) and "class_path" not in value:
        return _instance(base, value, at, {})
    target, given, place = _class(base, value, at, "")
    made = _instance(target, given, place, {})
    return Built(made.value, _record(target, base, made.plain))


def _recipe(base: type, value: Any, at: str, later: Later) -> Built:
    """A class by its name, checked and not made."""
    target, given, place = _class(base, value, at, later.room)
    settings = _settings(target, given, place, later.arguments)
    return Built(Recipe(target, settings.value, place), _record(target, base, settings.plain))


def _class(base: type, value: Any, at: str, room: str) -> tuple[type, dict[str, Any], str]:
    """The class a value names, the arguments given with it, and the path these stand at."""
    form = {"class_path": value} if isinstance(value, str) else value
    if not isinstance(form, dict) or not isinstance(form.get("class_path"), str):
        raise _problem(at, f"expected {described(base)}, got {value!r}")
    given = form.get("init_args") or {}
    problems = [
        f"{_join(at, name)}: unknown setting beside class_path; arguments of the class stand under init_args"
        for name in form
        if name not in _KEYS
    ]
    if not isinstance(given, dict):
        problems.append(f"{_join(at, 'init_args')}: expected arguments as `name: value` lines, got {given!r}")
    try:
        target = find_class(form["class_path"], base, room=room)
    except ConfigError as error:
        problems.append(f"{_join(at, 'class_path') if value is form else at}: {error}")
    if problems:
        raise ConfigError(problems)
    return target, given, _join(at, "init_args")


def _settings(target: type, given: dict[str, Any], at: str, later: tuple[str, ...]) -> Built:
    """The arguments of a class, those not given filled in with their defaults."""
    known = {name: argument for name, argument in arguments(target).items() if name not in later}
    section = dataclasses.is_dataclass(target) and not at.endswith("init_args")
    whose = "" if section else f" of {target.__name__}"
    unknown = [f"{_join(at, name)}: unknown setting{whose}; {nearest(str(name), known)}" for name in given if name not in known]
    missing = [
        f"{_join(at, name)}: is missing: expected {described(argument.kind)}"
        for name, argument in known.items()
        if name not in given and argument.default is REQUIRED
    ]
    there = {name: argument for name, argument in known.items() if name in given or argument.default is not REQUIRED}

    def part(name: str, argument: Argument) -> Callable[[], Built]:
        return _part(argument.kind, given[name], _join(at, name)) if name in given else lambda: _default(argument)

    parts = [part(name, argument) for name, argument in there.items()]
    made = dict(zip(there, collected([*parts, lambda: _refuse(unknown + missing)]), strict=False))
    return Built({name: item.value for name, item in made.items()}, {name: item.plain for name, item in made.items()})


def _instance(target: type, given: dict[str, Any], at: str, later: Mapping[str, Any]) -> Built:
    """An object from the arguments of its class."""
    try:
        settings = _settings(target, given, at, tuple(later))
    except ConfigError as error:
        raise ConfigError([*error.problems, *_further_problems(target, given, at, later, error.problems)]) from error
    return Built(_make(target, {**settings.value, **later}, at), settings.plain)


def _further_problems(target: type, given: dict[str, Any], at: str, later: Mapping[str, Any], told: Sequence[str]) -> list[str]:
    """What a class would say of its other arguments, were those with problems right, so that it needs no second look.

    It is made with their defaults, or None, and what it says of these does not count.
    """
    known = {name: argument for name, argument in arguments(target).items() if name not in later}
    wrong = {name for name in known if any(re.match(rf"{re.escape(_join(at, name))}\b", problem) for problem in told)}
    rest = {name: value for name, value in given.items() if name in known and name not in wrong}
    absent = {name: None for name in wrong if known[name].default is REQUIRED}
    try:
        _make(target, {**_settings(target, rest, at, (*later, *absent)).value, **absent, **later}, at)
    except ConfigError as error:
        return [problem for problem in error.problems if not wrong.intersection(re.findall(r"\w+", problem.removeprefix(at)))]
    except (AttributeError, TypeError):  # a class may stumble over a None, which has been told
        return []
    return []


def _refuse(problems: list[str]) -> None:
    if problems:
        raise ConfigError(problems)


def _default(argument: Argument) -> Built:
    value = argument.default
    if dataclasses.is_dataclass(value) and type(value) in (argument.kind, *get_args(argument.kind)):
        fields = {name: Argument(item.kind, getattr(value, name)) for name, item in arguments(type(value)).items()}
        return Built(value, {name: _default(item).plain for name, item in fields.items()})
    return Built(value, plain(value))


def _make(target: type, settings: Mapping[str, Any], at: str) -> Any:
    try:
        return target(**settings)
    except ConfigError as error:
        raise ConfigError([located(problem, at, settings) for problem in error.problems]) from error
    except SpecError as error:
        raise ConfigError(located(str(error), at, settings)) from error


def _record(target: type, base: type, settings: dict[str, Any]) -> dict[str, Any]:
    """The plain form of a named class; a dataclass that is just what was asked for needs no name."""
    if target is base and dataclasses.is_dataclass(base):
        return settings
    return {"class_path": public_path(target), "init_args": settings}


def _has_form(kind: Any, value: Any) -> bool:
    """Whether a value has the form that a composite type is written in."""
    origin = get_origin(kind) or kind
    if origin in LISTS:
        return isinstance(value, list | tuple)
    if origin in MAPPINGS:
        return isinstance(value, dict) and "class_path" not in value
    return isinstance(value, str | dict)


def _part(kind: Any, value: Any, at: str) -> Callable[[], Built]:
    return lambda: build(kind, value, at)


def _problem(at: str, sentence: str) -> ConfigError:
    return ConfigError(f"{at}: {sentence}" if at else sentence)


def _join(at: str, name: Any) -> str:
    return f"{at}.{name}" if at else str(name)
