"""One process's share of a training: its stages, epochs, validation, checkpoints and logs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from torch import nn
from torch.optim import Optimizer

from molyneux.core import EpochStart
from molyneux.core.history import Row
from molyneux.learn.training.batches import BatchReader, NumberedBatch, evaluation_order, training_order
from molyneux.learn.training.checkpoints import Checkpoints, State, copy_of
from molyneux.learn.training.fit_progress import FitProgress, ProgressClock
from molyneux.learn.training.hardware import Placement, choose_device, keep_freed_memory, threads, use_bf16
from molyneux.learn.training.interruptions import Interruptions
from molyneux.learn.training.logs import Logs
from molyneux.learn.training.processes import ALONE, Group
from molyneux.learn.training.settings import Stage, Training
from molyneux.learn.training.stage_sources import StageSources
from molyneux.learn.training.steps import Steps

__all__ = ["Fitting", "Walk"]

Walk = Generator[tuple[Steps, NumberedBatch], None, None]
"""The steps that are left of a training, each with its batch."""


@dataclass
class Fitting:
    """One process's share of a training. `state` is where it stands, at any time between two steps."""

    model: nn.Module
    training: Training
    samples: StageSources
    folder: Path
    checkpoints: Checkpoints
    state: State
    seed: int
    progress: FitProgress | None
    threads: int
    group: Group = ALONE

    def helped(self) -> Callable[[Group], None]:
        """What the other processes do: the same, without a progress."""
        return partial(_help, replace(self, progress=None))

    def complete(self) -> bool:
        """Whether the last stage has come to its end, or no stage makes a step."""
        return self.training.steps == 0 or (self._last and self._stage_complete())

    def run(self) -> None:
        """Train to the end."""
        with contextlib.closing(self.walk()) as walk:
            for steps, batch in walk:
                steps.train(batch)

    def walk(self) -> Walk:
        """What is left of a training, step by step: whoever asks for a step makes it before the next one is asked for."""
        device = choose_device(self.training)
        self._device = device
        self._read()  # before anything is written
        unlogged = replace(self.training, tensorboard=False, mlflow=False, wandb=False)
        self._logs = Logs(self.training if self.group.first else unlogged, self.folder, self.state.history)
        self._saved, self._started = time.perf_counter(), self.now()
        self._seconds_before = self.state.seconds
        total = sum(map(self.samples.steps, self.samples.stages))
        self._clock = ProgressClock(self.progress, self._steps_done(), total, self.training.batch_size)
        try:
            with torch.random.fork_rng(devices=[torch.cuda.current_device()] if device == "cuda" else []):
                placement = Placement(torch.device(device), use_bf16(self.training, self.model))
                self.model.to(placement.device)
                self.model.train()
                with self.interruptions() as self._interruptions:
                    yield from self._walk_stages(placement)
        finally:
            self._logs.close()
            self.model.to("cpu")

    def interruptions(self) -> AbstractContextManager[Interruptions]:
        """What notes the signals that end a training early."""
        return Interruptions()

    def now(self) -> float:
        """The clock that the seconds of the history are taken from."""
        return time.perf_counter()

    def checkpoint_due(self) -> bool:
        """Whether so much time has passed since the last checkpoint that it is time for another."""
        return time.perf_counter() - self._saved >= self.training.checkpoint_seconds

    def _walk_stages(self, placement: Placement) -> Walk:
        while True:
            stage, settings, before = self._stage, self.samples.settings(self._stage), self.state.steps_before
            total = self.samples.steps(stage)
            steps = Steps(self.model, stage, settings, placement, self.seed, total, before, self.folder, self.group)
            try:
                steps.restore(self.state)
                while not self._stage_complete():
                    yield from self._epoch(steps)
                if self._last:
                    return self._save(steps)
            finally:
                steps.close()
            self._begin_next_stage()
            if self.samples.of(stage) is not self.samples.of(self._stage):
                self._read()

    def _read(self) -> None:
        """Open the samples of the stage under way."""
        self._reader, self._validation = self.samples.readers(self._stage, self._device)
        for reader in (self._reader, *([] if self._validation is None else [self._validation])):
            reader.needs_views = bool(getattr(self.model, "needs_views", False))

    @property
    def _stage(self) -> Stage:
        """The stage under way."""
        return self.samples.stages[self.state.stage]

    @property
    def _last(self) -> bool:
        """Whether no stage comes after the one under way."""
        return self.state.stage == len(self.samples.stages) - 1

    def _stage_complete(self) -> bool:
        """Whether the stage under way has made its steps, or its patience has ended."""
        settings, history = self.samples.settings(self._stage), self.state.stage_history
        done = self.state.step == self.samples.steps(self._stage) or history.out_of_patience(settings.patience)
        return done and history.steps == self._steps_done()  # at the end of an epoch

    def _begin_next_stage(self) -> None:
        """Go on to the next stage, from the weights that `keep` names of this one."""
        state = self.state
        if self.training.keep == "best" and state.best is not None:
            self.model.load_state_dict(state.best)
        state.steps_before += state.step
        state.epochs_before = state.history.epochs
        state.stage, state.step, state.best, state.moments, state.sums = state.stage + 1, 0, None, {}, []
        self._write(None)

    def _epoch(self, steps: Steps) -> Walk:
        """What is left of an epoch: its steps, the validation, the row of the history, the logs."""
        state, size = self.state, self.training.batch_size
        epoch = state.history.epochs - state.epochs_before
        first = epoch * (len(self._reader) // size)
        if state.step == first and isinstance(self.model, EpochStart):  # not in the midst of an epoch
            from molyneux.learn.training.epoch_start import begin_epoch  # most models need none

            begin_epoch(self.model, steps, self._reader, self._validation, number=epoch, first=first)
        together, epochs, block = self._reader.source.spec.row_size, state.history.epochs, self._reader.block_size
        order = training_order(len(self._reader), size, seed=self.seed, epoch=epochs, first=first, together=together, block=block)
        rest = order[state.step - first : max(steps.steps - first, 0)]
        resumed = self.now()
        with contextlib.closing(self._reader.read(self.group.parts(rest, together))) as batches:
            for batch in batches:
                yield steps, batch
                state.step = batch.number + 1
                self._clock.tell(self._steps_done())
                due = batch.number != rest[-1].number and self.checkpoint_due()
                if due or self._interruptions.asked:
                    state.epoch_seconds += self.now() - resumed
                    self._save(steps)
                    self._interruptions.deliver()
                    resumed = self.now()
        state.epoch_seconds += self.now() - resumed
        self._end_epoch(steps)
        if self.checkpoint_due() or self._interruptions.asked:
            self._save(steps)
            self._interruptions.deliver()

    def _end_epoch(self, steps: Steps) -> None:
        state = self.state
        if self._validation is not None:
            with contextlib.closing(self._validated(self._validation, steps)) as batches:
                steps.validate(batches)
        state.history = state.history + self._row(steps)
        state.epoch_seconds = 0.0
        steps.train_meter.reset()
        if state.validated and state.best_is_last:
            state.best = copy_of(self.model)
        if self.group.first:
            state.history.write_csv(self.folder / "history.csv")
        self._logs.add(state.history.rows[-1])
        if self.progress is not None:
            self.progress.epoch(state.history.rows[-1])

    def _validated(self, reader: BatchReader, steps: Steps) -> Generator[NumberedBatch, None, None]:
        """The batches of a validation, which a signal ends: it is done again when the training goes on."""
        order = evaluation_order(len(reader), self.training.batch_size)
        with contextlib.closing(reader.read(self.group.parts(order, reader.source.spec.row_size))) as batches:
            for batch in batches:
                self._interruptions.after(lambda: self._save(steps))
                yield batch

    def _row(self, steps: Steps) -> Row:
        state = self.state
        means = {f"train/{name}": value for name, value in steps.train_meter.means().items()}
        means |= {f"validation/{name}": value for name, value in steps.validation_meter.means().items()}
        return {
            "epoch": state.history.epochs + 1,
            **({"stage": state.stage + 1} if self.training.stages else {}),
            "step": self._steps_done(),
            "seconds": self._seconds(),
            "samples_per_second": steps.train_meter.samples / max(state.epoch_seconds, 1e-9),
            "learning_rate": steps.settings.rate(state.step - 1, steps.steps),
            **means,
        }

    def _save(self, steps: Steps) -> None:
        """Write a checkpoint of the state as it is."""
        self.state.seconds = self._seconds()
        self.state.sums = steps.train_meter.to_json()
        self._write(steps.optimizer)

    def _write(self, optimizer: Optimizer | None) -> None:
        if self.group.first:
            self.checkpoints.save(self.model, optimizer, self.state)
        self._saved = time.perf_counter()

    def _seconds(self) -> float:
        return self._seconds_before + self.now() - self._started

    def _steps_done(self) -> int:
        return self.state.steps_before + self.state.step


def _help(fitting: Fitting, group: Group) -> None:
    """What another process of a training does."""
    with threads(fitting.threads):
        keep_freed_memory()
        fitting.group = group
        fitting.run()
