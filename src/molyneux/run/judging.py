"""A judge for a world of the package or of one's own."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from molyneux.core import ConfigError, ConflictError
from molyneux.data import World
from molyneux.data.worlds import Altered, Split, can_alter
from molyneux.learn import FitProgress
from molyneux.learn.judges import Judge, Material, train_judge
from molyneux.run.blurs import BLURS

EXAMINED = 10_000
"""Fresh samples of each level on which a judge is examined."""

_STYLES = 64
"""Textures in which each scene can be seen for the mean of them."""


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
    """Train a judge on all levels of a world together, examine it on fresh samples, and write it.

    The training goes on where an earlier call with the same `out` stopped; it lies beside it, and is removed in the end.

    Args:
        worlds: the levels by name, of one world.
        modality: what the judge reads.
        out: file to write.
        samples: to learn from, of each level.
        seed: root seed.
        settings: those of the world that were asked for, for the command that is recorded.
        progress: is told how the training goes.

    Raises:
        ConfigError: `samples` below 1. SpecError: the worlds have no such modality.
        ConflictError: `out` is there already.
    """
    if samples < 1:
        raise ConfigError(f"expected samples of at least 1, got {samples}")
    if out.exists():
        raise ConflictError(f"{out} is there already: choose another file, or delete it")
    name = next(iter(worlds.values())).name
    work = out.with_name(f".{out.name}.training")
    judge = train_judge(
        {level: _material(world, modality, "train", samples, seed) for level, world in worlds.items()},
        {level: _material(world, modality, "test", max(EXAMINED, samples), seed) for level, world in worlds.items()},
        work,
        world=name,
        modality=modality,
        factors=_factors(worlds, modality),
        blurs=BLURS.get((name, modality), {}),
        seed=seed,
        examined=EXAMINED,
        command=_command(name, modality, {**(settings or {}), "samples": samples, "seed": seed}),
        progress=progress,
    )
    judge.save(out)
    shutil.rmtree(work)
    return judge


def _material(world: World, modality: str, split: Split, size: int, seed: int) -> Material:
    """What a judge learns from in a split; altered pictures only of worlds that can alter their scenes."""
    true = world.source(split, size, seed=seed)
    if modality != "image" or not can_alter(world):
        return Material(true)
    altered = partial(Altered, world, split, size, seed=seed)
    return Material(
        true,
        styled=altered(change="styled", styles=_STYLES),
        styles=_STYLES if world.textured else 1,
        empty=altered(change="empty"),
        filled=altered(change="filled"),
        silhouette=altered(change="silhouette"),
        foreign=altered(change="foreign"),
        round="circle" not in world.shapes,
        of_object=("shape", "size", "colour", "position"),
        of_form=("shape",),
        of_extent=("size",),
        of_place=("position",),
    )


def _command(world: str, modality: str, settings: Mapping[str, Any]) -> str:
    """What makes the judge again."""
    words = [(f"--{name.replace('_', '-')}", json.dumps(value, ensure_ascii=False)) for name, value in settings.items()]
    return f"molyneux judge {world} {modality} {shlex.join(word for pair in words for word in pair)} --out FILE"


def _factors(worlds: Mapping[str, World], modality: str) -> tuple[str, ...]:
    """Every factor that a view of some level shows."""
    for world in worlds.values():
        world.spec.modality(modality)
    return tuple(dict.fromkeys(name for world in worlds.values() for name in world.visible(modality)))
