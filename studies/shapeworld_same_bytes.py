"""Checks of reproducibility: the same bytes in other processes, orders and batches; what is stored gives its own labels."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from shapeworld_parts import Part, Row

from molyneux.core import Batch
from molyneux.data import ShapeWorld, StoredSource, store_samples
from molyneux.data.worlds.shapeworld.kinds import KINDS

VIEWS = ("image", "text", "meaning", "scene")
VARIANTS = ("balanced", "foils", "published")


def world_of(kind: str, variant: str) -> ShapeWorld:
    """A world with all views."""
    return ShapeWorld(kind=kind, variant=variant, views=VIEWS, image_size=32)  # type: ignore[arg-type]


def samples(kind: str, variant: str, rows: np.ndarray, seed: int) -> Batch:
    """Samples of training."""
    return world_of(kind, variant).batch(rows, split="train", seed=seed)


def digest(batch: Batch) -> str:
    """A hash of all tensors of a batch."""
    found = hashlib.sha256()
    for name, tensor in sorted(batch.tensors().items()):
        found.update(name.encode() + tensor.contiguous().numpy().tobytes())
    return found.hexdigest()[:16]


def in_parts(kind: str, variant: str, count: int, seed: int, size: int) -> str:
    """The hash of samples that are made in smaller batches, the last one first."""
    starts = range(0, count, size)
    made = [samples(kind, variant, np.arange(start, min(start + size, count)), seed) for start in reversed(starts)][::-1]
    names = made[0].tensors()
    return digest(Batch.from_tensors({name: torch.cat([part.tensors()[name] for part in made]) for name in names}))


def printed(variant: str, count: int, seed: int) -> None:
    """Print the hashes of every kind: what another process does."""
    for kind in KINDS:
        print(kind, digest(samples(kind, variant, np.arange(count), seed)))


def elsewhere(variant: str, count: int, seed: int, hash_seed: str) -> dict[str, str]:
    """The hashes that a new process makes."""
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import shapeworld_same_bytes as s; "
    code += f"s.printed({variant!r}, {count}, {seed})"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return dict(line.split() for line in done.stdout.splitlines())  # type: ignore[arg-type, misc]


def same_bytes(*, size: int, seed: int, quick: bool) -> Iterator[Row]:
    """Hashes of every kind and variant, made in five ways; and labels of a set that was stored."""
    variants = VARIANTS[:1] if quick else VARIANTS
    kinds = list(KINDS)[:: 8 if quick else 1]
    for variant in variants:
        others = [elsewhere(variant, size, seed, hash_seed) for hash_seed in (("1",) if quick else ("1", "20211"))]
        with ProcessPoolExecutor(2, get_context("spawn")) as pool:
            for kind in kinds:
                whole = digest(samples(kind, variant, np.arange(size), seed))
                ways = {
                    "other hash seeds": all(other[kind] == whole for other in others),
                    "batches of 7": in_parts(kind, variant, size, seed, 7) == whole,
                    "two processes": two_processes(pool, kind, variant, size, seed) == whole,
                }
                said = {name: "same" if same else "DIFFERENT" for name, same in ways.items()}
                yield {"kind": kind, "variant": variant, "samples": size, **said, **stored(kind, variant, size, seed)}


def two_processes(pool: ProcessPoolExecutor, kind: str, variant: str, count: int, seed: int) -> str:
    """The hash of samples of which each of two processes makes every other one."""
    halves = [np.arange(start, count, 2) for start in (0, 1)]
    made = list(pool.map(tensors, [kind] * 2, [variant] * 2, halves, [seed] * 2))
    order = np.argsort(np.concatenate(halves))
    return digest(Batch.from_tensors({n: torch.from_numpy(np.concatenate([part[n] for part in made])[order]) for n in made[0]}))


def tensors(kind: str, variant: str, rows: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """The tensors of samples as arrays."""
    return {name: tensor.numpy() for name, tensor in samples(kind, variant, rows, seed).tensors().items()}


def stored(kind: str, variant: str, size: int, seed: int) -> Row:
    """How many samples of a stored set have their own labels when captions and scenes are read back and evaluated."""
    world = world_of(kind, variant)
    with tempfile.TemporaryDirectory() as folder:
        store_samples(world.source("train", size, seed=seed), Path(folder) / "samples")
        batch = StoredSource(Path(folder) / "samples").batch(np.arange(size))
    found = world.evaluate(batch).numpy()
    return {"own labels of a stored set": int((found == 2 * batch.targets["agreement"].numpy() - 1).sum())}


PARTS = (
    Part(
        "same-bytes",
        "Whether samples, with all four views, have the same bytes in new processes with other hash seeds, in batches of seven "
        "from the last to the first, and in two processes with every other sample each; and how many of the samples that were "
        "stored and read back have their own label when the sentence is parsed and evaluated on the scene",
        same_bytes,
        120,
        16,
    ),
)
