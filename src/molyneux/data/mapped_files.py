"""Arrays that lie in large files: rows are read when they are asked for, and what was read is let go again."""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from molyneux.core import DataError, store

_BLOCK = 1 << 25
"""Bytes of an array that are looked at together when it is read from beginning to end."""


class MappedFile:
    """A file in the address space of this process, read-only. Pages that were read count as memory until `release`.

    Raises:
        StoreError: the file cannot be read. DataError: it is empty.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as stream:
                self._map = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise store.read_error(error, path) from error
        except ValueError as error:
            raise DataError(f"{path}: expected a file with content, got an empty one: restore the file") from error
        self._start = np.frombuffer(self._map, np.uint8).ctypes.data
        self._advise("MADV_RANDOM")  # what lies around a row is not wanted, and reading it takes longer than the row

    def array(self, offset: int, shape: tuple[int, ...], dtype: np.dtype, *, fortran: bool = False) -> np.ndarray:
        """The array whose bytes begin at an offset; nothing is read yet.

        Raises:
            DataError: the file ends before the array does.
        """
        count = math.prod(shape)
        if offset + count * dtype.itemsize > len(self._map):
            needed = offset + count * dtype.itemsize
            raise DataError(f"{self.path}: expected {needed:,} bytes, got {len(self._map):,}: the file was cut; restore it")
        flat = np.frombuffer(self._map, dtype, count, offset) if count else np.empty(0, dtype)
        return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)

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


def map_npy(path: Path) -> tuple[MappedFile, np.ndarray]:
    """The array of a `.npy` file, of which only rows that are asked for are read.

    Raises:
        StoreError: the file cannot be read. DataError: it is no `.npy` file, or holds Python objects.
    """
    try:
        with path.open("rb") as stream:
            version = np.lib.format.read_magic(stream)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(stream)
            offset = stream.tell()
    except OSError as error:
        raise store.read_error(error, path) from error
    except ValueError as error:
        raise DataError(f"{path}: expected a .npy file, got something else ({error}): restore the file") from error
    if dtype.hasobject:
        raise DataError(f"{path}: expected numbers, got Python objects, which are not read: save it as an array of numbers")
    mapped = MappedFile(path)
    return mapped, mapped.array(offset, shape, dtype, fortran=fortran)


def blocks(array: np.ndarray, rows: np.ndarray | None = None) -> Iterator[np.ndarray]:
    """An array, or some rows of it, in blocks of rows (n, ...), each a copy of at most 32 MB or a single row."""
    count, row = len(array) if rows is None else len(rows), math.prod(array.shape[1:]) * array.itemsize
    step = max(1, _BLOCK // max(row, 1))
    for start in range(0, count, step):
        yield np.array(array[start : start + step]) if rows is None else array[rows[start : start + step]]
