"""The records of a study under way: written anew after every run, so that a study that is stopped loses none."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from molyneux.core import ConflictError, store
from molyneux.report import StudyRun, flatten, load_study, portable, save_study, study_run
from molyneux.run import costs
from molyneux.run.experiment import Experiment
from molyneux.run.provenance import NAMES, provenance


class Records:
    """What is known of the runs of a study, in a file that travels without the runs' folders. No record is ever dropped.

    A record stands for an experiment if its settings are the same, whatever the run is called, and so are the versions of the
    package and the world and the content of the files that the experiment names.

    Args:
        path: `records.jsonl`; what is there counts, so a study goes on from its records where its runs are gone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._costs = costs.Costs(path.with_name(costs.FILE))
        self._runs = {_key(_identity_of(run)): run for run in load_study(path)} if store.is_file(path) else {}

    def __contains__(self, experiment: Experiment) -> bool:
        return _key(_identity(experiment)) in self._runs

    def require_all_of(self, experiments: Sequence[Experiment]) -> None:
        """Refuse records of any other run: their page would not be the study's.

        Raises:
            ConflictError: with how many there are and how one of them differs.
        """
        wanted = {_key(identity): identity for identity in map(_identity, experiments)}
        foreign = [_identity_of(run) for key, run in self._runs.items() if key not in wanted]
        if foreign:
            shown = min((store.differences(foreign[0], identity) for identity in wanted.values()), key=len)
            raise ConflictError(
                f"{self.path} holds {len(foreign)} records of runs that are no part of this study ({shown}): "
                f"choose another folder with --results, or move the file away"
            )

    def add(self, folder: Path, experiment: Experiment) -> None:
        """Take in the finished run of an experiment and what its training cost, and write all records and costs.

        Raises:
            ConflictError: it was made by another version of the package or from files that have changed.
        """
        run, wanted = study_run(folder), _identity(experiment)
        if _key(_identity_of(run)) != _key(wanted):
            shown = store.differences(_identity_of(run), wanted)
            raise ConflictError(f"{folder} was not made as it would be now ({shown}): delete it, and the study runs it again")
        with self._lock:
            self._runs[_key(wanted)] = run
            save_study(self.path, list(self._runs.values()))
            self._costs.add(folder, experiment)

    def of(self, experiments: Sequence[Experiment]) -> list[StudyRun]:
        """The records of these experiments."""
        keys = dict.fromkeys(_key(_identity(experiment)) for experiment in experiments)
        return [self._runs[key] for key in keys if key in self._runs]


def _identity(experiment: Experiment) -> dict[str, Any]:
    """What the record of an experiment must hold."""
    return _told_apart_by(flatten(experiment.resolved), provenance(experiment))


def _identity_of(run: StudyRun) -> dict[str, Any]:
    """What a record holds."""
    return _told_apart_by(run.settings, run.scores[0].origin if run.scores else {})


def _told_apart_by(settings: Mapping[str, Any], origin: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: value for name, value in settings.items() if name != "name"}
    return dict(portable({**named, "origin": {name: origin.get(name) for name in NAMES}}))


def _key(identity: Mapping[str, Any]) -> str:
    return store.fingerprint(identity)
