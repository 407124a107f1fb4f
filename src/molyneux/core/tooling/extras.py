"""Packages of the extras of this one: what needs one says how to install it."""

from __future__ import annotations

import importlib
from types import ModuleType

from molyneux.core.errors import ConfigError


def import_extra(module: str, *, extra: str, what: str) -> ModuleType:
    """Import a module of a package that only an extra installs.

    Args:
        module: its dotted name, which begins with that of the package.
        extra: of this package.
        what: needs it, for the message.

    Raises:
        ConfigError: the package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != package:
            raise
        raise ConfigError(f"{what} needs {package}, which is not installed: pip install 'molyneux[{extra}]'") from error
