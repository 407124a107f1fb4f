"""Settings that an earlier version resolved, under the names of today."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from molyneux.core.config.build import plain
from molyneux.core.errors import ConfigError
from molyneux.core.tooling.classes import OMITTED, REQUIRED, arguments, find_class, is_foreign
from molyneux.core.tooling.moved import group_kind, moved_arguments, with_moved


def same_settings(one: Any, other: Any) -> bool:
    """Whether plain settings mean the same, whichever version resolved them."""
    return bool(one == other or _today(one) == _today(other))


def _today(settings: Any) -> Any:
    """Plain settings in which classes of this package, named by `class_path`, have their arguments where these belong today.

    An argument that is missing was not there yet, and is its default: a new one does by default what was done before. A group of
    settings that says nothing but its defaults is None where that is the default. Classes of other packages are not imported.
    """
    if isinstance(settings, list):
        return [_today(item) for item in settings]
    if not isinstance(settings, Mapping):
        return settings
    found = {name: _today(item) for name, item in settings.items()}
    path, given = found.get("class_path"), found.get("init_args")
    if isinstance(path, str) and isinstance(given, Mapping) and "." in path and not is_foreign(path):
        with suppress(ConfigError):  # a class that is no longer there, or a setting in two places: these settings are no others
            target = find_class(path, object)
            groups = {place.partition(".")[0] for place in moved_arguments(target).values()}
            whole = _whole(target, with_moved(target, given))
            found["init_args"] = {name: _group(target, name, value) if name in groups else value for name, value in whole.items()}
    return found


def _whole(target: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Plain arguments of a class with the defaults of those that are missing, also in groups of settings."""
    expected = arguments(target)
    missing = {name: item for name, item in expected.items() if name not in given and item.default not in (REQUIRED, OMITTED)}
    found = dict(given)
    for name, value in given.items():
        kind = group_kind(expected[name].kind) if name in expected else None
        if kind and isinstance(value, Mapping) and "class_path" not in value:
            found[name] = _whole(kind, value)
    return {**found, **{name: _today(plain(item.default, item.kind)) for name, item in missing.items()}}


def _group(target: type, name: str, value: Any) -> Any:
    argument = arguments(target)[name]
    kind = group_kind(argument.kind)
    return None if argument.default is None and kind is not None and value == plain(kind(), kind) else value
