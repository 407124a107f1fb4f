"""The records of a study under way, written anew after every run, and what its trainings cost, in a file beside them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from molyneux.core import ConflictError, History, store
from molyneux.report import StudyRun, flatten, load_study, portable, save_study, study_run
from molyneux.run.experiment import Experiment
from molyneux.run.folder import record_machine, remedy
from molyneux.run.provenance import INPUTS, inputs
from molyneux.run.pruning import PrunedRun

_RECORDS, _COSTS = "records.jsonl", "costs.jsonl"

RENAMED_CLASSES: Mapping[str, str] = {
    "molyneux.learn.objectives.Adversarial": "molyneux.learn.objectives.FactorVAE",
    "molyneux.learn.objectives.Capacity": "molyneux.learn.objectives.CCI",
    "molyneux.learn.objectives.CovarianceMatch": "molyneux.learn.objectives.DIP",
    "molyneux.learn.objectives.Divergence": "molyneux.learn.objectives.BetaVAE",
    "molyneux.learn.objectives.SparseMatch": "molyneux.learn.objectives.MAT",
    "molyneux.learn.objectives.TotalCorrelation": "molyneux.learn.objectives.BetaTCVAE",
}
"""Class paths in the settings of earlier versions, and what they are called now."""

RENAMED_SETTINGS: Mapping[str, str] = {}
"""Dotted paths of settings of earlier versions, and where they are now; what lies below a path moves with it."""

ADDED_SETTINGS: Mapping[str, Any] = {
    "data.apart": None,
    "data.arrays": None,
    "data.benchmark": None,
    "data.missing_by": {},
    "data.missing_validation": None,
    "data.missing_where": {},
    "data.stages": {},
    "data.table": None,
    "learn.checkpoint_seconds": 60.0,
    "learn.memory": "auto",
    "learn.mlflow": False,
    "learn.prefetch": 2,
    "learn.stages": [],
    "learn.wandb": False,
    "measure.conditions": [],
    "measure.features": {},
}
"""Dotted paths of settings that earlier versions did not have, with the value that gives what those versions did."""

ADDED_TO_CONDITIONS: Mapping[str, Any] = {"by": {}, "where": {}}
"""Settings of a condition that earlier versions did not have, with the value that gives what those versions did."""

REMOVED_SETTINGS: frozenset[str] = frozenset()
"""Dotted paths of settings of earlier versions that changed no number and are gone."""


def _coherence(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`subsets` is called `directions`; of two modalities, `all` of them are those of the present default."""
    others = {name: value for name, value in arguments.items() if name != "subsets"}
    given = {"single": "singles", "all": "leave-one-out"}
    return {**others, "directions": given.get(arguments["subsets"], arguments["subsets"])} if "subsets" in arguments else others


ADDED_ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    **{f"molyneux.learn.{name}": {"objective": None} for name in ("MMVAE", "MVAE", "MoPoE")},
    "molyneux.learn.DMVAE": {"objective": None, "private_prior": None},
    "molyneux.learn.MLD": {"after": None, "alone_share": 0.0, "prior": None, "rate": 0.0, "redrawn": []},
    "molyneux.learn.FusionPredictor": {"imputation": None, "modality_dropout": 0.0, "target_weight": 1.0, "unsupervised": []},
    "molyneux.learn.fusion.Concatenation": {"layers": []},
    "molyneux.learn.nets.WhatWhere": {"ground": "grey", "salience": "saturation"},
    "molyneux.learn.objectives.IWAE": {"chunk": 8},
    "molyneux.data.ShapeWorld": {"captions": 1, "pictures": 1, "vocabulary": "own"},
}
"""Arguments that earlier versions did not have, by class, with the value that gives what those versions did."""


CHANGED_ARGUMENTS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "molyneux.measure.Breakdown": lambda arguments: {"crossed": [], **arguments},
    "molyneux.measure.Coherence": _coherence,
    "molyneux.measure.Downstream": lambda arguments: {
        "labels" if name == "factors" else name: arguments[name] for name in arguments
    },
    "molyneux.measure.LatentProbe": lambda arguments: {"classifiers": ["linear"], "joint": False, "permutations": 0, **arguments},
    "molyneux.measure.Likelihood": lambda arguments: {
        "conditionals": "predictive",
        "diagnostics": False,
        "marginals": "singles",
        **arguments,
    },
    "molyneux.measure.Galleries": lambda arguments: {"directions": "singles", **arguments},
    "molyneux.measure.Samplers": lambda arguments: {"cross": False, **arguments},
    "molyneux.measure.Projection": lambda arguments: {"neighbours": 0, **arguments},
    "molyneux.measure.Traversals": lambda arguments: {"scored_samples": 0, **arguments},
}
"""Classes in lists of settings, such as measures, with what makes the arguments of an earlier version those of this one."""


class Records:
    """What is known of the runs of a study, in a file that travels without the runs' folders. No record is ever dropped.

    A record stands for an experiment if its settings are the same, whatever the run is called, and so are the versions of the
    package and the world and the content of the files that the experiment names. Settings of earlier versions are read as
    what they are called now (`current_settings`). `held` opens the records of a folder.

    `costs.jsonl` has the steps and seconds of each training (validation and fits after it included, measures not) and where it
    ran: times differ from run to run, records do not.

    Args:
        path: `records.jsonl`; what is there counts, so a study goes on from its records where its runs are gone.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._costs_path = path, path.with_name(_COSTS)
        self._lock = threading.Lock()
        self._runs = {_key(_identity_of(run)): run for run in load_study(path)} if store.is_file(path) else {}
        costs = store.read_lines(self._costs_path) if store.is_file(self._costs_path) else []
        self._costs = {str(row["run"]): dict(row) for row in costs}

    @classmethod
    @contextmanager
    def held(cls, folder: Path) -> Iterator[Records]:
        """The records in a folder, held against other sweeps as long as the context lasts.

        Raises:
            ConflictError: another process writes records there. StoreError: the folder cannot be written.
        """
        with store.locked(folder, "--results"):
            yield cls(folder / _RECORDS)

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
        """Add the finished run of an experiment and the cost of its training, and write all records and costs.

        Raises:
            ConflictError: it was made by another version of the package or from files that have changed.
        """
        record_machine(folder)
        run, wanted = study_run(folder), _identity(experiment)
        if _key(_identity_of(run)) != _key(wanted):
            shown = store.differences(_identity_of(run), wanted)
            raise ConflictError(
                f"{folder} was not made as it would be now ({shown}): move it away, and the study runs it again, "
                f"or use the version of the package and the files it was made with"
            )
        cost = _cost(folder, experiment)
        with self._lock:
            self._runs[_key(wanted)] = replace(run, cost=cost)
            save_study(self.path, list(self._runs.values()))
            if cost:
                self._write_cost(folder.name, cost)

    def add_pruned(self, folder: Path, experiment: Experiment, pruned: PrunedRun) -> None:
        """Add what a run cost that was stopped; it has no scores, and so no record."""
        name = experiment.resolved.get("name", "")
        with self._lock:
            self._write_cost(folder.name, {"run": folder.name, "name": name, **pruned.cost, "pruned": pruned.epoch})

    def write_trials(self, rows: Sequence[dict[str, Any]]) -> None:
        """Write every trial of a search, also those that were stopped or failed, into `trials.jsonl` beside the records."""
        with self._lock:
            store.write_lines(self.path.with_name("trials.jsonl"), list(rows))

    def _write_cost(self, name: str, cost: Mapping[str, Any]) -> None:
        self._costs[name] = dict(cost)
        store.write_lines(self._costs_path, [self._costs[known] for known in sorted(self._costs)])

    def of(self, experiments: Sequence[Experiment]) -> list[StudyRun]:
        """The records of these experiments."""
        keys = dict.fromkeys(_key(_identity(experiment)) for experiment in experiments)
        return [self._runs[key] for key in keys if key in self._runs]


def current_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Flat settings of a record, which may be of an earlier version, under the names of this version.

    >>> old = {"learn.model.init_args.objective.class_path": "molyneux.learn.objectives.Capacity"}
    >>> current_settings(old)["learn.model.init_args.objective.class_path"]
    'molyneux.learn.objectives.CCI'
    """
    moved = {_moved(path): _renamed(value) for path, value in settings.items() if path not in REMOVED_SETTINGS}
    if "measure.conditions" in moved:
        moved["measure.conditions"] = [{**ADDED_TO_CONDITIONS, **condition} for condition in moved["measure.conditions"]]
    added = dict(ADDED_SETTINGS)
    for path, kind in [*moved.items()]:
        if path.endswith(".class_path") and (arguments := ADDED_ARGUMENTS.get(str(kind))):
            at = path.removesuffix("class_path") + "init_args"
            added |= {f"{at}.{name}": value for name, value in arguments.items()}
            if not moved.get(at, True):  # it had no arguments
                del moved[at]
    return {**{path: value for path, value in added.items() if path not in moved}, **moved}


def _moved(path: str) -> str:
    for old, new in RENAMED_SETTINGS.items():
        if path == old or path.startswith(f"{old}."):
            return new + path.removeprefix(old)
    return path


def _renamed(value: Any) -> Any:
    """A value with renamed classes under their names of today, however deep they stand in it."""
    if isinstance(value, str):
        return RENAMED_CLASSES.get(value, value)
    if isinstance(value, Mapping):
        current = {name: _renamed(item) for name, item in value.items()}
        change = CHANGED_ARGUMENTS.get(str(current.get("class_path")))
        return current if change is None else {**current, "init_args": change(current.get("init_args", {}))}
    return [_renamed(item) for item in value] if isinstance(value, list | tuple) else value


def _cost(folder: Path, experiment: Experiment) -> dict[str, Any]:
    """What the training of a finished run cost, and on which machine; empty for a run without a training."""
    history = folder / "model" / "history.csv"
    if not store.is_file(history):
        return {}
    details = store.verify(folder / "model", [history.name], remedy=remedy(history.parent))
    last, machine = History.read_csv(history).rows[-1], details["machine"]
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
    named = {name: value for name, value in current_settings(settings).items() if name != "name"}
    return dict(portable({**named, "origin": {name: origin.get(name) for name in INPUTS}}))


def _key(identity: Mapping[str, Any]) -> str:
    return store.fingerprint(identity)
