"""Trains several small models at once, as each would be trained alone."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from molyneux.core import ConfigError, EpochStart, History, Source, TrainingError, instance_problems
from molyneux.learn.checks import refuse
from molyneux.learn.training.batches import NumberedBatch
from molyneux.learn.training.fit_progress import FitProgress
from molyneux.learn.training.hardware import choose_device
from molyneux.learn.training.interruptions import Interruptions
from molyneux.learn.training.settings import Training
from molyneux.learn.training.stacking.comparison import require_same_as_alone
from molyneux.learn.training.stacking.differences import Varied, differences
from molyneux.learn.training.stacking.stack import Stack
from molyneux.learn.training.stacking.stacked_fitting import StackedFitting, shared_loader
from molyneux.learn.training.stage_sources import Sources
from molyneux.learn.training.steps import Steps
from molyneux.learn.training.trainer import begun, finished

__all__ = ["StackMember", "fit_stacked"]

FREE = (
    *("betas", "checkpoint_seconds", "clip", "keep", "learning_rate", "mlflow", "optimizer", "patience", "prefetch", "schedule"),
    *("tensorboard", "wandb", "warmup_steps", "weight_decay"),
)
"""Settings in which trainings may differ that are computed at once."""


@dataclass(frozen=True)
class StackMember:
    """One of several trainings that `fit_stacked` computes at once; the fields are the arguments of `fit`.

    Args:
        model: satisfies `core.Trainable`.
        train: the samples to learn from. Members that are given the same object share it in memory.
        validation: the samples that choose the best epoch.
        training: the settings.
        folder: of this training alone; None keeps nothing.
        seed: root seed of the order of the samples and of all noise.
        progress: receives the progress.
        others: the samples of stages that learn from others.
    """

    model: nn.Module
    train: Source
    validation: Source | None = None
    training: Training = field(default_factory=Training)
    folder: Path | str | None = None
    seed: int = 0
    progress: FitProgress | None = None
    others: Mapping[str, Sources] = field(default_factory=dict)


def fit_stacked(members: Sequence[StackMember]) -> list[History | TrainingError]:
    """Train several models of the same class and the same shapes of weights at once, in this process, on one device.

    A small model's step is spent on starting operations rather than on arithmetic. Here weights, batches and random numbers of
    all models are stacked on a first axis, and each operation is started once for all (`torch.vmap`). Each training gets the
    batches and the random numbers, dropout's too, that `fit` would give it, and has its own history, checkpoints, best epoch and
    patience: losses and weights are those of `fit` but for rounding, which differs where products of several matrices are one.
    A training whose loss or gradient is not finite ends alone, as does one whose patience has ended.

    Models may differ in weights, seeds, samples and numbers with a fraction, such as the `beta` of a bound; trainings in the
    optimiser and its settings, the schedule of the learning rate, `clip`, `patience` and `keep`. Before its first step, each
    training is compared with what it does alone: what `torch.vmap` cannot compute, or computes to another loss or gradient, is
    refused.

    Checkpoints and their settings are those of `fit`: a call that was killed goes on where it stopped, with all members or some,
    and so does `fit` with one of them. After a kill between two checkpoints, those behind catch up first. Seconds in histories
    are shares of the time: that of a step counts in equal parts for those that made it together. Validation and what is fitted
    after a training are computed for each model alone.

    Returns:
        For each member its history, or the error by which it ended.

    Raises:
        ConfigError: members differ in what cannot be stacked, or one has a model that cannot; the message names what. Nothing
            has been trained then. All else as `fit`.
    """
    _require_members(members)
    varied = _require_alike([member.model for member in members])
    with contextlib.ExitStack() as stack:
        fittings = [stack.enter_context(_begun(member, stack)) for member in members]
        loader = shared_loader()
        for fitting in fittings:
            fitting.samples.loader = loader
        stack.enter_context(torch.random.fork_rng(devices=[torch.cuda.current_device()] if _on_cuda(members) else []))
        errors = _Rounds(fittings, varied).run()
        return [finished(fitting) if error is None else error for fitting, error in zip(fittings, errors, strict=True)]


class _Rounds:
    """Lets those trainings that are furthest behind make their next step at once, until all have come to their end."""

    def __init__(self, fittings: Sequence[StackedFitting], varied: Sequence[Varied]) -> None:
        self._fittings, self._varied = fittings, varied
        self._errors: list[TrainingError | None] = [None] * len(fittings)
        self._stack: Stack | None = None
        self._rows: list[int] = []
        self._tried: set[tuple[int, str]] = set()

    def run(self) -> list[TrainingError | None]:
        """Train all of them; the errors by which some ended."""
        with Interruptions() as interruptions, contextlib.ExitStack() as walks:
            for fitting in self._fittings:
                fitting.shared, fitting.saving = interruptions, False
                fitting.walked = None if fitting.complete() else walks.enter_context(contextlib.closing(fitting.walk()))
            try:
                waiting = {row: step for row in range(len(self._fittings)) if (step := self._next(row))}
                while waiting:
                    self._round(waiting)
                    interruptions.deliver()
            finally:
                self._close()
        return self._errors

    def _next(self, row: int) -> tuple[Steps, NumberedBatch] | None:
        """The next step of a training, with its batch; None after the last one."""
        fitting = self._fittings[row]
        if fitting.walked is None:
            return None
        with fitting.running():
            try:
                return next(fitting.walked)
            except TrainingError as error:  # of a validation
                self._errors[row] = error
            except StopIteration:
                pass
        fitting.walked = None
        return None

    def _round(self, waiting: dict[int, tuple[Steps, NumberedBatch]]) -> None:
        behind = min((self._fittings[row].state.stage, batch.number) for row, (_, batch) in waiting.items())
        first = [row for row, (_, batch) in waiting.items() if (self._fittings[row].state.stage, batch.number) == behind]
        masks = {row: waiting[row][1].batch.tensors().keys() for row in first}
        together = [row for row in first if masks[row] == masks[first[0]]]
        began = time.perf_counter()
        self._step(together, waiting)
        share = (time.perf_counter() - began) / len(together)
        due = any(self._fittings[row].due() for row in together)
        for row in together:
            self._fittings[row].spent += share
            self._fittings[row].saving = due
            del waiting[row]
        for row in together:
            if self._errors[row] is None and (step := self._next(row)):
                waiting[row] = step

    def _step(self, rows: list[int], waiting: Mapping[int, tuple[Steps, NumberedBatch]]) -> None:
        """Make a step of some trainings, which end by an error where it is not finite."""
        stack = self._of(rows, {row: waiting[row][0] for row in rows})
        batches = {row: waiting[row][1] for row in rows}
        new = {(row, waiting[row][0].stage.name) for row in rows} - self._tried
        if new and len(rows) > 1:
            require_same_as_alone(stack, [batches[row] for row in self._rows])
            self._tried |= new
        errors = stack.train([batches[row] for row in self._rows])
        if not any(errors):
            return
        kept = [place for place, error in enumerate(errors) if error is None]
        left, gradient = [self._rows[place] for place in kept], stack.left.kept(kept)
        for row, error in zip(self._rows, errors, strict=True):
            self._errors[row] = error
        self._close()
        for row in set(rows) - set(left):
            if walk := self._fittings[row].walked:
                walk.close()
        if left:
            stack = self._of(left, {row: waiting[row][0] for row in left})
            stack.apply(gradient, gradient.norms(), [batches[row] for row in self._rows])

    def _of(self, rows: list[int], steps: Mapping[int, Steps]) -> Stack:
        """The stack of some trainings, which lasts as long as the same ones make their steps of the same stage."""
        same = self._stack is not None and sorted(rows) == sorted(self._rows)
        if (
            self._stack is not None
            and same
            and all(a is steps[row] for a, row in zip(self._stack.steps, self._rows, strict=True))
        ):
            return self._stack
        self._close()
        self._rows = [rows[place] for place in Stack.order([steps[row] for row in rows])]
        chosen = [replace(item, values=tuple(item.values[row] for row in self._rows)) for item in self._varied]
        self._stack = Stack([steps[row] for row in self._rows], chosen)
        return self._stack

    def _close(self) -> None:
        if self._stack is not None:
            self._stack.close()
        self._stack, self._rows = None, []


@contextlib.contextmanager
def _begun(member: StackMember, stack: contextlib.ExitStack) -> Iterator[StackedFitting]:
    """The training of a member; one without a folder gets one that is removed in the end."""
    training, folder = member.training, member.folder
    if folder is None:
        training, folder = replace(training, tensorboard=False), stack.enter_context(tempfile.TemporaryDirectory())
    sources, others = (member.train, member.validation), member.others
    rest: dict[str, Any] = {"seed": member.seed, "progress": member.progress, "others": others, "kind": StackedFitting}
    with begun(member.model, sources, training, Path(folder), **rest) as fitting:
        yield fitting


def _require_members(members: Sequence[StackMember]) -> None:
    """Raise ConfigError if members cannot be trained at once for what is no setting of a model."""
    if not members:
        raise ConfigError("members: expected at least one training, got none")
    for member in members:
        refuse(instance_problems(nn.Module, model=member.model) + instance_problems(Source, train=member.train))
    first = members[0]
    folders = [Path(member.folder).resolve() for member in members if member.folder is not None]
    problems = []
    if len({id(member.model) for member in members}) < len(members):
        problems.append("model: expected one of its own for each training, got the same twice")
    if len(set(folders)) < len(folders):
        problems.append("folder: expected one of its own for each training, got the same twice")
    for name in (item.name for item in fields(Training) if item.name not in FREE):
        values = dict.fromkeys(repr(getattr(member.training, name)) for member in members)
        if len(values) > 1:
            problems.append(f"{name}: expected the same in trainings that are computed at once, got {' and '.join(values)}")
    sizes = dict.fromkeys(len(member.train) for member in members)
    if len(sizes) > 1:
        problems.append(f"train: expected as many samples in each training, got {' and '.join(map(str, sizes))}")
    if any(member.train.spec != first.train.spec for member in members):
        problems.append("train: expected samples of the same modalities, factors and targets, got others")
    if isinstance(first.model, EpochStart):
        kind = type(first.model).__name__
        problems.append(f"model: expected one that does nothing of its own between epochs, got {kind}, which has `start_epoch`")
    refuse(problems)


def _require_alike(models: Sequence[nn.Module]) -> list[Varied]:
    """The numbers in which models differ; raises ConfigError if they differ in something else."""
    varied, problems = differences(models)
    refuse(f"stacking: {problem}" for problem in problems)
    return varied


def _on_cuda(members: Sequence[StackMember]) -> bool:
    return choose_device(members[0].training) == "cuda"
