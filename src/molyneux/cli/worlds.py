"""Worlds by the names that a command line gives them."""

from __future__ import annotations

from collections.abc import Mapping

from molyneux.core import ConfigError
from molyneux.core.config import build, short_names
from molyneux.data import World


def find_world(name: str, settings: Mapping[str, object]) -> World:
    """The world of a name, with or without its version, and of its settings.

    Raises:
        ConfigError: with every problem; also where the world has another version.
    """
    short, version = class_name(name), name.partition("-v")[2]
    world: World = build(World, {"class_path": short, "init_args": dict(settings)}, "world").value
    if version and world.name != name.lower():
        raise ConfigError(f"world: expected a version that this package has, {world.name}, got {name}")
    return world


def class_name(name: str) -> str:
    """The name of a world's class, by the world's own name, which may be shorter: `pos` and `pos-v1` are `PartsOfSpeech`.

    A name that no world has is given back, without its version.
    """
    kinds: Mapping[str, type[World]] = short_names(World, room="molyneux.data")
    known = {kind.name.partition("-v")[0]: found for found, kind in kinds.items()}
    short = name.partition("-v")[0]
    return known.get(short.lower(), short)
