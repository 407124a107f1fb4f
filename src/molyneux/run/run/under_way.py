"""A run under way: its folder, its samples, and which of its steps are complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from molyneux.core import Source, StoreError, store
from molyneux.core.workers import Workers
from molyneux.data import Split, StoredSource
from molyneux.learn import FitProgress
from molyneux.learn.training.processes import Processes
from molyneux.run.run.experiment import Experiment
from molyneux.run.run.folder import RunFolder
from molyneux.run.run.report import StepProgress
from molyneux.run.run.stored import remedy

Step = Literal["data", "learn", "measure", "report"]
"""The steps of a run, in order."""


class RunProgress(StepProgress, FitProgress, Protocol):
    """Receives the progress of a run. Calls may be frequent and must be cheap."""


@dataclass(frozen=True)
class Run:
    """A run under way."""

    folder: RunFolder
    progress: RunProgress
    workers: Workers | None = None
    processes: Processes = 1

    @property
    def experiment(self) -> Experiment:
        """What is run."""
        return self.folder.experiment

    def whole(self, split: Split) -> Source:
        """The samples of a split with all their modalities, the kept ones where they are kept; stored files are checked."""
        kept, stored = self.folder.samples.folder / split, self.experiment.data.stored
        if stored is not None and store.is_file(stored / split / "stage.json"):
            store.verify(stored / split, remedy=f"restore it from a copy, or store the samples of {stored} anew")
        if not kept.is_dir():
            return self.experiment.samples.whole(split)
        store.verify(kept, remedy=remedy(self.folder.samples.folder))
        return StoredSource(kept, verify=False)

    def source(self, split: Split) -> Source:
        """The samples of a split as the model gets them; errors as `whole`."""
        return self.experiment.samples.prepared(self.whole(split), split)

    def done(self, stage: store.StageFolder, step: Step, *, again: bool = False) -> bool:
        """Whether a stage is complete; then its files are checked. Other settings are refused unless it can be made `again`."""
        if not (stage.current if again else stage.complete):
            return False
        self.progress.begin(step, "done before: checking its files")
        stage.verify()
        return True


def require(stage: store.StageFolder, step: Step, before: Step) -> None:
    """Check the files of the step before; StoreError where it is not complete."""
    if not stage.complete:
        run = stage.folder.parent
        raise StoreError(f"expected {stage.folder} to be complete before step {step}: run molyneux {before} {run} first")
    stage.verify()
