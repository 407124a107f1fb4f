"""One .npy file of the native format while it is written, in pieces and by several processes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from molyneux.core import store
from molyneux.data.layout import Column


class ArrayFile:
    """A .npy file that is written in pieces.

    Plain writes rather than a memory-map: a full disk is then an error here, not a signal that kills the process.
    """

    def __init__(self, handle: int, start: int, row: int) -> None:
        self._handle, self._start, self._row = handle, start, row

    @classmethod
    def create(cls, path: Path, column: Column, size: int) -> None:
        """Write the header and reserve the space, so that a full disk is noticed before any work."""
        shape = (size, *column.shape)
        with path.open("wb") as stream:
            header = {"descr": np.lib.format.dtype_to_descr(np.dtype(column.dtype)), "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(stream, header)
            stream.flush()
            total = stream.tell() + int(np.prod(shape)) * np.dtype(column.dtype).itemsize
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(stream.fileno(), 0, total)
            else:
                os.truncate(stream.fileno(), total)

    @classmethod
    def open(cls, path: Path) -> ArrayFile:
        """Open a file that `create` made."""
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        return cls(os.open(path, os.O_RDWR), array.offset, array[:1].nbytes)

    def write(self, rows: np.ndarray, first: int) -> dict[int, bytes]:
        """Write rows from position `first` on; the digests of the whole blocks of the file among them, by number."""
        content = rows.reshape(-1).view(np.uint8).data
        begin = self._start + first * self._row
        done = 0
        while done < len(content):
            done += os.pwrite(self._handle, content[done:], begin + done)
        numbers = range(-(-begin // store.BLOCK), (begin + len(content)) // store.BLOCK)
        places = {number: number * store.BLOCK - begin for number in numbers}
        return {number: hashlib.sha256(content[at : at + store.BLOCK]).digest() for number, at in places.items()}

    def close(self) -> None:
        """Close the file; `seal` makes it durable."""
        os.close(self._handle)

    @staticmethod
    def seal(path: Path, digests: Mapping[int, bytes]) -> str:
        """Flush a written file to disk; its checksum, from the digests of its blocks and what of it is not among them."""
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
        return store.checksum(path, digests)
