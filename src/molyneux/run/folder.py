"""The folder of a run: its settings, and its four stages.

    config.yaml      the resolved settings, with a checksum in the last line
    machine.json     where the run began, and with which versions
    samples/         spec.json, recipe.json, contact_sheet.png, and the samples themselves if they are kept
    model/           config.yaml, spec.json, weights.safetensors, history.csv, checkpoints
    measure/         scores.jsonl, exhibits
    report/          report.md, report.html

Each stage is a `core.store.Stage` whose settings hold the key of the stage before it, so a change anywhere shows in all that
follows. Other samples or another training need another folder; with other measures or another report, these are made again.
The key of `measure` holds the digests of judges and of networks of features too: with another one, measures are made again. The
record of each stage says on which machine it was made.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from molyneux.core import ConflictError, CorruptFileError, StoreError, files, store
from molyneux.core.config import dump_document, package_alone, parse_document
from molyneux.core.differences import differences
from molyneux.run.experiment import Experiment, parse_experiment
from molyneux.run.provenance import machine
from molyneux.run.readers import feature_digests, judge_digests, reader_versions

_CONFIG, _MACHINE, _CHECKSUM = "config.yaml", "machine.json", "# checksum "
STAGES = ("samples", "model", "measure", "report")
"""The sub-folders of a run, in the order in which they are made."""


class RunFolder:
    """The folder of one experiment, and its stages."""

    def __init__(self, path: Path, experiment: Experiment) -> None:
        self.path, self.experiment = path, experiment
        dataset = experiment.data.dataset
        seed, settings = experiment.seed, experiment.resolved
        self.samples = _stage(path, "samples", seed=seed, data=settings["data"], version=dataset and dataset.name)
        self.model = _stage(path, "model", seed=seed, learn=settings["learn"], samples=self.samples.key)
        judges = judge_digests(dataset, experiment.measure.judges)
        features, readers = feature_digests(experiment.measure.features), reader_versions(dataset)
        more = {**({"features": features} if features else {}), **({"readers": readers} if readers else {})}
        self.measure = _stage(path, "measure", measure=settings["measure"], model=self.model.key, judges=judges, **more)

    @property
    def complete(self) -> bool:
        """Whether every step of the experiment is done; all files are checked then.

        Raises:
            ConflictError: the samples or the model were made by another configuration. CorruptFileError: a file is damaged.
        """
        if not _is_run(self.path):
            return False
        _require_same(self.path, self.experiment)
        stages = [self.samples, self.model, self.measure]
        if not (self.samples.complete and self.model.complete and self.measure.current):
            return False
        report = report_stage(self.path, self.experiment.resolved)
        if not report.current:
            return False
        for stage in [*stages, report]:
            stage.verify()
        return True


def _stage(path: Path, name: str, **settings: Any) -> store.Stage:
    return store.Stage(files.inside(path, name), settings, remedy=remedy(path / name))


def remedy(folder: Path) -> str:
    """What to do where a file of the stage in `folder` is damaged; with a warning where that takes hours."""
    again = "train again from the start" if folder.name == "model" else "make it again"
    return f"restore it from a copy, or delete {folder} to {again}"


def measured(path: Path, settings: Mapping[str, Any]) -> bool:
    """Whether the scores in a folder are what these resolved settings ask for, by the record of their stage alone.

    A report can thus be written where judges, samples and model are not there.
    """
    made_by = store.made_by(files.inside(path, "measure"))
    return "measure" in made_by and store.fingerprint(made_by["measure"]) == store.fingerprint(settings["measure"])


def report_stage(path: Path, settings: Mapping[str, Any]) -> store.Stage:
    """The stage of the report on the scores in a folder; its key holds that of the scores, as recorded.

    Raises:
        StoreError: nothing was measured yet. CorruptFileError: the record of the scores is damaged.
    """
    scores = store.read_stage(path / "measure")["key"]
    return _stage(path, "report", report=settings["report"], measure=scores)


@contextmanager
def held(path: Path, experiment: Experiment) -> Iterator[RunFolder]:
    """Hold the folder of a run against other processes, and make it this experiment's if it is nobody's.

    A folder of the same samples and the same training, whose measures or report are others, becomes this experiment's too.

    Raises:
        ConflictError: it was made by other settings of samples or training, holds something else, or is in use.
        CorruptFileError: its `config.yaml` is damaged or missing, or the record of its samples is damaged.
        StoreError: it cannot be written.
    """
    _require_same(path, experiment)
    with opened(path):
        if _require_same(path, experiment) != experiment.identity:
            write_settings(path, experiment.resolved)
        record_machine(path)
        yield RunFolder(path, experiment)


def write_settings(path: Path, resolved: Mapping[str, Any]) -> None:
    """Write resolved settings as the `config.yaml` of a folder, with their checksum."""
    text = dump_document(resolved)
    store.write_text(path / _CONFIG, f"{text}{_CHECKSUM}{store.fingerprint(text)}\n")


@contextmanager
def opened(path: Path) -> Iterator[None]:
    """Hold the folder of a run against other processes, and remove the partial files that killed ones left.

    Raises:
        ConflictError: it is in use. StoreError: it cannot be written.
    """
    with store.locked(path):
        _remove_parts(path)
        yield


def _remove_parts(path: Path) -> None:
    """Remove what killed processes left half-written: files, folders of samples, and checkpoints that no record tells of."""
    for part in sorted(path.rglob("*.part")):
        if part.is_symlink() or part.is_file():
            part.unlink(missing_ok=True) if part.name.startswith(".") else None
        elif part.name.startswith(".") or (part.name.startswith("checkpoint-") and not _recorded(path / "model", part)):
            shutil.rmtree(part, ignore_errors=True)


def _recorded(stage: Path, folder: Path) -> bool:
    """Whether the record of a finished stage tells of files in a folder: some earlier versions kept what was left there."""
    names = store.read_stage(stage)["files"] if store.made_by(stage) else ()
    return any((stage / name).is_relative_to(folder) for name in names)


def record_machine(path: Path) -> None:
    """Write `machine.json` where it is not there, or is not what the record of the samples says."""
    recorded = store.read_stage(path / "samples")["details"].get("machine") if store.made_by(path / "samples") else None
    place = files.inside(path, _MACHINE)
    try:
        found = store.read_json(place) if place.exists() else None
    except CorruptFileError:
        found = None
    if not isinstance(found, dict) or (recorded is not None and found != recorded):
        store.write_json(path / _MACHINE, recorded or machine())


def stored_settings(path: Path) -> dict[str, Any]:
    """The resolved settings of the run in a folder, as plain data: nothing is made of them.

    Raises:
        StoreError: it is no folder of a run. CorruptFileError: `config.yaml` is missing, or was altered since it was written.
    """
    config = files.inside(path, _CONFIG)
    try:
        text = files.read_plain(config).decode()
    except FileNotFoundError as error:
        if _is_run(path):
            raise CorruptFileError(f"{config} is missing: restore it from a copy, or choose another folder with --out") from error
        raise StoreError(
            f"expected the folder of a run, got {path}, which has no {_CONFIG}: name a folder made by molyneux run"
        ) from error
    except UnicodeDecodeError as error:
        raise CorruptFileError(f"{config} is damaged ({error.reason}): restore it from a copy") from error
    except OSError as error:
        raise store.read_error(error, config) from error
    body, found, checksum = text.rpartition(_CHECKSUM)
    if not found or checksum != f"{store.fingerprint(body)}\n":
        raise CorruptFileError(
            f"{config} was truncated or altered since it was written: restore it from a copy; "
            f"for other settings, give a file of your own and another folder with --out"
        )
    return parse_document(body, str(config))


def open_experiment(path: Path | str, *, trust: bool = False) -> Experiment:
    """The experiment whose folder this is: no model is built, no sample read and no judge loaded.

    Args:
        path: the folder.
        trust: whether classes that are not of this package are imported, which runs their code.

    Raises:
        StoreError: it is no folder of a run, or one of the scores of a model from outside. CorruptFileError: `config.yaml` is
            missing or was altered. ConfigError: its settings are no longer valid, or name a class that is not of this package.
    """
    path = Path(path)
    require_trained_here(path)
    with package_alone(trust=trust):
        return parse_experiment(stored_settings(path))


def require_trained_here(path: Path) -> None:
    """Raise StoreError for a folder that has the scores of a model from outside, and not the model."""
    if loader := _loaded_by(path):
        raise StoreError(
            f"{path} holds scores of a model that {loader} loads, and not the model: it cannot be exported, trained or measured "
            f"again; measure the model anew with molyneux measure --model {loader} --data ... --out another folder"
        )


def default_folder(experiment: Experiment) -> Path:
    """`runs/<name>-<first 8 digits of the fingerprint>` of samples and training: the same for other measures of a model."""
    return Path("runs") / f"{experiment.name}-{store.fingerprint(_lasting(experiment.identity))[:8]}"


def _require_same(path: Path, experiment: Experiment) -> dict[str, Any] | None:
    """Refuse a folder of other samples or another training, and one that is no folder of a run; the settings it was made by."""
    if store.is_file(path):
        raise StoreError(f"cannot write {path}: a file stands where a folder is needed: choose another folder with --out")
    theirs = _identity(path)
    if theirs is not None:
        if _lasting(theirs) != _lasting(experiment.identity):
            changed = differences(_lasting(theirs), _lasting(experiment.identity))
            raise ConflictError(f"{path} was made by another configuration ({changed}): choose another folder with --out")
    elif path.is_dir() and any(not item.name.startswith(".") for item in path.iterdir()):
        raise ConflictError(f"{path} is no folder of a run, and is not empty: choose another folder with --out")
    return theirs


def _identity(path: Path) -> dict[str, Any] | None:
    """The settings that a folder was made by; None where it is no folder of a run."""
    if not _is_run(path):
        return None
    return {name: value for name, value in stored_settings(path).items() if name != "name"}


def _loaded_by(path: Path) -> str:
    """The function that loaded the model whose scores are in a folder; empty for the model of a run."""
    stage = path / "measure"
    try:
        return str(store.read_stage(stage)["details"].get("loaded_by", "")) if store.made_by(stage) else ""
    except CorruptFileError:  # what reads the scores says so
        return ""


def _is_run(path: Path) -> bool:
    return any(store.is_file(path / name) for name in (_CONFIG, _MACHINE, *(f"{stage}/stage.json" for stage in STAGES)))


def _lasting(identity: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of samples and training: what is measured in a folder, and how it is reported, may change."""
    return {name: value for name, value in identity.items() if name not in ("measure", "report")}
