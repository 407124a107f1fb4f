"""Judges are trained on the levels of a world, or on the labels of data in files, and validated."""

from __future__ import annotations

import json
import math
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import ConfigError, ConflictError
from molyneux.data import Benchmark, OwnDataset, World
from molyneux.learn import FitProgress, Training
from molyneux.learn.judges import Judge, train_judge
from molyneux.learn.judges.train import TRAINING

VALIDATED = 10_000
"""Fresh samples of each level on which a judge is validated."""
_READ = 500
"""Samples that are read at once."""
_FEWEST = 64
"""Training samples that a judge of the user's own data needs."""


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


def _factors(worlds: Mapping[str, World] | Mapping[str, OwnDataset | Benchmark], modality: str) -> tuple[str, ...]:
    """Every factor that a view shows at some level."""
    for world in worlds.values():
        world.spec.modality(modality)
    return tuple(dict.fromkeys(name for world in worlds.values() for name in world.visible(modality)))
