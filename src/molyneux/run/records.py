"""The records of a study under way: written anew after every run, so that a study that is stopped loses none."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from molyneux.core import store
from molyneux.report import StudyRun, flatten, load_study, save_study, study_run
from molyneux.run.experiment import Experiment


class Records:
    """What is known of the runs of a study, by their settings, in a file that travels without the runs' folders.

    Args:
        path: `records.jsonl`; what is there counts, so a study goes on from its records where its runs are gone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._runs = {_key(run.settings): run for run in load_study(path)} if path.exists() else {}

    def __contains__(self, experiment: Experiment) -> bool:
        return _key(flatten(experiment.resolved)) in self._runs

    def add(self, folder: Path) -> None:
        """Take in a finished run, and write all records."""
        run = study_run(folder)
        with self._lock:
            self._runs[_key(run.settings)] = run
            save_study(self.path, list(self._runs.values()))

    def keep(self, experiments: Sequence[Experiment]) -> list[StudyRun]:
        """Drop the records of all other experiments, write what is left, and return it."""
        wanted = {_key(flatten(experiment.resolved)) for experiment in experiments}
        with self._lock:
            self._runs = {key: run for key, run in self._runs.items() if key in wanted}
            if self._runs:
                save_study(self.path, list(self._runs.values()))
            return list(self._runs.values())


def _key(settings: Mapping[str, Any]) -> str:
    """The same for the same settings, whatever the run is called."""
    return store.fingerprint({name: value for name, value in settings.items() if name != "name"})
