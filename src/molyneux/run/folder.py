"""The folder of a run: whose it is, and its four stages.

    config.yaml      the resolved settings
    machine.json     where it ran, and with which versions
    samples/         spec.json, recipe.json, contact_sheet.png, and the samples themselves if they are kept
    model/           config.yaml, spec.json, weights.safetensors, history.csv, checkpoints
    measure/         scores.jsonl, exhibits
    report/          report.md, report.html

Each stage is a `core.store.Stage` whose settings hold the key of the stage before it, so a change anywhere shows in all that
follows. Other samples or another training need another folder; with other measures or another report, these are made again.
The key of `measure` holds the judges' digests too: with another judge, measures are made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from molyneux.core import ConflictError, StoreError, store
from molyneux.core.config import dump_document, read_document
from molyneux.run.experiment import Experiment, parse_experiment
from molyneux.run.machine import machine
from molyneux.run.readers import judge_digests

_CONFIG, _MACHINE = "config.yaml", "machine.json"


class RunFolder:
    """The folder of one experiment, which holds the settings of this experiment and no other."""

    def __init__(self, path: Path, experiment: Experiment) -> None:
        self.path, self.experiment = path, experiment
        resolved, world = experiment.resolved, experiment.data.dataset
        self.samples = self._stage(
            "samples", seed=experiment.seed, data=resolved["data"], version=None if world is None else world.name
        )
        self.model = self._stage("model", seed=experiment.seed, learn=resolved["learn"], samples=self.samples.key)
        judges = judge_digests(world, experiment.measure.judges)
        self.measure = self._stage("measure", measure=resolved["measure"], model=self.model.key, judges=judges)
        self.report = self._stage("report", report=resolved["report"], measure=self.measure.key)

    def _stage(self, name: str, **settings: Any) -> store.Stage:
        return store.Stage(self.path / name, settings)


@contextmanager
def held(path: Path, experiment: Experiment) -> Iterator[RunFolder]:
    """Hold the folder of a run against other processes, and make it this experiment's if it is nobody's.

    A folder of the same samples and the same training, whose measures or report are others, becomes this experiment's too.

    Raises:
        ConflictError: it was made by other settings of samples or training, holds something else, or is in use.
        StoreError: it cannot be written.
    """
    _require_ours(path, experiment)
    with store.locked(path):
        _require_ours(path, experiment)
        for part in path.rglob(".*.part"):
            part.unlink(missing_ok=True) if part.is_file() else None
        if _stored_identity(path) != experiment.identity:
            store.write_text(path / _CONFIG, dump_document(experiment.resolved))
        if not store.is_file(path / _MACHINE):
            store.write_json(path / _MACHINE, machine())
        yield RunFolder(path, experiment)


def is_complete(path: Path, experiment: Experiment) -> bool:
    """Whether every step of the experiment is done in this folder; files are not checked.

    Raises:
        ConflictError: its samples or its model were made by another configuration.
    """
    folder = RunFolder(path, experiment)
    kept = folder.samples.complete and folder.model.complete
    return kept and folder.measure.current and folder.report.current


def open_experiment(path: Path) -> Experiment:
    """The experiment whose folder this is.

    Raises:
        StoreError: it is no folder of a run. ConfigError: its settings are no longer valid.
    """
    if not store.is_file(path / _CONFIG):
        raise StoreError(f"expected the folder of a run, got {path}, which has no {_CONFIG}: name a folder made by molyneux run")
    return parse_experiment(read_document(path / _CONFIG))


def default_folder(experiment: Experiment) -> Path:
    """`runs/<name>-<first 8 digits of the fingerprint>` of samples and training: the same for other measures of a model."""
    return Path("runs") / f"{experiment.name}-{store.fingerprint(_lasting(experiment.identity))[:8]}"


def _require_ours(path: Path, experiment: Experiment) -> None:
    if store.is_file(path):
        raise StoreError(f"cannot write {path}: a file stands where a folder is needed: choose another folder with --out")
    theirs = _stored_identity(path)
    if theirs is not None:
        if _lasting(theirs) != _lasting(experiment.identity):
            changed = store.differences(_lasting(theirs), _lasting(experiment.identity))
            raise ConflictError(f"{path} was made by another configuration ({changed}): choose another folder with --out")
    elif path.is_dir() and any(not item.name.startswith(".") for item in path.iterdir()):
        raise ConflictError(f"{path} is no folder of a run, and is not empty: choose another folder with --out")


def _stored_identity(path: Path) -> dict[str, Any] | None:
    """The settings that a folder was made by; None where it has none."""
    if not store.is_file(path / _CONFIG):
        return None
    return {name: value for name, value in read_document(path / _CONFIG).items() if name != "name"}


def _lasting(identity: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of samples and training: what is measured in a folder, and how it is reported, may change."""
    return {name: value for name, value in identity.items() if name not in ("measure", "report")}
