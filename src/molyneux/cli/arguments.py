"""Settings from a command line."""

from __future__ import annotations

from typing import Any

from molyneux.cli.parser import Arguments
from molyneux.core import ConfigError
from molyneux.core.config import parse_value


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
