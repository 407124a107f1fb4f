"""Arrays in MATLAB's files of version 5, read by SciPy after a look at what they unpack to; no code is run."""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import scipy.io
from scipy.io.matlab import MatReadError

from molyneux.core import DataError, files, store
from molyneux.core.errors import short
from molyneux.data.formats.limits import require_unpacked

_HEAD, _TAG, _COMPRESSED = 128, 8, 15
"""Bytes of the head of a file and of what stands before each part of it, and the type of a compressed part."""

_BROKEN = (*files.DAMAGED, MatReadError)
"""What SciPy raises for damaged files."""


def read_matlab(path: Path, names: Sequence[str]) -> dict[str, Any]:
    """The arrays of these names, where the file has them.

    Raises:
        StoreError: it cannot be read. DataError: it is no such file, is damaged, or unpacks to more than its size allows.
    """
    try:
        _require_unpacked(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # names that occur twice, and other remarks on damaged files
            found: dict[str, Any] = scipy.io.loadmat(path, variable_names=list(names))
            return found
    except OSError as error:
        if error.errno is None:
            raise _error(path, error) from error
        raise store.read_error(error, path) from error
    except _BROKEN as error:
        raise _error(path, error) from error


def _error(path: Path, error: Exception) -> DataError:
    return DataError(f"{path}: expected a file of MATLAB of version 5, got something else or a damaged file ({short(error)})")


def _require_unpacked(path: Path) -> None:
    """Raise DataError where the parts of a file unpack to too much: a compressed one says in its first bytes to how much."""
    total = 0
    with files.open_plain(path) as stream:
        size, place = stream.seek(0, 2), _HEAD
        stream.seek(_HEAD - 2)
        order = ">" if stream.read(2) == b"MI" else "<"
        while place + _TAG <= size:
            stream.seek(place)
            kind, length = struct.unpack(f"{order}II", stream.read(_TAG))
            if kind == _COMPRESSED:
                inner = zlib.decompressobj().decompress(stream.read(min(length, 1 << 10)), _TAG)
                if len(inner) < _TAG:
                    raise ValueError("a part ends early")
                total += struct.unpack(f"{order}II", inner)[1]
                require_unpacked(path, size, total)
            elif length > size - place:
                raise ValueError("a part ends early")
            place += _TAG + length
