"""Relative paths in the files of experiments and studies: they begin at the folder of the file, wherever a command is called."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from molyneux.core.config import override

_DATA = (
    *("data.arrays.path", "data.table.path", "data.table.root", "data.folder", "data.folder.path"),
    *(f"data.benchmark.{at}{name}" for at in ("init_args.", "") for name in ("folder", "images", "backgrounds")),
)
"""Settings that are paths of data; in the dotted names of a command line and of a study, `init_args` may be left out."""
_PLACES = (*_DATA, "learn.start_from", "measure.judges.*", "measure.features.*")


class SettingsPathWarning(UserWarning):
    """A relative path in a settings file is not beside the file, or there is another one in the working folder."""


def paths_beside(tree: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Settings whose relative paths begin at the folder of their file.

    What is not there but in the working folder is taken from there, as versions before did, with a SettingsPathWarning. A path
    that is in neither is left as it is, but for data, whose error then names the place where they are expected.

    Args:
        tree: the settings of the file.
        file: its path.
    """
    found: dict[str, Any] = dict(tree)
    folder = file.parent
    for place in _PLACES:
        for keys, value in list(_values(found, place.split("."))):
            if isinstance(value, str) and value and not Path(value).is_absolute() and "://" not in value:
                found = _with(found, keys, _resolved(".".join(keys), value, folder))
    return found


def values_beside(settings: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """As `paths_beside` of settings by their dotted names, such as those of a variant of a study."""
    found = dict(settings)
    for name, value in settings.items():
        keys = name.split(".")
        if any(all(key in ("*", own) for key, own in zip(place.split("."), keys, strict=False)) for place in _PLACES):
            inner: Any = paths_beside(override({}, name, value), file)
            for key in keys:
                inner = inner[key]
            found[name] = inner
    return found


def _resolved(name: str, value: str, folder: Path) -> str:
    beside = folder / value
    if folder.resolve() == Path.cwd():
        return value
    here = Path(value).exists()
    if beside.exists():
        if here:
            _warn(f"{name}: {value} is beside the settings file and in the working folder: {beside} is used")
        return str(beside)
    if here:
        _warn(f"{name}: {value} is not beside the settings file in {folder}, and is taken from the working folder: move it there")
        return value
    return str(beside) if name.startswith("data.") else value


def _warn(text: str) -> None:
    warnings.warn(text, SettingsPathWarning, stacklevel=6)


def _values(tree: Any, keys: list[str], before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values at a dotted path, of which `*` is any key."""
    if not keys:
        yield before, tree
    elif isinstance(tree, Mapping):
        for key in [*map(str, tree)] if keys[0] == "*" else [keys[0]] if keys[0] in tree else []:
            yield from _values(tree.get(key), keys[1:], (*before, key))


def _with(tree: Mapping[str, Any], keys: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The settings with another value at a place."""
    return {**tree, keys[0]: value if len(keys) == 1 else _with(tree[keys[0]], keys[1:], value)}
