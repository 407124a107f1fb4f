"""The experiment of a folder: its stages, and whether the folder is its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from molyneux.core import ConflictError, CorruptFileError, StoreError, store
from molyneux.core.config import package_alone
from molyneux.core.config.earlier import same_settings
from molyneux.core.tooling.documents import differences
from molyneux.run.run.experiment import Experiment, parse_experiment
from molyneux.run.run.readers import feature_digests, judge_digests, reader_versions
from molyneux.run.run.stored import (
    RUN_FOLDER,
    given_folder,
    given_object,
    has_run,
    opened,
    record_machine,
    report_stage,
    require_trained_here,
    run_stage,
    stored_settings,
    write_settings,
)


class RunFolder:
    """The folder of one experiment, and its stages."""

    def __init__(self, path: Path, experiment: Experiment) -> None:
        self.path, self.experiment = path, experiment
        dataset = experiment.data.dataset
        seed, settings = experiment.seed, experiment.resolved
        self.samples = _made(run_stage(path, "samples", seed=seed, data=settings["data"], version=dataset and dataset.name))
        self.model = _made(run_stage(path, "model", seed=seed, learn=settings["learn"], samples=self.samples.key))
        judges = judge_digests(dataset, experiment.measure.judges)
        features, readers = feature_digests(experiment.measure.features), reader_versions(dataset)
        more = {**({"features": features} if features else {}), **({"readers": readers} if readers else {})}
        self.measure = _made(run_stage(path, "measure", measure=settings["measure"], model=self.model.key, judges=judges, **more))

    @property
    def complete(self) -> bool:
        """Whether every step of the experiment is done; all files are checked then.

        Raises:
            ConflictError: the samples or the model were made by another configuration. CorruptFileError: a file is damaged.
        """
        if not has_run(self.path):
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


def _made(stage: store.StageFolder) -> store.StageFolder:
    """A stage; one that an earlier version made, whose settings have other names today, keeps those and its key."""
    try:
        recorded = store.made_by(stage.folder)
    except CorruptFileError:  # what reads the stage says so
        return stage
    same = recorded and recorded != stage.settings and same_settings(recorded, stage.settings)
    return store.StageFolder(stage.folder, recorded, remedy=stage.remedy) if same else stage


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
        theirs = _require_same(path, experiment)
        if theirs is None or not same_settings(theirs, experiment.identity):
            write_settings(path, {**experiment.resolved, **_lasting(theirs or {})})  # what was made keeps the names it has
        record_machine(path)
        yield RunFolder(path, experiment)


def open_experiment(path: Path | str, *, trust: bool = False) -> Experiment:
    """The experiment whose folder this is: no model is built, no sample read and no judge loaded.

    Args:
        path: the folder.
        trust: whether classes that are not of this package are imported, which runs their code, and whether a training may write
            its log outside of the folder, as settings of `mlflow` and `wandb` do.

    Raises:
        StoreError: it is no folder of a run, or one of the scores of a model from outside. CorruptFileError: `config.yaml` is
            missing or was altered. ConfigError: its settings are no longer valid, or name a class that is not of this package.
    """
    path = given_folder(path, RUN_FOLDER)
    require_trained_here(path)
    with package_alone(trust=trust):
        experiment = parse_experiment(stored_settings(path))
    object.__setattr__(experiment, "trusted", trust)
    return experiment


def default_folder(experiment: Experiment) -> Path:
    """`runs/<name>-<first 8 digits of the fingerprint>` of samples and training: the same for other measures of a model."""
    experiment = given_object(experiment, Experiment, path="load_experiment", settings="read_experiment")
    return Path("runs") / f"{experiment.name}-{store.fingerprint(_lasting(experiment.identity))[:8]}"


def _require_same(path: Path, experiment: Experiment) -> dict[str, Any] | None:
    """Refuse a folder of other samples or another training, and one that is no folder of a run; the settings it was made by."""
    if store.is_file(path):
        raise StoreError(f"cannot write {path}: a file stands where a folder is needed: choose another folder with --out")
    theirs = _identity(path)
    if theirs is not None:
        if not same_settings(_lasting(theirs), _lasting(experiment.identity)):
            changed = differences(_lasting(theirs), _lasting(experiment.identity))
            raise ConflictError(f"{path} was made by another configuration ({changed}): choose another folder with --out")
    elif path.is_dir() and any(not item.name.startswith(".") for item in path.iterdir()):
        raise ConflictError(f"{path} is no folder of a run, and is not empty: choose another folder with --out")
    return theirs


def _identity(path: Path) -> dict[str, Any] | None:
    """The settings that a folder was made by; None where it is no folder of a run."""
    if not has_run(path):
        return None
    return {name: value for name, value in stored_settings(path).items() if name != "name"}


def _lasting(identity: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of samples and training: what is measured in a folder, and how it is reported, may change."""
    return {name: value for name, value in identity.items() if name not in ("measure", "report")}
