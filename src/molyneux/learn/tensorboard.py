"""The history as a TensorBoard log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from molyneux.core import store
from molyneux.learn.history import Row

_AXES = ("epoch", "step")


class TensorBoardLog:
    """Scalars of each epoch, over optimiser steps.

    Args:
        folder: where the event files go.
        step: steps that the log may hold already; what is beyond (written by a process that was killed) is hidden.
    """

    def __init__(self, folder: Path, step: int) -> None:
        from torch.utils.tensorboard.writer import SummaryWriter  # slow to import, and not everybody wants it

        self._folder = folder
        with self._store_errors():
            self._writer = SummaryWriter(str(folder), purge_step=step + 1 if step else None)

    def __call__(self, row: Row) -> None:
        """Log the numbers of an epoch."""
        with self._store_errors():
            for name, value in row.items():
                if name not in _AXES:
                    self._writer.add_scalar(name, value, int(row["step"]))
            self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        with self._store_errors():
            self._writer.close()

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise store.store_error(error, self._folder) from error
