"""Objects that stand for settings, as plain data: what is stored and hashed."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from molyneux.core.config.classes import public_path
from molyneux.core.errors import ConfigError


def plain(value: Any) -> Any:
    """Dictionaries, lists, numbers, words, truth values and null for a value of a setting.

    >>> plain((1, Path("samples")))
    [1, 'samples']

    Raises:
        ConfigError: the value has no plain form.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {plain(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, type):
        return public_path(value)
    if dataclasses.is_dataclass(value):
        fields = {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value) if item.init}
        return {"class_path": public_path(type(value)), "init_args": fields}
    raise ConfigError(f"a default of type {type(value).__name__} has no plain form: make it a frozen dataclass")
