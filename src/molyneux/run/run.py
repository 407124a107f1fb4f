"""An experiment is run: data, learn, measure, report, skipping what is there; and its model is taken up again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from molyneux.core import ConfigError, Score, StoreError, nearest
from molyneux.measure import Evaluation
from molyneux.run.experiment import Experiment
from molyneux.run.folder import RunFolder, held, open_experiment
from molyneux.run.progress import RunProgress, Silent
from molyneux.run.steps import STEPS, Step, Work, evaluation, read_scores


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


def open_evaluation(folder: Path) -> Evaluation:
    """What the measures of a run are given: its trained model, in evaluation mode, the samples and who reads them.

    `evaluate([...], open_evaluation(folder))` measures the model with anything; `.model.encode(batch)` gives its codes of the
    batches of `.source`. The files of the model are checked against their checksums; the folder is only read.

    Args:
        folder: of a run whose model is trained.

    Raises:
        StoreError: it is no folder of a run, or its model is not trained yet. ConfigError: its settings are no longer valid.
        CorruptFileError: a file of the model was truncated or altered.
    """
    experiment = open_experiment(folder)
    work = Work(RunFolder(folder, experiment), Silent())
    if not work.folder.model.complete:
        raise StoreError(f"expected a trained model in {folder}, got none: run molyneux learn {folder} first")
    work.folder.model.verify()
    found = evaluation(work)
    found.model.eval()
    return found
