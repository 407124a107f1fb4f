"""What the numbers of a run depend on besides its settings: package, world, samples and judges in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from molyneux.core import ConfigError, Dataset, StoreError, store
from molyneux.core.config import arguments
from molyneux.data import ShardedSource, open_stored
from molyneux.data.dataset import SPLITS
from molyneux.run.run.experiment import Experiment
from molyneux.run.run.readers import judge_digests
from molyneux.version import NUMBERS

INPUTS = ("package", "world", "settings", "stored", "judges")


def inputs(experiment: Experiment) -> dict[str, Any]:
    """What tells runs of the same settings apart, by `INPUTS`: plain data without paths.

    `package` is the version since which the package computes these numbers, `world` the name of the data set with its version,
    `settings` everything its bytes depend on, `stored` what identifies the content of the folder of stored samples, `judges` the
    digests of the judges, named or shipped; the last two are left out where there are none.

    Raises:
        StoreError, CorruptFileError: a file that the experiment names is not there or damaged.
    """
    data, dataset = experiment.data, experiment.data.dataset
    stored = {} if data.stored is None else {split: _content(data.stored / split) for split in SPLITS}
    judges = judge_digests(dataset, experiment.measure.judges)
    return {
        "package": NUMBERS,
        "world": "stored samples" if dataset is None else dataset.name,
        "settings": {} if dataset is None else dict(dataset.settings),
        **({"stored": stored} if stored else {}),
        **({"judges": judges} if judges else {}),
    }


def provenance(experiment: Experiment) -> dict[str, Any]:
    """What is recorded in the origin of every score: `inputs`, and which settings of the data set are `changed`.

    `changed` names those that differ from the defaults at this level; None where samples are read from a folder. Errors as
    `inputs`.
    """
    data, dataset = experiment.data, experiment.data.dataset
    return {**inputs(experiment), "changed": None if dataset is None or data.stored is not None else changed(dataset)}


def changed(dataset: Dataset) -> list[str] | None:
    """Names of the settings in which a data set differs from the same one with its default settings, at the same level.

    None where it has no default settings.
    """
    settings = dict(dataset.settings)
    level = {"level": settings["level"]} if "level" in arguments(type(dataset)) and "level" in settings else {}
    try:
        usual = type(dataset)(**level).settings
    except (ConfigError, StoreError, TypeError):
        return None
    return sorted(name for name in {*settings, *usual} if settings.get(name) != usual.get(name))


def _content(folder: Path) -> str:
    """What identifies stored samples: the origin they were stored with, or the checksums of their files."""
    if not store.is_file(folder / "stage.json") and isinstance(stored := open_stored(folder, verify=False), ShardedSource):
        return store.fingerprint(stored.origin)
    record = store.read_stage(folder)
    return store.fingerprint(record["settings"].get("origin") or {"files": record["files"]})
