"""One .npy file of the native format while it is written, in pieces and by several processes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np

from molyneux.core import store
from molyneux.data.layout import Column

_UNWRITTEN = 1 << 27
"""Bytes that may wait in memory before they are sent to the disk."""


class ArrayFile:
    """A .npy file that is written in pieces, from some row onwards.

    Plain writes rather than a memory-map: a full disk is then an error here, not a signal that kills the process. What is
    written goes to the disk in the background and leaves the page cache, so that memory stays flat and the operating system
    does not spend its time on fresh pages (four times as fast for sets of many gigabytes).
    """

    def __init__(self, path: Path) -> None:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        self._start, self._row = array.offset, array[:1].nbytes
        self._handle = os.open(path, os.O_RDWR)
        self._block, self._end = hashlib.sha256(), -1
        self._waiting = 0
        self._thread = ThreadPoolExecutor(1)
        self._flushing: Future[None] | None = None

    @staticmethod
    def create(path: Path, column: Column, size: int) -> None:
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

    @staticmethod
    def seal(path: Path, digests: Mapping[int, bytes]) -> str:
        """Flush a written file to disk; its checksum, from the digests of its blocks and what of it is not among them."""
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
        return store.checksum(path, digests)

    def write(self, rows: np.ndarray, first: int) -> dict[int, bytes]:
        """Write rows from position `first` on; the digests, by number, of the blocks of the file that are whole with them."""
        content = rows.reshape(-1).view(np.uint8).data
        begin = self._start + first * self._row
        done = 0
        while done < len(content):
            done += os.pwrite(self._handle, content[done:], begin + done)
        self._waiting += len(content)
        if self._waiting >= _UNWRITTEN:
            self._flush()
        return self._digests(content, begin)

    def close(self) -> None:
        """Wait for what is under way and close the file; `seal` makes it durable."""
        self._thread.shutdown()
        os.close(self._handle)

    def _digests(self, content: memoryview, begin: int) -> dict[int, bytes]:
        """Hash what was written as far as it goes on from the write before, or from the begin of a block."""
        found = {}
        at, known = 0, begin == self._end
        while at < len(content):
            number, within = divmod(begin + at, store.BLOCK)
            piece = content[at : at + store.BLOCK - within]
            if within == 0:
                self._block, known = hashlib.sha256(), True
            if known:
                self._block.update(piece)
                if within + len(piece) == store.BLOCK:
                    found[number] = self._block.digest()
            at += len(piece)
        self._end = begin + len(content) if known else -1
        return found

    def _flush(self) -> None:
        if self._flushing is not None:
            self._flushing.result()
        self._flushing, self._waiting = self._thread.submit(_to_disk, self._handle), 0


def _to_disk(handle: int) -> None:
    os.fsync(handle)
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
