"""Training: a model and samples become a trained model."""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from molyneux.core import (
    ConfigError,
    Dataset,
    EpochStart,
    History,
    NamesStages,
    PostFit,
    Source,
    instance_problems,
    nearest,
    store,
)
from molyneux.core.history import Row
from molyneux.learn.training.batches import BatchReader, NumberedBatch, evaluation_order, training_order
from molyneux.learn.training.checkpoints import Checkpoints, State, copy_of
from molyneux.learn.training.epoch_start import begin_epoch
from molyneux.learn.training.fit_progress import FitProgress, ProgressClock, tell_note
from molyneux.learn.training.hardware import (
    Placement,
    bf16_note,
    choose_device,
    keep_freed_memory,
    precision_of,
    threads,
    use_bf16,
    use_channels_last,
)
from molyneux.learn.training.interruptions import Interruptions
from molyneux.learn.training.logs import Logs, require_packages
from molyneux.learn.training.post_fit import post_fit, post_fit_note, require_post_fit
from molyneux.learn.training.processes import ALONE, Group, Processes, process_count, several
from molyneux.learn.training.settings import Stage, Training
from molyneux.learn.training.stage_sources import Sources, StageSources
from molyneux.learn.training.steps import Steps, trained_names
from molyneux.learn.training.timed_steps import FitStep

_FREE = ("checkpoint_seconds", "device", "memory", "mlflow", "prefetch", "tensorboard", "threads", "wandb")
"""Settings that may change between a training and its continuation; `keep` may too where there is one stage."""


def fit(
    model: nn.Module,
    train: Source | Dataset,
    validation: Source | None = None,
    training: Training | None = None,
    folder: Path | str | None = None,
    *,
    seed: int = 0,
    progress: FitProgress | None = None,
    others: Mapping[str, Sources] | None = None,
    processes: Processes = 1,
) -> History:
    """Train a model, or go on where an earlier call with the same folder stopped.

    `folder` gets the history (`history.csv`) and the logs that `training` asks for after each epoch, and a checkpoint
    (`checkpoints/`) every `training.checkpoint_seconds` seconds, at the end of each stage, and before Ctrl-C or SIGTERM takes
    effect; a second one takes effect at once. A call after a crash, a kill or Ctrl-C goes on from the last checkpoint, with as
    many threads as before unless `training` says how many, and gives, on the same machine, bit for bit what an uninterrupted
    call gives. A call after the end trains no more. In the end a model that satisfies `PostFit` is post-fitted; a long fit goes
    on where it was stopped, too. One call at a time in a process: torch's own generator, its number of threads, the settings of
    the allocator (`keep_freed_memory`) and, in the main thread, the handlers of these signals belong to the process.

    Args:
        model: satisfies `core.Trainable`; in the end it holds the weights that `training.keep` names, on the CPU, in eval mode.
        train: the samples to learn from, loaded or streamed as `training.memory` says. Of a data set with an end, its splits
            `train` and, where no other samples are given, `validation`, in the order of `seed`.
        validation: the samples that choose the best epoch; with a source and None, nothing is validated.
        training: the settings; those of `Training()` by default.
        folder: belongs to this training alone. None keeps nothing beside the trained model and the history that is returned:
            no log, and no checkpoint from which the training could go on.
        seed: root seed of the order of the samples and of all noise. The weights a model starts with are not drawn here.
        progress: receives the progress, and where it takes notes (`fit_progress.TakesNotes`) the line about bf16 that the device
            does not have, and the lines in `training_notes` of a model that has these; without it, a line is a warning.
        others: the samples of stages that do not learn from `train` and `validation`, by the name of the stage, such as simpler
            ones for the first; their specs are the same.
        processes: how many train together, each on its part of every batch, on a processor or each on a CUDA device; `auto`: one
            for each CUDA device. Losses are those of one process but for rounding, and another number may go on with a
            training. The others are begun here (`multiprocessing`, spawned): a script of yours begins with
            `if __name__ == "__main__":`. Where nothing says how many threads, they share the cores.

    Returns:
        The history of all epochs, of earlier calls too.

    Raises:
        ConfigError: the settings do not fit the sources or the machine, a package for a log is not installed, `others` or
            the model (`core.NamesStages`) names a stage that there is not, learns its targets in none, or has a `post_fit`
            that cannot be called; the data set has no end, a log has no folder, or model and samples are none; there are fewer
            devices than processes, model or samples cannot be sent to another process, or a loss is no mean over samples.
        SpecError: samples of a stage have another spec.
        ConflictError: `folder` was made by other settings, in another precision, with another number of threads, or is in use.
        CorruptFileError: a checkpoint was truncated or altered.
        DataError: samples hold NaN, infinity or numbers out of range, or one has no modality at all and the model needs one
            (`needs_views`). TrainingError: the loss or its gradient do.
        StoreError: `folder` cannot be written.
    """
    folder = None if folder is None else Path(folder)
    training = training or Training()
    problems = instance_problems(nn.Module, model=model)
    if problems := problems if isinstance(train, Dataset) else problems + instance_problems(Source, train=train):
        raise ConfigError(problems)
    if isinstance(train, Dataset):
        validation = train.source("validation", seed=seed) if validation is None else validation
        train = train.source("train", seed=seed)
    if folder is None:
        if training.mlflow is True:
            raise ConfigError("folder: is missing: mlflow: true writes its log there; name a folder, or the address of a server")
        with tempfile.TemporaryDirectory() as place:
            unlogged = replace(training, tensorboard=False)
            rest: Any = {"seed": seed, "progress": progress, "others": others, "processes": processes}
            return fit(model, train, validation, unlogged, Path(place), **rest)
    require_packages(training)
    samples, count = StageSources(training, (train, validation), others or {}), process_count(processes, choose_device(training))
    samples.require_parts(count)
    for stage in training.stages:
        trained_names(model, stage.parameters)
    _require_named_stages(model, training)
    require_post_fit(model)
    if use_channels_last(training, model):
        model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    keep_freed_memory()
    with store.locked(folder), threads(_thread_count(training, folder, count)):
        identity = _identity(model, samples, training, seed)
        checkpoints = Checkpoints(folder / "checkpoints", identity if count == 1 else {**identity, **_begun_threads(folder)})
        state = checkpoints.resume(model) or State()
        checkpoints.begin()
        fitting = _Fitting(model, training, samples, folder, checkpoints, state, seed, progress, torch.get_num_threads())
        left = not fitting.complete()
        notes = [bf16_note(training, model), *getattr(model, "training_notes", ())] if left else []
        notes += [post_fit_note(model, training)] if left or training.steps == 0 else []
        for line in filter(None, notes):
            tell_note(progress, line)
        if left:
            with several(fitting.helped(), count, choose_device(training)) as fitting.group:
                fitting.run()
            train = samples.loaded or train
        history = state.history
        if training.keep == "best" and state.best is not None:
            model.load_state_dict(state.best)
        model.eval()
        if isinstance(model, PostFit):
            history = history.prolonged(post_fit(model, train, checkpoints.folder, training, seed=seed, progress=progress))
        history.write_csv(folder / "history.csv")
    return replace(history, step=FitStep(training.batch_size, training), samples=len(train))


@dataclass
class _Fitting:
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
        device = choose_device(self.training)
        self._device = device
        self._read()  # before anything is written
        unlogged = replace(self.training, tensorboard=False, mlflow=False, wandb=False)
        self._logs = Logs(self.training if self.group.first else unlogged, self.folder, self.state.history)
        self._saved = self._started = time.perf_counter()
        self._seconds_before = self.state.seconds
        total = sum(map(self.samples.steps, self.samples.stages))
        self._clock = ProgressClock(self.progress, self._steps_done(), total, self.training.batch_size)
        try:
            with torch.random.fork_rng(devices=[torch.cuda.current_device()] if device == "cuda" else []):
                placement = Placement(torch.device(device), use_bf16(self.training, self.model))
                self.model.to(placement.device)
                self.model.train()
                with Interruptions() as self._interruptions:
                    self._run_stages(placement)
        finally:
            self._logs.close()
            self.model.to("cpu")

    def _run_stages(self, placement: Placement) -> None:
        while True:
            stage, settings, before = self._stage, self.samples.settings(self._stage), self.state.steps_before
            total = self.samples.steps(stage)
            steps = Steps(self.model, stage, settings, placement, self.seed, total, before, self.folder, self.group)
            try:
                steps.restore(self.state)
                while not self._stage_complete():
                    self._epoch(steps)
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

    def _epoch(self, steps: Steps) -> None:
        """What is left of an epoch: its steps, the validation, the row of the history, the logs."""
        state, size = self.state, self.training.batch_size
        epoch = state.history.epochs - state.epochs_before
        first = epoch * (len(self._reader) // size)
        if state.step == first and isinstance(self.model, EpochStart):  # not in the midst of an epoch
            begin_epoch(self.model, steps, self._reader, self._validation, number=epoch, first=first)
        together, epochs, block = self._reader.source.spec.row_size, state.history.epochs, self._reader.block_size
        order = training_order(len(self._reader), size, seed=self.seed, epoch=epochs, first=first, together=together, block=block)
        rest = order[state.step - first : max(steps.steps - first, 0)]
        resumed = time.perf_counter()
        with contextlib.closing(self._reader.read(self.group.parts(rest, together))) as batches:
            for batch in batches:
                steps.train(batch)
                state.step = batch.number + 1
                self._clock.tell(self._steps_done())
                due = batch.number != rest[-1].number and self._checkpoint_due()
                if due or self._interruptions.asked:
                    state.epoch_seconds += time.perf_counter() - resumed
                    self._save(steps)
                    self._interruptions.deliver()
                    resumed = time.perf_counter()
        state.epoch_seconds += time.perf_counter() - resumed
        self._end_epoch(steps)
        if self._checkpoint_due() or self._interruptions.asked:
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

    def _checkpoint_due(self) -> bool:
        return time.perf_counter() - self._saved >= self.training.checkpoint_seconds

    def _seconds(self) -> float:
        return self._seconds_before + time.perf_counter() - self._started

    def _steps_done(self) -> int:
        return self.state.steps_before + self.state.step


def _require_named_stages(model: nn.Module, training: Training) -> None:
    """Raise ConfigError if the loss of a module depends on a stage that the training lacks."""
    known = [stage.name for stage in training.stages]
    parts = [part for part in model.modules() if isinstance(part, NamesStages)]
    missing = {(type(part).__name__, name) for part in parts for name in part.named_stages if name not in (known or [""])}
    if missing:
        nothing = "the training has no stages: name it in learn.stages"
        found = sorted(missing)
        raise ConfigError([f"{part}: no stage {name!r}; {nearest(name, known) if known else nothing}" for part, name in found])


def _help(fitting: _Fitting, group: Group) -> None:
    """What another process of a training does."""
    with threads(fitting.threads):
        keep_freed_memory()
        fitting.group = group
        fitting.run()


def _begun_threads(folder: Path) -> dict[str, Any]:
    """The threads that a training was begun with, for several processes, by whose number the last digits differ anyway."""
    begun = Checkpoints.settings_in(folder / "checkpoints")
    return {name: value for name, value in begun.items() if name == "threads"}


def _thread_count(training: Training, folder: Path, processes: int) -> int:
    """How many threads a process has: those asked for, else those that a training was begun with, else torch's own choice.

    Several processes share what torch would choose.
    """
    if processes > 1:
        return training.threads or max(1, torch.get_num_threads() // processes)
    begun = Checkpoints.settings_in(folder / "checkpoints").get("threads")
    return training.threads or begun or torch.get_num_threads()


def _identity(model: nn.Module, samples: StageSources, training: Training, seed: int) -> dict[str, Any]:
    """Everything the course of a training depends on that can be told from here."""
    free = _FREE if training.stages else (*_FREE, "keep")
    settings = {name: value for name, value in asdict(training).items() if name not in free}
    weights = {name: f"{tensor.dtype} {tuple(tensor.shape)}" for name, tensor in model.state_dict().items()}
    identity = {
        "training": settings,
        "precision": precision_of(training, model),
        "threads": torch.get_num_threads(),
        "seed": seed,
        "model": {"class": type(model).__name__, "weights": store.fingerprint(weights)},
        **samples.record(),
    }
    return dict(json.loads(json.dumps(identity)))  # lists for tuples, as they are read back
