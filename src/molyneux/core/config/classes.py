"""Classes by name: short names from a package's `__all__`, or dotted paths."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from molyneux.core.errors import ConfigError, nearest


def find_class(name: str, base: type, *, room: str = "") -> type:
    """The class of that name, which must be a `base`.

    Args:
        name: a short name, whatever its case and underscores (`latent_probe` is `LatentProbe`), or a dotted path.
        base: the class or runtime protocol it has to satisfy.
        room: the package whose `__all__` has the short names; by default the packages `base` is in.

    Raises:
        ConfigError: there is none, with the nearest name; or it is no `base`.
    """
    found = _imported(name) if "." in name else _named(name, base, room)
    if not _is_a(found, base):
        raise ConfigError(f"{name} is no {base.__name__}; {nearest(name.rpartition('.')[2], short_names(base, room=room))}")
    return found


def short_names(base: type, *, room: str = "") -> dict[str, type]:
    """The classes that satisfy `base` by their short names, sorted."""
    found = {name: value for module in _rooms(base, room) for name, value in _exported(module) if _is_a(value, base)}
    return dict(sorted((name, value) for name, value in found.items() if not inspect.isabstract(value)))


def public_path(found: type) -> str:
    """The shortest dotted path inside a room that exports a class: how resolved settings name it.

    >>> from molyneux.core.spec import Spec
    >>> public_path(Spec)
    'molyneux.core.Spec'
    """
    parts = found.__module__.split(".")
    for length in range(2, len(parts)):
        package = ".".join(parts[:length])
        if dict(_exported(importlib.import_module(package))).get(found.__name__) is found:
            return f"{package}.{found.__name__}"
    return f"{found.__module__}.{found.__qualname__}"


def _named(name: str, base: type, room: str) -> type:
    known = short_names(base, room=room)
    for short, found in known.items():
        if _folded(short) == _folded(name):
            return found
    raise ConfigError(f"unknown class {name!r}; {nearest(name, known)}")


def _imported(path: str) -> type:
    module, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except (ImportError, SyntaxError, ValueError) as error:
        raise ConfigError(f"cannot import {path!r}: {error}") from error
    if not isinstance(found, type):
        raise ConfigError(f"the module {module} has no class {name!r}")
    return found


def _rooms(base: type, room: str) -> Iterator[ModuleType]:
    """The packages to look in, innermost first."""
    if room:
        yield importlib.import_module(room)
        return
    parts = base.__module__.split(".")
    for length in range(len(parts), 1 if len(parts) > 1 else 0, -1):
        yield importlib.import_module(".".join(parts[:length]))


def _exported(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in getattr(module, "__all__", ()):
        yield name, getattr(module, name)


def _is_a(found: Any, base: type) -> bool:
    return isinstance(found, type) and found is not Any and issubclass(found, base)


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
