"""Who reads the views of a world: its exact readers, and judges for what it cannot read itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from molyneux.core import ConfigError, CorruptFileError, Dataset, Reader, Spec, SpecError, StoreError
from molyneux.data import World
from molyneux.learn.judges import Judge, file_digest, load_judge, shipped_file


@dataclass(frozen=True)
class Readers:
    """Readers by modality.

    Args:
        exact: of the world itself.
        judges: learned ones.
        unread: by modality, why nobody reads it.
    """

    exact: Mapping[str, Reader] = field(default_factory=dict)
    judges: Mapping[str, Reader] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)


def find_readers(dataset: Dataset | None, spec: Spec, judges: Mapping[str, Path]) -> Readers:
    """The readers of the modalities in `spec`.

    Args:
        dataset: where the samples come from; without one nobody reads them.
        spec: of the samples.
        judges: files of judges by modality; where none is given, the one that comes with the package is taken.

    Raises:
        ConfigError: a judge is given for a modality that is not there, or cannot be used for it.
    """
    if dataset is None:
        return Readers(unread=dict.fromkeys(spec.names, "stored samples without a world have no readers"))
    exact = {name: reader for name, reader in dataset.readers().items() if name in spec.names and name not in judges}
    found, unread, problems = dict[str, Reader](), dict[str, str](), list[str]()
    for name in dict.fromkeys([*spec.names, *judges]):
        if name in exact:
            continue
        try:
            judge = Judge.load(judges[name]) if name in judges else load_judge(dataset.name, name)
            shown = dataset.visible(name) if isinstance(dataset, World) else tuple(factor.name for factor in spec.factors)
            found[name] = judge.reader(spec, name, shown, refuse=judge.refuses)
        except (SpecError, StoreError) as error:
            if name in judges or isinstance(error, CorruptFileError):
                problems.append(f"judges.{name}: {error}")
            unread[name] = str(error)
    if problems:
        raise ConfigError(problems)
    return Readers(exact, found, unread)


def judge_digests(dataset: Dataset | None, judges: Mapping[str, Path]) -> dict[str, str]:
    """By modality, the digest of the file of the judge that would read it: measures are made again when it changes.

    Args:
        dataset: where the samples come from.
        judges: files of judges by modality, as in `find_readers`.
    """
    if dataset is None:
        return {}
    learned = {name: shipped_file(dataset.name, name) for name in dataset.spec.names if name not in dataset.readers()}
    return {name: file_digest(path) for name, path in sorted({**learned, **judges}.items()) if path.is_file()}
