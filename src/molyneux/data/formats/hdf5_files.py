"""HDF5 files: what they hold is checked, and rows of large data sets are read when they are asked for."""

from __future__ import annotations

import errno
import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from molyneux.core import ConfigError, DataError, files, nearest, store
from molyneux.core.errors import short
from molyneux.data.folders import appearing_file
from molyneux.data.formats.limits import require_unpacked
from molyneux.data.formats.mapped_files import MappedFile

_SYSTEM = (errno.ENOENT, errno.EACCES, errno.EISDIR, errno.ENOTDIR, errno.EIO)
"""Errors of the system; the library has numbers of its own, and none for damaged files."""

_SYSTEM_NUMBER = re.compile(r"\berrno = (\d+)")

_TEXTS = 64
"""Texts that are read at once: each of them may be as long as the file."""

_known = dict[Path, tuple[int, ...]]()
"""Files that were searched for links to others, by inode, size and time of change; they are opened for every batch."""


def require_h5py() -> ModuleType:
    """The module h5py.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import h5py
    except ImportError as error:
        raise ConfigError("HDF5 files need h5py, which is not installed: pip install 'h5py>=3.11,<4'") from error
    return h5py  # type: ignore[no-any-return]


@contextmanager
def open_hdf5(path: Path) -> Iterator[Any]:
    """An HDF5 file, open for reading, in which nothing refers to other files; errors of the library are ours in this context.

    Raises:
        ConfigError: h5py is not installed. StoreError: the file cannot be read. DataError: it is no HDF5 file, is damaged or cut,
            refers to other files, or unpacks to more than its size allows.
    """
    h5py = require_h5py()
    try:
        status = files.require_plain_file(path).stat()
        with h5py.File(path, "r") as file:
            _require_own(path, (status.st_ino, status.st_size, status.st_mtime_ns), file)
            yield file
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, MemoryError) as error:
        if isinstance(error, OSError) and error.errno in _SYSTEM:
            raise store.read_error(error, path) from error
        raise DataError(
            f"{path}: expected a whole HDF5 file, got one that is damaged, cut or of another kind ({short(error)})"
        ) from error


@contextmanager
def appearing_hdf5(path: Path) -> Iterator[Any]:
    """An HDF5 file, open for writing, which appears at `path` whole or not at all.

    Raises:
        ConfigError: h5py is not installed. ConflictError: something stands there. StoreError: no space, no permission.
    """
    h5py = require_h5py()
    with appearing_file(path) as part:
        try:
            with h5py.File(part, "w") as file:
                yield file
        except RuntimeError as error:  # of the library, in whose words an error of the system may stand
            number = _SYSTEM_NUMBER.search(str(error))
            if number is None:
                raise
            raise OSError(int(number[1]), os.strerror(int(number[1]))) from error


def _require_own(path: Path, version: tuple[int, ...], file: Any) -> None:
    """Raise DataError where something in a file refers to others; a file that stays the same is searched once."""
    if _known.get(path) == version:
        return
    h5py = require_h5py()
    total, seen, left = 0, set[int](), [(b"", file.id)]
    while left:
        above, group = left.pop()
        links = list[tuple[bytes, Any]]()
        # the library's own walk through groups in groups would end the process where there are very many in each other
        group.links.iterate(lambda name, about, links=links: links.append((name, (about.type, about.u))), info=True)
        for name, (kind, address) in links:
            if kind == h5py.h5l.TYPE_SOFT:  # stands for an object of this file, which hard links lead to
                continue
            inner = above + b"/" * bool(above) + name
            if kind != h5py.h5l.TYPE_HARD:
                raise DataError(
                    f"{_where(path, inner)}: expected data in this file, got a link to another one, which is not followed: copy "
                    "them"
                )
            if address in seen:
                continue
            seen.add(address)
            found = h5py.h5o.open(group, name)
            if isinstance(found, h5py.h5g.GroupID):
                left.append((inner, found))
            elif isinstance(found, h5py.h5d.DatasetID):
                total += _own_bytes(found, path, inner)
                require_unpacked(path, version[1], total)
    _known[path] = version


def _own_bytes(found: Any, path: Path, name: bytes) -> int:
    """The bytes of a data set when it is read, or of a part of it that is unpacked at once; DataError where others hold it."""
    h5py, how = require_h5py(), found.get_create_plist()
    layout = how.get_layout()
    if layout == h5py.h5d.VIRTUAL or how.get_external_count():
        raise DataError(
            f"{_where(path, name)}: expected data in this file, got some that lie in others, which are not opened: copy them"
        )
    chunk = how.get_chunk() if layout == h5py.h5d.CHUNKED else ()
    return int(found.get_type().get_size()) * max(math.prod(found.shape or ()), math.prod(chunk))


def _where(path: Path, name: bytes) -> str:
    return f"{path}, {short(name.decode(errors='replace'))}"


def find_dataset(group: Any, name: str, shape: Sequence[int | None], where: str) -> Any:
    """A data set of numbers in an HDF5 file or group.

    Args:
        group: where it is looked for.
        name: of the data set.
        shape: what it must have; None stands for any length of at least 1.
        where: what an error calls the group.

    Raises:
        DataError: there is none, or it has another shape or holds no numbers; names both.
    """
    h5py = require_h5py()
    found = group.get(name)
    if not isinstance(found, h5py.Dataset):
        raise DataError(f"{where}: expected a data set {name!r}, got none; {nearest(name, group)}")
    wanted = ", ".join("any" if axis is None else str(axis) for axis in shape)
    fits = found.ndim == len(shape) and all(axis in (None, have) and have for axis, have in zip(shape, found.shape, strict=True))
    if not fits or found.dtype.kind not in "biuf":
        raise DataError(f"{where}: expected {name!r} as numbers of shape ({wanted}), got {found.dtype} {found.shape}")
    return found


class Hdf5Texts:
    """Reads texts of an open HDF5 file, all of them together at most as many bytes as the file may unpack to.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._size, self._read = path, path.stat().st_size, 0

    def read(self, group: Any, name: str, where: str) -> list[str]:
        """The texts of a data set (L,) or (L, 1), of fixed or of any length.

        Raises:
            DataError: there is none, it holds something else, or more than the file may unpack to.
        """
        h5py = require_h5py()
        found = group.get(name)
        if not isinstance(found, h5py.Dataset):
            raise DataError(f"{where}: expected a data set {name!r}, got none; {nearest(name, group)}")
        if h5py.check_string_dtype(found.dtype) is None or found.shape not in ((len(found),), (len(found), 1)):
            raise DataError(f"{where}: expected {name!r} as texts of shape (any,) or (any, 1), got {found.dtype} {found.shape}")
        texts = list[str]()
        for start in range(0, len(found), _TEXTS):
            block = [text if isinstance(text, bytes) else bytes(text) for text in found[start : start + _TEXTS].reshape(-1)]
            self._read += sum(map(len, block))
            require_unpacked(self._path, self._size, self._read)
            try:
                texts += [text.decode("utf-8") for text in block]
            except UnicodeDecodeError as error:
                raise DataError(f"{where}: expected {name!r} as text in UTF-8: {error}") from error
        return texts


class Hdf5Rows:
    """Rows of a data set of an HDF5 file; those of one that lies in one piece are read past the library, and let go again.

    Args:
        path: the file.
        name: the data set.
        shape: as in `find_dataset`.

    Raises:
        StoreError or DataError: as `open_hdf5` and `find_dataset`.
    """

    def __init__(self, path: Path, name: str, shape: Sequence[int | None]) -> None:
        self.path, self._name = path, name
        with open_hdf5(path) as file:
            found = find_dataset(file, name, shape, str(path))
            self.shape, self.dtype, place = tuple(found.shape), found.dtype, found.id.get_offset()
        self._mapped = None if place is None else MappedFile(path)
        self._array = None if self._mapped is None else self._mapped.array(place, self.shape, self.dtype)

    def __len__(self) -> int:
        return int(self.shape[0])

    def take(self, rows: np.ndarray) -> np.ndarray:
        """These rows (B, ...), in any order, repeats allowed."""
        if self._array is not None and self._mapped is not None:
            copied = self._mapped.take(self._array, rows)
            self._mapped.release()
            return copied
        distinct, inverse = np.unique(rows, return_inverse=True)
        with open_hdf5(self.path) as file:
            read = file[self._name][distinct] if len(distinct) else np.empty((0, *self.shape[1:]), self.dtype)
        found: np.ndarray = read[inverse.reshape(-1)]
        return found
