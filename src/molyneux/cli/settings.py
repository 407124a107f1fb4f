"""Settings from a command line, and worlds by the names that it gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from molyneux.cli.listing import find_entry
from molyneux.cli.parser import Arguments
from molyneux.core import ConfigError
from molyneux.core.config import build, parse_value
from molyneux.data import World


def values(arguments: Arguments) -> list[tuple[str, Any]]:
    """The settings of a command line with their values read as YAML.

    Raises:
        ConfigError: with every value that is no YAML.
    """
    found, problems = list[tuple[str, Any]](), list[str]()
    for name, text in arguments.settings:
        try:
            found.append((name, parse_value(text)))
        except ConfigError as error:
            problems += [f"--{name}: {problem}" for problem in error.problems]
    if problems:
        raise ConfigError(problems)
    return found


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
    short = name.partition("-v")[0]
    entry = find_entry("worlds", short)
    return short if entry is None else entry.path.rpartition(".")[2]
