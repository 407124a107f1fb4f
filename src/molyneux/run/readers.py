"""The readers of the views of a world: its exact readers, and judges for what these cannot read; training of judges."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from molyneux.core import ConfigError, ConflictError, CorruptFileError, Dataset, Reader, Spec, SpecError, StoreError
from molyneux.data import World
from molyneux.learn import FitProgress
from molyneux.learn.judges import Judge, file_digest, load_judge, shipped_file, train_judge

VALIDATED = 10_000
"""Fresh samples of each level on which a judge is validated."""


@dataclass(frozen=True)
class Readers:
    """Readers by modality: those of the world itself, judges, and the modalities without a reader, with the reason."""

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
        if name in exact:
            continue
        try:
            judge = Judge.load(judges[name]) if name in judges else load_judge(dataset.name, name)
            shown = dataset.visible(name) if isinstance(dataset, World) else tuple(factor.name for factor in spec.factors)
            found[name] = judge.reader(spec, name, shown, abstain=judge.abstains)
        except (SpecError, StoreError) as error:
            if name in judges or isinstance(error, CorruptFileError):
                problems.append(f"judges.{name}: {error}")
            unread[name] = str(error)
    if problems:
        raise ConfigError(problems)
    return Readers(exact, found, unread)


def judge_digests(dataset: Dataset | None, judges: Mapping[str, Path]) -> dict[str, str]:
    """By modality, the digest of the file of the judge that would read it: measures are made again when it changes."""
    if dataset is None:
        return {}
    learned = {name: shipped_file(dataset.name, name) for name in dataset.spec.names if name not in dataset.readers()}
    return {name: file_digest(path) for name, path in sorted({**learned, **judges}.items()) if path.is_file()}


def make_judge(
    worlds: Mapping[str, World],
    modality: str,
    out: Path,
    *,
    samples: int,
    seed: int,
    settings: Mapping[str, Any] | None = None,
    progress: FitProgress | None = None,
) -> Judge:
    """Train a judge on all levels of a world together, validate it on fresh samples, and write it.

    The training continues where an earlier call with the same `out` stopped; its folder is beside `out` and removed at the end.

    Args:
        worlds: the levels by name, of one world.
        modality: name of the modality that the judge reads.
        out: file to write.
        samples: training samples of each level.
        seed: root seed.
        settings: those of the world that were asked for, for the command that is recorded.
        progress: receives the progress of the training.

    Raises:
        ConfigError: `samples` below 1. SpecError: the worlds have no such modality.
        ConflictError: `out` is there already.
    """
    if samples < 1:
        raise ConfigError(f"expected samples of at least 1, got {samples}")
    if out.exists():
        raise ConflictError(f"{out} exists: choose another file")
    name = next(iter(worlds.values())).name
    work, held_out = out.with_name(f".{out.name}.training"), max(VALIDATED, samples)
    judge = train_judge(
        {level: world.judge_material(modality, "train", samples, seed=seed) for level, world in worlds.items()},
        {level: world.judge_material(modality, "test", held_out, seed=seed) for level, world in worlds.items()},
        work,
        world=name,
        modality=modality,
        factors=_factors(worlds, modality),
        seed=seed,
        validated=VALIDATED,
        command=_command(name, modality, {**(settings or {}), "samples": samples, "seed": seed}),
        progress=progress,
    )
    judge.save(out)
    shutil.rmtree(work)
    return judge


def _command(world: str, modality: str, settings: Mapping[str, Any]) -> str:
    """The command that trains the judge again."""
    options = [(f"--{name.replace('_', '-')}", json.dumps(value, ensure_ascii=False)) for name, value in settings.items()]
    return f"molyneux judge {world} {modality} {shlex.join(word for option in options for word in option)} --out FILE"


def _factors(worlds: Mapping[str, World], modality: str) -> tuple[str, ...]:
    """Every factor that a view shows at some level."""
    for world in worlds.values():
        world.spec.modality(modality)
    return tuple(dict.fromkeys(name for world in worlds.values() for name in world.visible(modality)))
