"""Stored samples: a source is written in the native format, streamed in chunks, whole or not at all; and read again."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import Batch, CorruptFileError, Source, Spec, SpecError, StoreError, files, store
from molyneux.core.sources import check_positions, origin_of
from molyneux.data.folders import appearing_folder, require_free
from molyneux.data.formats.mapped_files import FileRows
from molyneux.data.layout import ArrayColumn, Limits, columns_of, possible_columns, read_arrays, to_batch
from molyneux.data.sources import require_positive

_UNWRITTEN = 1 << 27
"""Bytes of a file that may wait in memory before they are sent to the disk."""


def store_samples(
    source: Source,
    folder: Path | str,
    *,
    chunk: int = 4096,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> StoredSource:
    """Write every sample of `source` into `folder` and open it.

    The folder appears under its name only when everything in it is on disk. Where it holds the same samples already
    (the source has an `origin`, and it is that of the record), nothing is done. The bytes do not depend on `chunk` or
    `threads`, and memory not on the number of samples.

    Args:
        source: what to store.
        folder: where to; its parents are made.
        chunk: samples made at once by a thread.
        threads: how many make samples while this one writes and hashes them. Worlds spend their time in compiled code, which
            lets other threads run.
        progress: called with the number of samples written since the last call.

    Raises:
        ConfigError: `chunk` or `threads` below 1.
        ConflictError: the folder holds something else, or another process is writing it.
        DataError: a value is NaN, infinite or out of bounds; names modality and sample.
        StoreError: no space, which is asked for before anything is made, or no permission; nothing is left behind.
    """
    folder = Path(folder)
    require_positive(chunk=chunk, threads=threads)
    origin = origin_of(source)
    if _is_stored(folder, origin):
        return StoredSource(folder)
    with appearing_folder(folder) as part, ExitStack() as open_files:
        columns = columns_of(source)
        store.require_space(folder, len(source) * sum(column.bytes for column in columns))
        written = {column.name: open_files.enter_context(_ArrayFile(part, column, len(source))) for column in columns}
        for file in written.values():
            file.begin()
        for arrays in _chunks(source, tuple(written), chunk, threads):
            for name, rows in arrays.items():
                written[name].write(rows)
            if progress is not None:
                progress(len(rows))
        known = {column.file: written[column.name].finish() for column in columns}
        store.write_json(part / "spec.json", source.spec.to_json())
        store.StageFolder(part, {"origin": origin}).finish({"size": len(source)}, known=known)
    return StoredSource(folder, verify=False)


def _is_stored(folder: Path, origin: Mapping[str, Any] | None) -> bool:
    try:
        if not (folder / "stage.json").exists():
            return False
    except OSError as error:
        raise store.store_error(error, folder) from error
    if origin is None:
        require_free(folder)
    return store.StageFolder(folder, {"origin": origin}).complete


def _chunks(source: Source, names: tuple[str, ...], chunk: int, threads: int) -> Iterator[dict[str, np.ndarray]]:
    """The samples as arrays, in their order; `threads` chunks are made while the one before is used."""
    starts = range(0, len(source), chunk)

    def make(start: int) -> dict[str, np.ndarray]:
        return read_arrays(source, names, np.arange(start, min(start + chunk, len(source))))

    waiting: deque[Future[dict[str, np.ndarray]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for start in starts:
                waiting.append(pool.submit(make, start))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


class _ArrayFile:
    """A .npy file that is written from its begin to its end, and hashed while it is.

    Plain writes rather than a memory-map: a full disk is then an error here, not a signal that kills the process. What is
    written goes to the disk in the background and leaves the page cache, so that memory stays flat and the operating system
    does not spend its time on fresh pages (four times as fast for sets of many gigabytes).
    """

    def __init__(self, folder: Path, column: ArrayColumn, size: int) -> None:
        self._path = folder / column.file
        self._column, self._shape = column, (size, *column.shape)
        self._digest, self._block, self._filled = hashlib.sha256(), hashlib.sha256(), 0
        self._waiting = 0
        self._flushing: Future[None] | None = None

    def __enter__(self) -> _ArrayFile:
        self._stream = self._path.open("wb", buffering=0)
        self._thread = ThreadPoolExecutor(1)
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()
        self._stream.close()

    def begin(self) -> None:
        """Write the header and reserve the space, so that a full disk is noticed before any work."""
        dtype = np.dtype(self._column.dtype)
        header = BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": self._shape}
        )
        total = len(header.getvalue()) + int(np.prod(self._shape)) * dtype.itemsize
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self._stream.fileno(), 0, total)
        self._append(memoryview(header.getvalue()))

    def write(self, rows: np.ndarray) -> None:
        """Append rows."""
        self._append(rows.reshape(-1).view(np.uint8).data)
        if self._waiting >= _UNWRITTEN:
            if self._flushing is not None:
                self._flushing.result()
            self._flushing, self._waiting = self._thread.submit(_to_disk, self._stream.fileno()), 0

    def finish(self) -> str:
        """Wait until everything is on disk; the checksum of the file, as `store.checksum` gives it."""
        if self._flushing is not None:
            self._flushing.result()
        os.fsync(self._stream.fileno())
        if self._filled:
            self._digest.update(self._block.digest())
        return self._digest.hexdigest()

    def _append(self, content: memoryview) -> None:
        done = 0
        while done < len(content):
            piece = content[done : done + store.BLOCK - self._filled]
            written = os.write(self._stream.fileno(), piece)
            self._block.update(piece[:written])
            done, self._filled = done + written, self._filled + written
            if self._filled == store.BLOCK:
                self._digest.update(self._block.digest())
                self._block, self._filled = hashlib.sha256(), 0
        self._waiting += len(content)


def _to_disk(handle: int) -> None:
    os.fsync(handle)
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)


class StoredSource:
    """Samples in the native format, memory-mapped: opening is instant, and memory does not grow with their number.

    Pages of arrays of up to 1 GiB stay mapped once they were read, until the system needs their room; rows of larger ones are
    read by calls, and take no memory.

    Args:
        folder: what `store_samples` wrote.
        verify: whether to compare every file with its checksum first, at about 1.5 GB/s. A process reads a file for this once:
            as long as its size and its times of change stay the same, opening it again costs a look at the folder (less than
            a millisecond), so every step that uses stored samples can afford to verify them.

    Attributes:
        spec: what a batch looks like.
        origin: everything the samples depend on; where the stored source could not say, the checksums of their files.

    Raises:
        StoreError: the folder holds no samples, or they were not stored to the end.
        CorruptFileError: names the file that was truncated or altered since it was written.
    """

    checks_values = True
    """Values are compared with their bounds whenever a batch is read."""

    def __init__(self, folder: Path, *, verify: bool = True) -> None:
        self.folder = Path(folder)
        if not store.is_file(self.folder / "stage.json"):
            lacks = "has no stage.json" if store.is_folder(self.folder) else "is not there"
            raise StoreError(f"expected stored samples in {folder}, which {lacks}: store them there first")
        if verify:
            store.verify(self.folder)
        record = store.read_stage(self.folder)
        try:
            self.spec = Spec.from_json(store.read_json(files.inside(self.folder, "spec.json")))
            self._size = int(record["details"]["size"])
            self.origin: Mapping[str, Any] = record["settings"]["origin"] or {"files": record["files"]}
            columns = possible_columns(self.spec)
            used = [column for column in columns if column.name.startswith("view.") or column.file in record["files"]]
            self._arrays = {column.name: self._open(column) for column in used}
            self._limits = Limits(self.spec)
        except (KeyError, TypeError, ValueError, AttributeError, SpecError) as error:
            raise CorruptFileError(
                f"the records in {folder} are damaged ({error}): restore them from a copy, or store the samples anew"
            ) from error

    def __len__(self) -> int:
        return self._size

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions.

        Raises:
            DataError: a position outside the source, or a value that is NaN, infinite or out of bounds.
        """
        rows = check_positions(indices, self._size)
        arrays = {name: array.take(rows) for name, array in self._arrays.items()}
        batch = to_batch(arrays, self.spec)
        return batch if self._limits.hold(arrays) else batch.check_values(self.spec, rows)

    def __reduce__(self) -> tuple[Callable[[Path], StoredSource], tuple[Path]]:
        """Travel to other processes as a path, not as the content of the files."""
        return partial(StoredSource, verify=False), (self.folder,)

    def _open(self, column: ArrayColumn) -> FileRows:
        path = files.inside(self.folder, column.file)
        array = store.read_array(path)
        expected = (self._size, *column.shape)
        if array.shape != expected or array.dtype != column.dtype:
            got = f"{array.dtype} {array.shape}"
            raise CorruptFileError(
                f"{path}: expected {column.dtype} {expected}, got {got}: restore it from a copy, or store the samples anew"
            )
        # rows of a memory-map would be memory-maps, which takes longer
        return FileRows(path, np.asarray(array), int(getattr(array, "offset", 0)))
