"""Store a source in the native format: streamed in chunks, by any number of processes, whole or not at all."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, cast

import numpy as np

from molyneux.core import ConfigError, MolyneuxError, Source, StoreError, store
from molyneux.data.array_file import ArrayFile
from molyneux.data.folders import appearing_folder, require_free
from molyneux.data.layout import Column, columns_of, read_arrays
from molyneux.data.origin import origin_of
from molyneux.data.stored import StoredSource

_Digests = dict[str, dict[int, bytes]]


def generate(
    source: Source,
    folder: Path,
    *,
    chunk: int = 4096,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> StoredSource:
    """Write every sample of `source` into `folder` and open it.

    The folder appears under its name only when everything in it is on disk. Where it holds the same samples already
    (the source has an `origin`, and it is that of the record), nothing is done. The bytes do not depend on `chunk` or
    `jobs`, and memory not on the number of samples.

    Args:
        source: what to store. With `jobs` above 1 it is sent to new processes, which import the main module anew: a script
            then needs `if __name__ == "__main__":` around its call.
        folder: where to; its parents are made.
        chunk: samples made and written at once.
        jobs: processes that make samples.
        progress: called with the number of samples written since the last call.

    Raises:
        ConfigError: `chunk` or `jobs` below 1.
        ConflictError: the folder holds something else, or another process is writing it.
        DataError: a value is NaN, infinite or out of bounds; names modality and sample.
        StoreError: no space, no permission, or a process was killed; nothing is left behind.
    """
    for name, value in (("chunk", chunk), ("jobs", jobs)):
        if value < 1:
            raise ConfigError(f"expected {name} of at least 1, got {value}")
    origin = origin_of(source)
    if _is_there(folder, origin):
        return StoredSource(folder)
    with appearing_folder(folder) as part:
        task = _Task(source, part, columns_of(source), chunk)
        digests = _run(task, min(jobs, task.chunks), progress or (lambda _: None))
        known = {column.file: ArrayFile.seal(part / column.file, digests[column.name]) for column in task.columns}
        store.write_json(part / "spec.json", source.spec.to_json())
        store.Stage(part, {"origin": origin}).finish({"size": len(source)}, known=known)
    return StoredSource(folder, verify=False)


def _is_there(folder: Path, origin: Mapping[str, Any] | None) -> bool:
    try:
        if not (folder / "stage.json").exists():
            return False
    except OSError as error:
        raise store.store_error(error, folder) from error
    if origin is None:
        require_free(folder)
    return store.Stage(folder, {"origin": origin}).complete


@dataclass(frozen=True)
class _Task:
    """What a worker needs to know."""

    source: Source
    folder: Path
    columns: tuple[Column, ...]
    chunk: int

    @property
    def chunks(self) -> int:
        return -(-len(self.source) // self.chunk)

    def work(self, share: int, shares: int) -> Generator[tuple[int, _Digests]]:
        """Write one share of the chunks; yield the size of each and the digests of the blocks that are whole with it."""
        files = {column.name: ArrayFile(self.folder / column.file) for column in self.columns}
        try:
            for number in range(share * self.chunks // shares, (share + 1) * self.chunks // shares):
                start = number * self.chunk
                indices = np.arange(start, min(start + self.chunk, len(self.source)))
                yield len(indices), self._write(files, indices)
        finally:
            for file in files.values():
                file.close()

    def _write(self, files: Mapping[str, ArrayFile], indices: np.ndarray) -> _Digests:
        arrays = read_arrays(self.source, files, indices)
        return {name: files[name].write(array, int(indices[0])) for name, array in arrays.items()}


def _run(task: _Task, jobs: int, progress: Callable[[int], None]) -> _Digests:
    """Write all chunks in this process or in `jobs` new ones; the digests of all blocks that one process wrote."""
    for column in task.columns:
        ArrayFile.create(task.folder / column.file, column, len(task.source))
    digests: _Digests = {column.name: {} for column in task.columns}
    with closing(task.work(0, 1) if jobs == 1 else _spawn(task, jobs)) as written:
        for size, found in written:
            for name, blocks in found.items():
                digests[name].update(blocks)
            progress(size)
    return digests


def _spawn(task: _Task, jobs: int) -> Generator[tuple[int, _Digests]]:
    context = multiprocessing.get_context("spawn")
    pipes: list[Connection] = []
    processes = []
    try:
        for number in range(jobs):
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_worker, args=(task, number, jobs, sender), daemon=True)
            process.start()
            sender.close()
            pipes.append(receiver)
            processes.append(process)
        while pipes:
            for pipe in cast(list[Connection], wait(pipes)):
                message = _receive(pipe)
                if message is None:
                    pipes.remove(pipe)
                else:
                    yield message
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _receive(pipe: Connection) -> tuple[int, _Digests] | None:
    """The next message of a worker; None after the last."""
    try:
        message = pipe.recv()
    except (EOFError, OSError) as error:
        raise StoreError(
            "a process that made samples ended early (out of memory?): run the same command again with fewer jobs"
        ) from error
    if isinstance(message, BaseException):
        raise message
    return message  # type: ignore[no-any-return]


def _worker(task: _Task, number: int, jobs: int, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and ends its workers
    try:
        for message in task.work(number, jobs):
            pipe.send(message)
        pipe.send(None)
    except BrokenPipeError:
        return  # the parent is gone
    except (MolyneuxError, OSError) as error:
        pipe.send(error)
