"""Trainings of a study that are computed at once, in this process, before its runs are measured one by one."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from molyneux.core import ConfigError, MolyneuxError, store
from molyneux.learn import Training
from molyneux.learn.training.stacking.stacked_trainings import FREE
from molyneux.run.run.experiment import Experiment
from molyneux.run.run.folder import RunFolder, held
from molyneux.run.run.learning import learn_stacked
from molyneux.run.run.steps import make_samples
from molyneux.run.run.stored import has_run
from molyneux.run.run.under_way import Run
from molyneux.run.studies.launch import SweepProgress
from molyneux.run.studies.study import run_name


def train_stacked(experiments: Sequence[Experiment], folder: Path, size: int, progress: SweepProgress) -> list[str]:
    """Make the samples of runs and train their models, at most `size` at once; runs whose model is trained are left as they are.

    Runs are put together whose models differ in numbers with a fraction, such as `beta`, and whose trainings differ in what
    `learn.fit_stacked` allows; where it refuses such numbers, runs whose models have the same settings. Those of which none other
    is like them, or that cannot be stacked, are left to be trained alone, as is one whose loss is not finite: it fails again
    there, as it does without stacking.

    Args:
        experiments: the runs that are to be done.
        folder: their folders are below it.
        size: how many trainings at once.
        progress: receives the progress.

    Returns:
        Why trainings are not computed at once, a sentence for each reason.
    """
    groups = dict[str, list[Experiment]]()
    for name, experiment in {run_name(experiment): experiment for experiment in experiments}.items():
        place = folder / name
        if not (has_run(place) and RunFolder(place, experiment).model.complete):
            groups.setdefault(_alike(experiment), []).append(experiment)
    told = list[str]()
    for group in groups.values():
        for first in range(0, len(group), size):
            told += _train(group[first : first + size], folder, progress)
    return list(dict.fromkeys(told))


def _train(experiments: Sequence[Experiment], folder: Path, progress: SweepProgress) -> list[str]:
    """Train some runs at once; those that cannot be, as far as their models have the same settings. Why they could not."""
    if len(experiments) < 2:
        return []
    try:
        _train_together(experiments, folder, progress)
    except ConfigError as error:
        parts = dict[str, list[Experiment]]()
        for experiment in experiments:
            parts.setdefault(store.fingerprint(experiment.resolved["learn"]["model"]), []).append(experiment)
        again = parts.values() if len(parts) > 1 else ()
        return [*error.problems, *(problem for part in again for problem in _train(part, folder, progress))]
    return []


def _train_together(experiments: Sequence[Experiment], folder: Path, progress: SweepProgress) -> None:
    """Samples and trainings of some runs, whose folders are held meanwhile; a run whose samples cannot be made is left out."""
    with contextlib.ExitStack() as stack:
        runs = list[Run]()
        for experiment in experiments:
            name = run_name(experiment)
            with contextlib.suppress(MolyneuxError):  # which the run alone will say
                run = Run(stack.enter_context(held(folder / name, experiment)), _Told(name, progress))
                make_samples(run)
                runs.append(run)
        learn_stacked(runs)


def _alike(experiment: Experiment) -> str:
    """The same for runs whose trainings may be computed at once, as far as their settings tell it."""
    learn, training = dict(experiment.resolved["learn"]), experiment.learn.training
    fixed = {item.name: repr(getattr(training, item.name)) for item in fields(Training) if item.name not in FREE}
    kept = {name: value for name, value in learn.items() if name not in FREE and name not in fixed}
    return store.fingerprint(
        {"data": _without_fractions(experiment.resolved["data"]), "learn": _without_fractions(kept), **fixed}
    )


def _without_fractions(value: Any) -> Any:
    """Settings with a word in place of each number with a fraction."""
    if isinstance(value, Mapping):
        return {name: _without_fractions(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_fractions(item) for item in value]
    return "a number" if isinstance(value, float) else value


class _Told:
    """The progress of a run as that of a study takes it."""

    def __init__(self, name: str, progress: SweepProgress) -> None:
        self._name, self._progress, self._step = name, progress, ""

    def begin(self, step: str, note: str) -> None:
        """A step begins."""
        self._step = step
        self._progress.run(self._name, step, 0, 0)

    def advance(self, done: int, total: int, note: str = "") -> None:
        """So much is done."""
        self._progress.run(self._name, self._step, done, total)

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """After a step of training."""
        self.advance(done, total)

    def epoch(self, row: Mapping[str, Any]) -> None:
        """After an epoch of training."""

    def note(self, text: str) -> None:
        """What the user of a training should know; it is in the record of the run."""
