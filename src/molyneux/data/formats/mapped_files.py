"""Arrays that lie in large files: rows are read when they are asked for, and what was read is let go again."""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from molyneux.core import DataError, files, store
from molyneux.core.errors import short
from molyneux.data.formats.limits import told

_LARGE = 1 << 26
"""Bytes from which the pages of an array are given back after each batch."""

_BLOCK = 1 << 25
"""Bytes of an array that are looked at together when it is read from beginning to end."""


_AXES, _LONGEST = 32, 2**48


def is_shape(shape: object) -> bool:
    """Whether this is the shape of an array that could be: a tuple of at most 32 whole numbers from 0 to 2^48."""
    return (
        isinstance(shape, tuple)
        and len(shape) <= _AXES
        and all(isinstance(axis, int) and 0 <= axis <= _LONGEST for axis in shape)
        and math.prod(max(axis, 1) for axis in shape) <= _LONGEST
    )


class MappedFile:
    """A file in the address space of this process, read-only. Pages that were read count as memory until `release`.

    Raises:
        StoreError: the file cannot be read. DataError: it is empty.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with files.open_plain(path) as stream:
                self._map = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise store.read_error(error, path) from error
        except ValueError as error:
            raise DataError(f"{path}: expected a file with content, got an empty one: restore the file") from error
        self.size = len(self._map)
        """Bytes of the file."""
        self._start = np.frombuffer(self._map, np.uint8).ctypes.data
        self._advise("MADV_RANDOM")  # what lies around a row is not wanted, and reading it takes longer than the row

    def array(self, offset: int, shape: tuple[int, ...], dtype: np.dtype, *, fortran: bool = False) -> np.ndarray:
        """The array whose bytes begin at an offset; nothing is read yet.

        Raises:
            DataError: the file ends before the array does, or this is no shape or no type of an array.
        """
        if not is_shape(shape):
            raise DataError(f"{self.path}: expected the shape of an array, got {short(shape)}: restore the file")
        count = math.prod(shape)
        if (needed := offset + count * dtype.itemsize) > self.size:
            raise DataError(f"{self.path}: expected {told(needed)}, got {told(self.size)}: the file was cut; restore it")
        try:
            flat = np.frombuffer(self._map, dtype, count, offset) if count else np.empty(0, dtype)
            return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
        except ValueError as error:
            raise DataError(f"{self.path}: expected an array of {dtype} {shape}, got {short(error)}: restore the file") from error

    def take(self, array: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Copies of rows (B, ...) of an array of this file; the system is told of all of them before the first is read."""
        size = array.strides[0] if array.ndim else 0
        if size >= mmap.PAGESIZE and array.flags.c_contiguous and hasattr(mmap, "MADV_WILLNEED"):
            first = array.ctypes.data - self._start
            for row in rows.tolist():
                begin = (first + row * size) // mmap.PAGESIZE * mmap.PAGESIZE
                self._map.madvise(mmap.MADV_WILLNEED, begin, min(size + mmap.PAGESIZE, len(self._map) - begin))
        found: np.ndarray = array[rows]
        return found

    @contextmanager
    def from_beginning_to_end(self) -> Iterator[None]:
        """While arrays are read from beginning to end, what follows is read ahead."""
        self._advise("MADV_NORMAL")
        try:
            yield
        finally:
            self._advise("MADV_RANDOM")
            self.release()

    def release(self) -> None:
        """Give the pages that were read back to the system; they are read again when they are needed."""
        self._advise("MADV_DONTNEED")

    def _advise(self, what: str) -> None:
        if hasattr(mmap, what):
            self._map.madvise(getattr(mmap, what))


def let_go(array: np.ndarray) -> None:
    """Give the pages of a large array in a mapped file that were read back to the system; one that lies in memory stays there.

    They stay in the cache of the system as long as there is room, and do not count as memory of this process.
    """
    if array.nbytes < _LARGE:
        return
    base: object = array
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def blocks(array: np.ndarray, rows: np.ndarray | None = None) -> Iterator[np.ndarray]:
    """An array, or some rows of it, in blocks of rows (n, ...), each a copy of at most 32 MB or a single row."""
    count, row = len(array) if rows is None else len(rows), math.prod(array.shape[1:]) * array.itemsize
    step = max(1, _BLOCK // max(row, 1))
    for start in range(0, count, step):
        yield np.array(array[start : start + step]) if rows is None else array[rows[start : start + step]]
