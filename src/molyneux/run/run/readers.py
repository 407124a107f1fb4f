"""The readers of the views of a world: its exact readers and judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from molyneux.core import (
    ConfigError,
    CorruptFileError,
    Dataset,
    Features,
    HasControls,
    Reader,
    Spec,
    SpecError,
    StoreError,
)
from molyneux.core.reader import identity
from molyneux.data import SplitDataset, World
from molyneux.learn.judges import Judge, file_digest, load_judge, shipped_file

if TYPE_CHECKING:
    from molyneux.measure import TrainedControl


@dataclass(frozen=True)
class Readers:
    """Readers by modality: those of the world itself, judges, and the modalities without a reader, with the reason.

    A modality may have both.
    """

    exact: Mapping[str, Reader] = field(default_factory=dict)
    judges: Mapping[str, Reader] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)


def find_readers(dataset: Dataset | None, spec: Spec, judges: Mapping[str, Path]) -> Readers:
    """The readers of the modalities in `spec`.

    Args:
        dataset: where the samples come from; None for stored samples without a world, which have no readers.
        spec: of the samples.
        judges: files of judges by modality; the others come with the package.

    Raises:
        ConfigError: a judge is given for a modality that the samples lack, or that it cannot read.
    """
    if dataset is None:
        return Readers(unread=dict.fromkeys(spec.names, "stored samples without a world have no readers"))
    exact = {name: reader for name, reader in dataset.readers().items() if name in spec.names and name not in judges}
    found, unread, problems = dict[str, Reader](), dict[str, str](), list[str]()
    stored = isinstance(dataset, SplitDataset) and not isinstance(dataset, World)
    for name in dict.fromkeys([*spec.names, *judges]):
        if stored and name not in judges and not shipped_file(dataset.name, name).is_file():
            if name not in exact:
                unread[name] = _no_judge(dataset, name)
            continue
        try:
            judge = Judge.load(judges[name]) if name in judges else load_judge(dataset.name, name)
            shown = dataset.visible(name) if isinstance(dataset, SplitDataset) else tuple(factor.name for factor in spec.factors)
            found[name] = judge.reader(spec, name, shown, abstain=judge.abstains)
        except (SpecError, StoreError) as error:
            if name in judges or isinstance(error, CorruptFileError):
                problems.append(f"judges.{name}: {error}")
            if name not in exact:
                unread[name] = str(error)
    if problems:
        raise ConfigError(problems)
    return Readers(exact, found, unread)


def find_controls(dataset: Dataset | None, *, seed: int) -> dict[str, TrainedControl]:
    """The trained controls of a data set, by name; none of stored samples without a world.

    Args:
        dataset: where the samples come from.
        seed: of what they are trained on.
    """
    if not isinstance(dataset, HasControls):
        return {}
    from molyneux.measure import TrainedControl

    return {name: TrainedControl(control, seed=seed) for name, control in dataset.controls().items()}


def find_features(spec: Spec, files: Mapping[str, Path]) -> dict[str, Features]:
    """The networks whose features of a modality are compared, by modality.

    Raises:
        ConfigError: a file is not there or damaged, holds another network, or the samples lack its modality.
    """
    found, problems = dict[str, Features](), list[str]()
    for name, path in files.items():
        from molyneux.learn.features import load_features  # only where files are given

        try:
            found[name] = load_features(path, spec, name)
        except (SpecError, StoreError) as error:
            problems.append(f"features.{name}: {error}")
    if problems:
        raise ConfigError(problems)
    return found


def feature_digests(files: Mapping[str, Path]) -> dict[str, str]:
    """The digests of the files of networks by modality: measures are made again when one changes."""
    return {name: file_digest(path) for name, path in sorted(files.items()) if path.is_file()}


def judge_digests(dataset: Dataset | None, judges: Mapping[str, Path]) -> dict[str, str]:
    """By modality, the digest of the file of the judge that would read it: measures are made again when it changes."""
    if dataset is None:
        return {}
    learned = {name: shipped_file(dataset.name, name) for name in dataset.spec.names}
    return {name: file_digest(path) for name, path in sorted({**learned, **judges}.items()) if path.is_file()}


def reader_versions(dataset: Dataset | None) -> dict[str, str]:
    """By modality, the name and version of the exact reader of a world: measures are made again when it changes.

    Those of data sets in files look up what is stored, and change with the files.
    """
    if not isinstance(dataset, World):
        return {}
    named = {name: identity(reader) for name, reader in dataset.readers().items()}
    return {name: f"{who['name']} {who['version']}" for name, who in sorted(named.items())}


def _no_judge(data: Dataset, modality: str) -> str:
    """Why nothing reads a modality of data in files."""
    if not data.spec.factors:
        return "the data have no labels that could be read"
    if data.spec.modality(modality).kind not in ("image", "series"):
        return "its views do not determine a label, and judges read images and series only"
    command = f"molyneux judge EXPERIMENT.yaml {modality} --out FILE"
    return f"no judge was named: train one with `{command}`, and name it in measure.judges"
