"""The readers of the views of a world: its exact readers and judges; training of judges."""

from __future__ import annotations

import json
import math
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import (
    ConfigError,
    ConflictError,
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
from molyneux.data import Benchmark, OwnDataset, SplitDataset, World
from molyneux.learn import FitProgress, Training
from molyneux.learn.features import load_features
from molyneux.learn.judges import Judge, file_digest, load_judge, shipped_file, train_judge
from molyneux.learn.judges.train import TRAINING
from molyneux.measure import TrainedControl

VALIDATED = 10_000
"""Fresh samples of each level on which a judge is validated."""
_READ = 500
"""Samples that are read at once."""
_FEWEST = 64
"""Training samples that a judge of the user's own data needs."""


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
    for name in dict.fromkeys([*spec.names, *judges]):
        if isinstance(dataset, OwnDataset | Benchmark) and name not in judges and not shipped_file(dataset.name, name).is_file():
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
    return {name: TrainedControl(control, seed=seed) for name, control in dataset.controls().items()}


def find_features(spec: Spec, files: Mapping[str, Path]) -> dict[str, Features]:
    """The networks whose features of a modality are compared, by modality.

    Raises:
        ConfigError: a file is not there or damaged, holds another network, or the samples lack its modality.
    """
    found, problems = dict[str, Features](), list[str]()
    for name, path in files.items():
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


def make_judge(
    worlds: Mapping[str, World] | Mapping[str, OwnDataset | Benchmark],
    modality: str,
    out: Path | str,
    *,
    samples: int,
    seed: int,
    settings: Mapping[str, Any] | None = None,
    named: str = "",
    constant: Mapping[str, Mapping[str, float]] | None = None,
    progress: FitProgress | None = None,
) -> Judge:
    """Train a judge on all levels of a world together, or on the labels of a data set in files, validate it, and write it.

    The training continues where an earlier call with the same `out` stopped; its folder is beside `out` and removed at the end.

    Args:
        worlds: the levels by name, of one world; or own data or a benchmark under an empty name, whose test samples validate the
            judge.
        modality: name of the modality that the judge reads.
        out: file to write.
        samples: training samples of each level; of files that have fewer, they are used as often as that takes.
        seed: root seed.
        settings: those of the world that were asked for, for the command that is recorded.
        named: what the recorded command calls the data; the name of the world by default.
        constant: what `constant_accuracy` found, where it was called before; it is called here otherwise, for data in files.
        progress: receives the progress of the training.

    Raises:
        ConfigError: `samples` below 1 or fewer than a batch, or data in files without labels, with a label that no test sample
            has, or with too few samples.
        SpecError: the worlds have no such modality.
        ConflictError: `out` is there already.
    """
    out = Path(out)
    if samples < 1:
        raise ConfigError(f"expected samples of at least 1, got {samples}")
    if out.exists():
        raise ConflictError(f"{out} exists: choose another file")
    first = next(iter(worlds.values()))
    training = TRAINING if isinstance(first, World) else _repeated(first, samples)
    if samples < training.batch_size:
        raise ConfigError(f"expected samples of at least {training.batch_size}, a batch of the training, got {samples}")
    name = first.name
    if constant is None and not isinstance(first, World):
        constant_accuracy(worlds, seed=seed)  # a label that no test sample has is said before the training
    work = out.with_name(f".{out.name}.training")
    judge = train_judge(
        {level: world.judge_material(modality, "train", samples, seed=seed) for level, world in worlds.items()},
        {level: world.judge_material(modality, "test", VALIDATED, seed=seed) for level, world in worlds.items()},
        work,
        world=name,
        modality=modality,
        factors=_factors(worlds, modality),
        seed=seed,
        training=training,
        validated=VALIDATED,
        command=_command(named or name, modality, {**(settings or {}), "samples": samples, "seed": seed}),
        progress=progress,
    )
    judge.save(out)
    shutil.rmtree(work)
    return judge


def constant_accuracy(
    worlds: Mapping[str, World] | Mapping[str, OwnDataset | Benchmark], *, seed: int
) -> dict[str, dict[str, float]]:
    """By level and factor, what always saying the most common value reaches on the samples that validate a judge, 0..1.

    Labels are read and no views, as far as the data set knows them apart.

    Raises:
        ConfigError: a label is known in none of these samples.
    """
    found: dict[str, dict[str, float]] = {}
    for level, world in worlds.items():
        numbers = np.arange(min(VALIDATED, world.size("test") or VALIDATED))
        parts = (numbers[start : start + _READ] for start in range(0, len(numbers), _READ))
        codes = np.concatenate([world.factor_codes(part, split="test", seed=seed) for part in parts])
        found[level] = {}
        for place, factor in enumerate(world.spec.factors):
            known = codes[codes[:, place] >= 0, place]
            if not known.size:
                raise ConfigError(
                    f"labels: expected test samples with a label {factor.name!r} to validate the judge on, got none: leave it "
                    "out of labels, or give some to the split test"
                )
            found[level][factor.name] = float(np.bincount(known).max() / known.size)
    return found


def _command(world: str, modality: str, settings: Mapping[str, Any]) -> str:
    """The command that trains the judge again."""
    options = [(f"--{name.replace('_', '-')}", json.dumps(value, ensure_ascii=False)) for name, value in settings.items()]
    return f"molyneux judge {world} {modality} {shlex.join(word for option in options for word in option)} --out FILE"


def _repeated(data: OwnDataset | Benchmark, samples: int) -> Training:
    """The training of a judge that sees so many true views of a data set that may have fewer."""
    size = data.size("train") or samples
    if not data.spec.factors:
        remedy = "name some in the section data" if isinstance(data, OwnDataset) else "judges read factors alone"
        raise ConfigError(f"labels: expected labels to train a judge from, got none: {remedy}")
    if size < _FEWEST:
        raise ConfigError(f"expected at least {_FEWEST} training samples to train a judge from, got {size}: add samples")
    seen = min(samples, size)
    return replace(TRAINING, epochs=math.ceil(samples / size), batch_size=min(TRAINING.batch_size, seen))


def _no_judge(data: OwnDataset | Benchmark, modality: str) -> str:
    """Why nothing reads a modality of data in files."""
    if not data.spec.factors:
        return "the data have no labels that could be read"
    if data.spec.modality(modality).kind not in ("image", "series"):
        return "its views do not determine a label, and judges read images and series only"
    command = f"molyneux judge EXPERIMENT.yaml {modality} --out FILE"
    return f"no judge was named: train one with `{command}`, and name it in measure.judges"


def _factors(worlds: Mapping[str, World] | Mapping[str, OwnDataset | Benchmark], modality: str) -> tuple[str, ...]:
    """Every factor that a view shows at some level."""
    for world in worlds.values():
        world.spec.modality(modality)
    return tuple(dict.fromkeys(name for world in worlds.values() for name in world.visible(modality)))
