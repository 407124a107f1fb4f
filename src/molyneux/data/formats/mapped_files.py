"""Arrays that lie in large files: rows are read when they are asked for, and what was read is let go again."""

from __future__ import annotations

import math
import mmap
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from molyneux.core import DataError, files, store
from molyneux.core.errors import short
from molyneux.data.formats.limits import told

_LARGE = 1 << 26
"""Bytes from which the pages of an array are given back after each batch."""

_KEPT = 1 << 30
"""Bytes up to which the pages of stored samples that were read stay mapped; the system drops them when it needs room."""

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


class FileRows:
    """Rows of an array that lies in a file. Those of a small array are read where they are mapped, those of a large one by calls.

    A page of a large file that is mapped, read once and given back takes four times as long as a call that copies the row.

    Args:
        path: of the file.
        array: mapped, read-only.
        offset: where it begins in the file.
        shared: whether more such arrays are open at the same time, so that each may be smaller.

    Raises:
        StoreError: the file cannot be read.
    """

    def __init__(self, path: Path, array: np.ndarray, offset: int, *, shared: bool = False) -> None:
        self._path, self._offset, self._array = path, offset, array
        self._row = math.prod(array.shape[1:]) * array.itemsize
        self._handle: int | None = None
        if array.nbytes >= (_LARGE if shared else _KEPT) and hasattr(os, "preadv"):
            try:
                with files.open_plain(path) as stream:
                    self._handle = os.dup(stream.fileno())
            except OSError as error:
                raise store.read_error(error, path) from error
            weakref.finalize(self, os.close, self._handle)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Copies of rows (B, ...) at positions (B,) within the array; DataError where the file was cut meanwhile."""
        if self._handle is None:
            return self._array.take(rows, axis=0)
        found = np.empty((len(rows), *self._array.shape[1:]), self._array.dtype)
        content, size = found.reshape(-1).view(np.uint8).data, self._row
        if len(rows) > 1 and rows[-1] - rows[0] == len(rows) - 1 and bool((np.diff(rows) == 1).all()):
            self._read(self._handle, content, int(rows[0]))
        else:
            for place, row in enumerate(rows.tolist()):
                self._read(self._handle, content[place * size : place * size + size], row)
        return found

    def _read(self, handle: int, content: memoryview, row: int) -> None:
        place = self._offset + row * self._row
        while content:
            if not (count := os.preadv(handle, [content], place)):
                raise DataError(f"{self._path}: expected more than {told(place)}: the file was cut; restore it")
            content, place = content[count:], place + count


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
