"""What public functions are given: a path, settings, or what is made of them. One in place of another is told in a sentence."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from molyneux.core import ConfigError, StoreError, store

T = TypeVar("T")

EXPERIMENT_FILE = "the path of an experiment file"
STUDY_FILE = "the path of a study file"
RUN_FOLDER = "the folder of a run"


def given_path(value: Any, expected: str) -> Path:
    """The path.

    Args:
        value: what was given.
        expected: what it should be, in words.

    Raises:
        ConfigError: it is neither text nor a path.
    """
    if isinstance(value, str | os.PathLike):
        return Path(value)
    remedy = "read_experiment takes settings" if isinstance(value, Mapping) and expected == EXPERIMENT_FILE else "give a path"
    raise ConfigError(f"expected {expected}, got {_in_words(value)}: {remedy}")


def given_folder(value: Any, expected: str) -> Path:
    """The path of a folder that is read; whether it is there, and is what is expected, its reader says.

    Raises:
        ConfigError: as `given_path`. StoreError: it is a file.
    """
    path = given_path(value, expected)
    if store.is_file(path):
        raise StoreError(f"expected {expected}, got the file {path}: name a folder")
    return path


def given_settings(value: Any, reader: str) -> Mapping[str, Any]:
    """The settings, shaped as a file is.

    Args:
        value: what was given.
        reader: name of the function that reads them from a file.

    Raises:
        ConfigError: it is no mapping.
    """
    if isinstance(value, Mapping):
        return value
    remedy = f"{reader} reads a file" if isinstance(value, str | os.PathLike) else "give a mapping"
    raise ConfigError(f"expected settings by name, shaped as a file is, got {_in_words(value)}: {remedy}")


def given_object(value: Any, kind: type[T], **makers: str) -> T:
    """The object.

    Args:
        value: what was given.
        kind: its class.
        **makers: names of the functions that make one, of a `path` and of `settings`.

    Raises:
        ConfigError: it is of another class.
    """
    if isinstance(value, kind):
        return value
    maker = makers.get("settings", "") if isinstance(value, Mapping) else makers["path"]
    remedy = f"{maker} makes one" if maker else f"{makers['path']} makes one of a file"
    raise ConfigError(f"expected an object of the class {kind.__name__}, got {_in_words(value)}: {remedy}")


def _in_words(value: Any) -> str:
    if isinstance(value, str | os.PathLike):
        return f"the path {str(value)[:100]!r}"
    return "settings" if isinstance(value, Mapping) else f"an object of the class {type(value).__name__}"
