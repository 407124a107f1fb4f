"""Single settings replaced by their dotted path, as on the command line and in studies."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from molyneux.core.errors import ConfigError

_CLASS = ("class_path", "init_args")


def override(tree: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of plain settings with the one at a dotted path replaced.

    `init_args` may be left out: arguments of a named class are found by their names. Positions in a list are numbers.

    >>> override({"world": "CdSprites"}, "world.level", 3)
    {'world': {'class_path': 'CdSprites', 'init_args': {'level': 3}}}

    Raises:
        ConfigError: the path leads through a value that has no settings of its own.
    """
    out: dict[str, Any] = copy.deepcopy(dict(tree))
    names = path.split(".")
    if not all(names):
        raise ConfigError(f"expected a dotted path of settings such as learn.epochs, got {path!r}")
    node: Any = out
    for depth, name in enumerate(names[:-1]):
        node = _step(node, name, names[depth + 1], ".".join(names[: depth + 1]))
    if isinstance(node, list):
        node[_position(node, names[-1], path)] = value
    else:
        node[names[-1]] = value
    return out


def _step(node: Any, name: str, following: str, path: str) -> Any:
    """The container below `node[name]` that `following` is a key of, made where it is not there."""
    place: Any = _position(node, name, path) if isinstance(node, list) else name
    below = node[place] if isinstance(node, list) else node.get(name)
    if below is None:
        below = {}
    elif isinstance(below, str):
        below = {"class_path": below}
    elif not isinstance(below, dict | list):
        raise ConfigError(f"{path}: is {below!r}, which has no setting {following!r}")
    node[place] = below
    if isinstance(below, dict) and "class_path" in below and following not in _CLASS:
        below["init_args"] = below.get("init_args") or {}
        return below["init_args"]
    return below


def _position(items: list[Any], name: str, path: str) -> int:
    if not name.isdigit() or int(name) >= len(items):
        raise ConfigError(f"{path}: expected a position from 0 to {len(items) - 1} in a list, got {name!r}")
    return int(name)
