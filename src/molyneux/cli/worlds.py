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
    short, _, version = name.partition("-v")
    short = _classes_by_world().get(short.lower(), short)
    world: World = build(World, {"class_path": short, "init_args": dict(settings)}, "world").value
    if version and world.name != name.lower():
        raise ConfigError(f"world: expected a version that this package has, {world.name}, got {name}")
    return world


def _classes_by_world() -> dict[str, str]:
    """Class names by the worlds' own names without version, which may be shorter: `pos` is `PartsOfSpeech`."""
    return {kind().name.partition("-v")[0]: name for name, kind in short_names(World, room="molyneux.data").items()}
