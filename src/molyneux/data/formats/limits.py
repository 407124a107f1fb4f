"""How much memory a file may fill: what it unpacks to is bounded by its size, so that a small file cannot fill the machine."""

from __future__ import annotations

import math
import os
from pathlib import Path

from molyneux.core import ConfigError, DataError

VARIABLE = "MOLYNEUX_UNPACKED"
"""The variable of the environment that has the gigabytes to which any file may unpack."""

LEAST = 1 << 28
"""Bytes to which every file may unpack."""

RATIO = 200
"""How many times its own size a larger file may unpack to."""

MOST_LEVELS = 100
"""Containers in each other that a file may have."""


def unpacked_limit(size: int) -> int:
    """The bytes to which a file of `size` bytes may unpack.

    Raises:
        ConfigError: the variable of the environment is no number of gigabytes.
    """
    given = os.environ.get(VARIABLE)
    if given is None:
        return max(LEAST, RATIO * size)
    try:
        gigabytes = float(given)
    except ValueError:
        gigabytes = math.nan
    if not 0 < gigabytes < 2**30:
        raise ConfigError(f"{VARIABLE}: expected the gigabytes to which a file may unpack, a number above 0, got {given!r}")
    return int(gigabytes * 1e9)


def require_unpacked(path: Path | str, size: int, promised: int) -> None:
    """Raise DataError where a file of `size` bytes would unpack to more bytes, `promised`, than `unpacked_limit` allows."""
    if promised > (limit := unpacked_limit(size)):
        raise DataError(
            f"{path}: expected a file that unpacks to at most {told(limit)}, got one of {told(size)} that unpacks to "
            f"{told(promised)} or more: store it in parts, or set {VARIABLE} to the gigabytes that you allow"
        )


def told(size: int) -> str:
    """A number of bytes as text.

    >>> told(231), told(3_200_000), told(10**30)
    ('231 bytes', '3.2 MB', 'more than 1000 TB')
    """
    if size < 1000:
        return f"{size} bytes"
    for power, unit in enumerate(("kB", "MB", "GB", "TB"), 1):
        if size < 1000 ** (power + 1):
            return f"{size / 1000**power:.3g} {unit}"
    return "more than 1000 TB"
