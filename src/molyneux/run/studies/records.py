"""The records of a study under way, to which every run is added, and what its trainings cost, in a file beside them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from molyneux.core import ConflictError, History, store
from molyneux.core.json_lines import append_lines, finished_lines
from molyneux.core.tooling.documents import differences, dump_sections, places
from molyneux.report import StudyRun, flatten, portable, save_records, study_run
from molyneux.report.records import RecordsFile, with_costs
from molyneux.run.run.experiment import Experiment
from molyneux.run.run.provenance import INPUTS, inputs
from molyneux.run.run.stored import record_machine, remedy, with_checksum
from molyneux.run.studies.pruning import PrunedRun

_RECORDS, _COSTS = "records.jsonl", "costs.jsonl"


class Records:
    """What is known of the runs of a study, in a file that travels without the runs' folders. No record is ever dropped.

    A record stands for an experiment if its settings are the same, whatever the run is called, and so are the versions of the
    package and the world and the content of the files that the experiment names. A run that is added appends lines to the file;
    all of it is written anew only where a run was measured again with other scores. `held` opens the records of a folder.

    `costs.jsonl` has the steps and seconds of each training (validation and fits after it included, measures not) and where it
    ran: times differ from run to run, records do not.

    Args:
        path: `records.jsonl`; what is there counts, so a study goes on from its records where its runs are gone.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._costs_path = path, path.with_name(_COSTS)
        self._lock = threading.Lock()
        self._file = RecordsFile(path)
        costs = finished_lines(self._costs_path)
        self._costs = {str(row["run"]): dict(row) for row in costs}
        self._runs = {_key_of(run): run for run in with_costs(self._file.runs, costs)}
        self._first_cost = True
        self._digests: dict[int, tuple[Experiment, str]] = {}
        self._sections: dict[tuple[str, str], str] = {}

    @classmethod
    @contextmanager
    def held(cls, folder: Path) -> Iterator[Records]:
        """The records in a folder, held against other sweeps as long as the context lasts.

        Raises:
            ConflictError: another process writes records there. StoreError: the folder cannot be written.
        """
        with store.locked(folder, "--results"):
            records = cls(folder / _RECORDS)
            try:
                yield records
            finally:
                records.sort_costs()

    def __contains__(self, experiment: Experiment) -> bool:
        return self._key(experiment) in self._runs

    def require_all_of(self, experiments: Sequence[Experiment]) -> None:
        """Refuse records of any other run: their page would not be the study's.

        Raises:
            ConflictError: with how many there are and how one of them differs.
        """
        wanted = set(self._keys(experiments))
        foreign = [_identity_of(run) for key, run in self._runs.items() if key not in wanted]
        if foreign:
            nearest = min(map(_identity, experiments), key=lambda identity: len(places(foreign[0], identity)))
            shown = differences(foreign[0], nearest)
            raise ConflictError(
                f"{self.path} holds {len(foreign)} records of runs that are no part of this study ({shown}): "
                f"choose another folder with --results, or move the file away"
            )

    def take_in(self, folders: Sequence[Path], experiments: Sequence[Experiment]) -> int:
        """Add the records of these experiments, and what they cost, from folders of records of parts of the study.

        Returns:
            How many there are that were not known.
        """
        parts, found = [Records(folder / _RECORDS) for folder in folders if store.is_file(folder / _RECORDS)], 0
        wanted = set(self._keys(experiments if parts else ()))
        for part in parts:
            new = [key for key in part._runs if key in wanted and key not in self._runs]
            with self._lock:
                for key in new:
                    self._runs[key] = part._runs[key]
                    self._file.add(part._runs[key])
                for name in sorted(part._costs.keys() - self._costs.keys()) if new else ():
                    self._write_cost(name, part._costs[name])
            found += len(new)
        return found

    def add(self, folder: Path, experiment: Experiment) -> None:
        """Add the finished run of an experiment and the cost of its training, and write all records and costs.

        Raises:
            ConflictError: it was made by another version of the package or from files that have changed.
        """
        record_machine(folder)
        text = with_checksum(self.settings_text(experiment.resolved))
        run, key = study_run(folder, {text: experiment.resolved}), self._key(experiment)
        if _key_of(run) != key:
            shown = differences(_identity_of(run), _identity(experiment))
            raise ConflictError(
                f"{folder} was not made as it would be now ({shown}): move it away, and the study runs it again, "
                f"or use the version of the package and the files it was made with"
            )
        cost = _cost(folder, experiment)
        with self._lock:
            before = self._runs.get(key)
            self._runs[key] = replace(run, cost=cost)
            if before is None:
                self._file.add(run)
            elif _content(before) != _content(run):
                save_records(self.path, list(self._runs.values()))
                self._file = RecordsFile(self.path)
            if cost:
                self._write_cost(folder.name, cost)

    def settings_text(self, settings: Mapping[str, Any]) -> str:
        """Resolved settings as a file; what other runs have too is written once."""
        return dump_sections(settings, self._sections)

    def add_pruned(self, folder: Path, experiment: Experiment, pruned: PrunedRun) -> None:
        """Add what a run cost that was stopped; it has no scores, and so no record."""
        name = experiment.resolved.get("name", "")
        with self._lock:
            self._write_cost(folder.name, {"run": folder.name, "name": name, **pruned.cost, "pruned": pruned.epoch})

    def sort_costs(self) -> None:
        """Write the costs in the order of the names of runs, one line each: the same runs in any order give the same file."""
        with self._lock:
            if not self._first_cost:
                store.write_lines(self._costs_path, [self._costs[known] for known in sorted(self._costs)])

    def _write_cost(self, name: str, cost: Mapping[str, Any]) -> None:
        if self._costs.get(name) != cost:
            self._costs[name] = dict(cost)
            line = json.dumps(cost, sort_keys=True, ensure_ascii=False, allow_nan=False)
            append_lines(self._costs_path, [line], first=self._first_cost, sync=False)  # `sort_costs` does it for all
            self._first_cost = False

    def of(self, experiments: Sequence[Experiment]) -> list[StudyRun]:
        """The records of these experiments."""
        keys = dict.fromkeys(self._keys(experiments))
        return [self._runs[key] for key in keys if key in self._runs]

    def _key(self, experiment: Experiment) -> str:
        """As `_key_of` the run of an experiment."""
        return self._keys([experiment])[0]

    def _keys(self, experiments: Sequence[Experiment]) -> list[str]:
        """The keys of many; the data and judges that they share are looked at once.

        Settings do not change, so that their part of a key is made once for all calls.
        """
        looked: dict[tuple[int, int], str] = {}
        for experiment in experiments:
            if id(experiment) not in self._digests:
                self._digests[id(experiment)] = experiment, _settings_digest(portable(flatten(experiment.resolved)))
            if (shared := (id(experiment.data), id(experiment.measure))) not in looked:
                looked[shared] = _inputs_digest(portable(inputs(experiment)))
        return [f"{self._digests[id(each)][1]} {looked[id(each.data), id(each.measure)]}" for each in experiments]


def _cost(folder: Path, experiment: Experiment) -> dict[str, Any]:
    """What the training of a finished run cost, and on which machine; empty for a run without a training."""
    history = folder / "model" / "history.csv"
    if not store.is_file(history):
        return {}
    details = store.verify(folder / "model", [history.name], remedy=remedy(history.parent))
    rows, machine = History.read_csv(history).rows, details["machine"]
    last = rows[-1] if rows else {"step": 0, "seconds": details.get("fit_seconds", 0.0)}
    return {
        "run": folder.name,
        "name": experiment.resolved.get("name", ""),
        "steps": int(last["step"]),
        "seconds": round(last["seconds"], 3),
        "threads": experiment.learn.training.threads or machine["threads"],
        **{what: machine[what] for what in ("processor", "cores", "gpu")},
    }


def _identity(experiment: Experiment) -> dict[str, Any]:
    """What the record of an experiment must hold."""
    return _identity_from(flatten(experiment.resolved), inputs(experiment))


def _identity_of(run: StudyRun) -> dict[str, Any]:
    """What a record holds."""
    return _identity_from(run.settings, run.scores[0].origin if run.scores else {})


def _identity_from(settings: Mapping[str, Any], origin: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: value for name, value in settings.items() if name != "name"}
    return dict(portable({**named, "origin": {name: origin.get(name) for name in INPUTS}}))


def _key_of(run: StudyRun) -> str:
    """What tells apart the runs that a record stands for: digests of settings and of what else the numbers depend on."""
    origin = run.scores[0].origin if run.scores else {}
    return f"{_settings_digest(run.settings)} {_inputs_digest(origin)}"


def _settings_digest(settings: Mapping[str, Any]) -> str:
    return store.fingerprint({name: value for name, value in settings.items() if name != "name"})


def _inputs_digest(origin: Mapping[str, Any]) -> str:
    return store.fingerprint({name: origin.get(name) for name in INPUTS})


def _content(run: StudyRun) -> str:
    return store.fingerprint([dict(run.settings), [score.to_json() for score in run.scores]])
