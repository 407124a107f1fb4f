"""What happens between the steps: books are kept, progress is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
from torch import Tensor

from molyneux.learn.checkpoints import Checkpoints
from molyneux.learn.history import History, Row
from molyneux.learn.module import LearningModule
from molyneux.learn.progress import FitProgress


class Bookkeeper(pl.Callback):
    """After each epoch: the history's row, the checkpoint, the logs, and whether to stop.

    Args:
        module: what is trained.
        checkpoints: where the state goes.
        history: of the epochs before.
        write: gets the history after each epoch (files are written there).
    """

    def __init__(
        self, module: LearningModule, checkpoints: Checkpoints, history: History, *, write: Callable[[History], None]
    ) -> None:
        self.module, self.checkpoints, self.history, self.write = module, checkpoints, history, write
        self._before = float(history.rows[-1]["seconds"]) if history.rows else 0.0
        self._started = self._trained = 0.0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start the clock."""
        self._started = time.perf_counter()

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Forget the epoch before."""
        self.module.train_meter.reset()
        self.module.validation_meter.reset()
        self._trained = time.perf_counter()

    def on_validation_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Take the time that training alone has taken."""
        self._trained -= time.perf_counter()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Go on with it."""
        self._trained += time.perf_counter()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Keep the books."""
        self.history = self.history + self._row()
        self.checkpoints.save(self.module.model, trainer.optimizers[0], self.history)
        self.write(self.history)
        if self.history.out_of_patience(self.module.settings.patience):
            trainer.should_stop = True

    def _row(self) -> Row:
        now, module = time.perf_counter(), self.module
        means = {f"train/{name}": value for name, value in module.train_meter.means().items()}
        means |= {f"validation/{name}": value for name, value in module.validation_meter.means().items()}
        return {
            "epoch": self.history.epochs + 1,
            "step": module.steps_done,
            "seconds": self._before + now - self._started,
            "samples_per_second": module.train_meter.samples / max(now - self._trained, 1e-9),
            "learning_rate": module.settings.rate(module.steps_done - 1, module.steps),
            **means,
        }


class ProgressTeller(pl.Callback):
    """Tells a `FitProgress` about steps, at most ten times a second."""

    def __init__(self, module: LearningModule, progress: FitProgress) -> None:
        self.module, self.progress = module, progress
        self._started = self._told = 0.0
        self._first = 0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start the clock."""
        self._started, self._first = time.perf_counter(), self.module.steps_done

    def on_train_batch_end(
        self,
        trainer: pl.Trainer,
        pl_module: pl.LightningModule,
        outputs: Tensor | Mapping[str, Any] | None,
        batch: Any,
        batch_idx: int,
    ) -> None:
        """Tell, if it is time or the end."""
        now = time.perf_counter()
        done, total = self.module.steps_done, self.module.steps
        if now - self._told < 0.1 and done < total:
            return
        self._told = now
        seconds_per_step = (now - self._started) / max(1, done - self._first)
        self.progress.step(
            done, total, self.module.settings.batch_size / max(seconds_per_step, 1e-9), (total - done) * seconds_per_step
        )


def history_writer(folder: Path, log: Callable[[Row], None] | None, progress: FitProgress | None) -> Callable[[History], None]:
    """Writes `history.csv` anew, and hands the last row on."""

    def write(history: History) -> None:
        history.write_csv(folder / "history.csv")
        if log is not None:
            log(history.rows[-1])
        if progress is not None:
            progress.epoch(history.rows[-1])

    return write
