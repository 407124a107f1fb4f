"""The history as a TensorBoard log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from molyneux.core import store
from molyneux.learn.history import Row

_AXES = ("epoch", "step")


class TensorBoardLog:
    """Scalars of each epoch, over optimiser steps.

    The records are written by TensorBoard's own writer of records; its writer of files would put the name of the machine into
    the name of the file.

    Args:
        folder: where the event files go.
        step: steps that the log may hold already; what is beyond (written by a process that was killed) is hidden.
    """

    def __init__(self, folder: Path, step: int) -> None:
        from tensorboard.compat.proto.event_pb2 import SessionLog
        from tensorboard.summary.writer.record_writer import RecordWriter  # slow to import, and not everybody wants it

        self._folder = folder
        with self._store_errors():
            folder.mkdir(parents=True, exist_ok=True)
            self._file = (folder / f"events.out.tfevents.{time.time_ns()}").open("xb")
            self._records = RecordWriter(self._file)
            self._write(file_version="brain.Event:2")
            if step:
                self._write(step=step + 1, session_log=SessionLog(status=SessionLog.START))
            self._file.flush()

    def __call__(self, row: Row) -> None:
        """Log the numbers of an epoch."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        numbers = {name: value for name, value in row.items() if name not in _AXES}
        summary = Summary(value=[Summary.Value(tag=name, simple_value=value) for name, value in numbers.items()])
        with self._store_errors():
            self._write(step=int(row["step"]), summary=summary)
            self._file.flush()

    def close(self) -> None:
        """Close the event file."""
        with self._store_errors():
            self._file.close()

    def _write(self, **fields: Any) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        self._records.write(Event(wall_time=time.time(), **fields).SerializeToString())

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise store.store_error(error, self._folder) from error
