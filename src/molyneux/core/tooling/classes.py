"""Classes by name (short names from a package's `__all__`, or dotted paths), and the arguments of their constructors.

A dotted path runs the module that it names. What a stranger may have written is read inside of `package_alone()`, where only
classes of this package are taken. The user's own modules are found in the working folder, which is searched last and only while
`working_folder_importable()` lasts: no library that looks for an optional module finds one there.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints, is_typeddict

from molyneux.core.errors import ConfigError, nearest

REQUIRED: Any = inspect.Parameter.empty
"""Stands for the default of an argument that has to be given."""
OMITTED: Any = dataclasses.MISSING
"""Stands for the default of an argument that need not be given and has no known default."""
ADDED = "added after runs were on record"
"""Marks, in `Annotated`, an argument that resolved settings leave out at its default, which does what was done before it.

Keys of runs, records and stored samples depend on resolved settings, which must not change where nothing else does."""
_PACKAGE = __name__.partition(".")[0]
_FOREIGN: ContextVar[bool] = ContextVar("foreign", default=True)
"""Whether classes outside of this package are taken."""


@dataclass(frozen=True)
class Argument:
    """One argument of a constructor: its annotation and its default."""

    kind: Any
    default: Any = REQUIRED


@contextmanager
def package_alone(*, trust: bool = False) -> Iterator[None]:
    """Inside, `find_class` takes classes of this package alone and imports no other module, unless `trust` is set."""
    before = _FOREIGN.set(trust)
    try:
        yield
    finally:
        _FOREIGN.reset(before)


@contextmanager
def working_folder_importable() -> Iterator[None]:
    """Inside, modules in the working folder can be imported, after all others; `sys.path` is as before in the end."""
    try:
        folder = str(Path.cwd())
    except FileNotFoundError:  # it was removed
        folder = ""
    added = bool(folder) and folder not in sys.path
    if added:
        sys.path.append(folder)
    try:
        yield
    finally:
        if added:
            with suppress(ValueError):  # the module itself may have removed it
                sys.path.remove(folder)


def is_foreign(name: str) -> bool:
    """Whether the dotted path of a class leads out of this package.

    >>> is_foreign("their.module.Class"), is_foreign("molyneux.learn.MVAE"), is_foreign("MVAE")
    (True, False, False)
    """
    return "." in name and name.partition(".")[0] != _PACKAGE


def class_paths(settings: Any) -> Iterator[str]:
    """Every dotted path of a class in resolved settings."""
    if isinstance(settings, Mapping):
        if isinstance(settings.get("class_path"), str):
            yield settings["class_path"]
        for value in settings.values():
            yield from class_paths(value)
    elif isinstance(settings, list):
        for value in settings:
            yield from class_paths(value)


def find_class(name: str, base: type, *, package: str = "") -> type:
    """The class of that name, which must be a `base`.

    Args:
        name: a short name, whatever its case and underscores (`latent_probe` is `LatentProbe`), or a dotted path.
        base: the class or runtime protocol it has to satisfy.
        package: whose `__all__` has the short names; by default the packages that `base` is in.

    Raises:
        ConfigError: there is none, with the nearest name; or it is no `base`; or it is not of this package, inside of
            `package_alone`.
    """
    if "." in name:
        found = _imported(name)
        if not _is_a(found, base):
            known = short_names(base, package=package)
            raise ConfigError(f"expected {class_in_words(base)}, got {name}; {nearest(name.rpartition('.')[2], known)}")
        return found
    if not (classes := _classes(base, package, _folded(name))):  # other classes are imported for the error alone
        raise ConfigError(f"unknown class {name[:80]!r}; {nearest(name[:80], short_names(base, package=package))}")
    return list(classes.values())[-1]


def short_names(base: type, *, package: str = "") -> dict[str, type]:
    """The classes that satisfy `base` by their short names, sorted."""
    return dict(sorted(_classes(base, package).items()))


def _classes(base: type, package: str, folded: str = "") -> dict[str, type]:
    """The classes that satisfy `base` by their short names, or those of one name, whatever its case and underscores."""
    parts = base.__module__.split(".")
    packages = [package] if package else [".".join(parts[:end]) for end in range(min(2, len(parts)), len(parts) + 1)]
    found = {name: item for module in packages for name, item in _exported(module, folded) if _is_a(item, base)}
    return {name: item for name, item in found.items() if not inspect.isabstract(item)}


@functools.cache
def public_path(found: type) -> str:
    """How resolved settings name a class: the shortest dotted path of a package that exports it, or the path that it keeps.

    Keys of runs and of records depend on settings, so a class keeps its path when its file moves: `PUBLIC_PATHS` of a room maps
    the paths that its classes keep, or those of their packages, to where they are.

    >>> from molyneux.core.spec import Spec
    >>> public_path(Spec)
    'molyneux.core.Spec'
    """
    parts = found.__module__.split(".")
    packages = (".".join(parts[:length]) for length in range(2, len(parts)))
    folded = _folded(found.__name__)
    exported = (
        f"{package}.{found.__name__}" for package in packages if dict(_exported(package, folded)).get(found.__name__) is found
    )
    path = next(exported, f"{found.__module__}.{found.__qualname__}")
    return _changed(path, {place: kept for kept, place in _public_paths(path).items()})


def class_in_words(base: type) -> str:
    """What a class has to be: its name, or what a protocol says of a model that satisfies it.

    >>> from molyneux.core import Trainable
    >>> class_in_words(Trainable)
    'the name of a class that has a training loss (`loss(batch, progress, generator)`)'
    """
    if not getattr(base, "_is_protocol", False):
        return f"the name of a{'n' * (base.__name__[0] in 'AEIOU')} {base.__name__} class"
    methods = [(name, item) for name, item in vars(base).items() if inspect.isfunction(item) and not name.startswith("_")]
    calls = [f"`{name}({', '.join([*inspect.signature(item).parameters][1:])})`" for name, item in methods]
    summary = (base.__doc__ or "is of this kind.").partition(".")[0]
    return f"the name of a class that {summary[0].lower()}{summary[1:]} ({', '.join(calls)})"


@functools.cache
def arguments(target: type) -> dict[str, Argument]:
    """The arguments of a class by name, in the order of its signature.

    A constructor that takes `**settings` passes them to the next one of its bases, whose arguments follow; where it says
    `**settings: Unpack[Keys]`, it takes only the keys of that typed dictionary.
    """
    if dataclasses.is_dataclass(target):
        hints, fields = _hints(target), [item for item in dataclasses.fields(target) if item.init]
        return {item.name: Argument(hints.get(item.name, Any), _default(item)) for item in fields}
    found: dict[str, Argument] = {}
    passed: dict[str, Argument] | None = None  # the keys that constructors pass on, None for all
    for base in (base for base in target.__mro__[:-1] if "__init__" in vars(base)):
        constructor = vars(base)["__init__"]
        parameters, hints = list(inspect.signature(constructor).parameters.values())[1:], _hints(constructor)
        for item in parameters:
            named = item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)
            if named and item.name not in found and (passed is None or item.name in passed):
                found[item.name] = Argument(hints.get(item.name, Any), item.default)
        rest = [item for item in parameters if item.kind is item.VAR_KEYWORD]
        if not rest:
            break
        keys = next((kind for kind in get_args(hints.get(rest[0].name)) if is_typeddict(kind)), None)
        if keys is not None:
            needed = keys.__required_keys__
            taken = {name: Argument(kind, REQUIRED if name in needed else OMITTED) for name, kind in _hints(keys).items()}
            passed = {name: item for name, item in taken.items() if passed is None or name in passed}
    return {**found, **{name: item for name, item in (passed or {}).items() if name not in found}}


def without_added(target: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Plain settings of a class without the arguments marked `ADDED` that are at their default: None, a number or a word."""
    known = arguments(target)
    added = {
        name: known[name].default for name in settings if name in known and ADDED in getattr(known[name].kind, "__metadata__", ())
    }
    return {name: value for name, value in settings.items() if name not in added or value != added[name]}


def _default(item: dataclasses.Field[Any]) -> Any:
    if item.default_factory is not dataclasses.MISSING:
        return item.default_factory()
    return REQUIRED if item.default is dataclasses.MISSING else item.default


def _imported(path: str) -> type:
    module, _, name = _changed(path, _public_paths(path)).rpartition(".")
    if is_foreign(path) and not _FOREIGN.get():
        raise ConfigError(
            f"expected a class of this package, got {path}, whose code would run: "
            "if you trust whoever made this folder, add --trust (in Python, trust=True)"
        )
    try:
        with working_folder_importable() if is_foreign(path) else nullcontext():
            found = getattr(importlib.import_module(module), name, None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the module's own code may raise anything, SystemExit among it
        kind = "" if isinstance(error, ImportError) else f"{type(error).__name__}: "
        raise ConfigError(f"cannot import {path!r}: {kind}{error}") from error
    if not isinstance(found, type):
        raise ConfigError(f"the module {module} has no class {name!r}")
    return found


def _public_paths(path: str) -> Mapping[str, str]:
    """`PUBLIC_PATHS` of the room in which a path is; none for paths that lead out of this package."""
    parts = path.split(".")
    if is_foreign(path) or len(parts) < 3:
        return {}
    try:
        room = importlib.import_module(".".join(parts[:2]))
    except ImportError:  # what imports the class says so
        return {}
    paths: Mapping[str, str] = getattr(room, "PUBLIC_PATHS", {})
    return paths


def _changed(path: str, places: Mapping[str, str]) -> str:
    """A dotted path whose longest beginning that `places` has is replaced."""
    parts = path.split(".")
    for end in range(len(parts), 2, -1):
        if (beginning := ".".join(parts[:end])) in places:
            return ".".join([places[beginning], *parts[end:]])
    return path


def _exported(package: str, folded: str = "") -> Iterator[tuple[str, Any]]:
    """What a package exports under its names, or under those that fold to one; nothing else of it is imported."""
    module = importlib.import_module(package)
    names = (name for name in getattr(module, "__all__", ()) if not folded or _folded(name) == folded)
    return ((name, getattr(module, name)) for name in names)


def _is_a(found: Any, base: type) -> bool:
    """Whether it is a class that derives from `base`, or has all that a protocol asks for."""
    if not isinstance(found, type) or found is Any:
        return False
    if not getattr(base, "_is_protocol", False):
        return issubclass(found, base)
    names = {name for name in {**vars(base), **base.__annotations__} if not name.startswith("_")}
    return all(hasattr(found, name) or name in getattr(found, "__annotations__", {}) for name in names)


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _hints(thing: Any) -> dict[str, Any]:
    """Resolved annotations; none where they name what only a type checker imports."""
    try:
        return get_type_hints(thing, include_extras=True)
    except NameError:
        return {}
