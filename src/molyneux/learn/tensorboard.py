"""The history as a TensorBoard log."""

from __future__ import annotations

from pathlib import Path

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

        self._writer = SummaryWriter(str(folder), purge_step=step + 1 if step else None)

    def __call__(self, row: Row) -> None:
        """Log the numbers of an epoch."""
        for name, value in row.items():
            if name not in _AXES:
                self._writer.add_scalar(name, value, int(row["step"]))
        self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        self._writer.close()
