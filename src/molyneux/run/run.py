"""An experiment is run: data, learn, measure, report, skipping what is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from molyneux.core import ConfigError, Score, nearest
from molyneux.run.experiment import Experiment
from molyneux.run.folder import held
from molyneux.run.progress import RunProgress, Silent
from molyneux.run.steps import STEPS, Step, Work, read_scores


@dataclass(frozen=True)
class Outcome:
    """What a run left behind.

    Args:
        folder: where everything is.
        scores: what was measured; empty before it is.
        pages: the files of the report.
    """

    folder: Path
    scores: tuple[Score, ...]
    pages: tuple[Path, ...]


def run_experiment(
    experiment: Experiment, folder: Path, *, steps: Sequence[Step] = tuple(STEPS), progress: RunProgress | None = None
) -> Outcome:
    """Run an experiment, or go on where an earlier call with the same folder stopped.

    A call after a crash, a kill or Ctrl-C goes on; what is complete is checked against its checksums and not done again.

    Args:
        experiment: what to run.
        folder: belongs to this experiment, or to one with the same samples and training; what that one measured is made again.
        steps: which of `data`, `learn`, `measure` and `report`; they are done in this order.
        progress: is told how it goes.

    Raises:
        ConfigError: unknown steps.
        ConflictError: the folder was made by other settings of samples or training, holds something else or is in use.
        CorruptFileError: a file of the run was truncated or altered.
        StoreError: the folder cannot be written, or a step is asked for whose samples, model or scores are not there.
        DataError, TrainingError: samples or losses hold NaN.
    """
    unknown = [f"unknown step {step!r}; {nearest(str(step), STEPS)}" for step in steps if step not in STEPS]
    if unknown:
        raise ConfigError(unknown)
    with held(folder, experiment) as ours:
        work = Work(ours, progress or Silent())
        for name, do in STEPS.items():
            if name in steps:
                do(work)
        scores = tuple(read_scores(folder)) if ours.measure.current else ()
        pages = tuple(sorted(ours.report.folder.glob("report.*"))) if ours.report.current else ()
    return Outcome(folder, scores, pages)
