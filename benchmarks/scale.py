"""Very many samples: stored in shards, read in a shuffled order by one thread and by eight, and entered at a random place.

    python benchmarks/scale.py [--quick] [--out FOLDER]

Samples have one byte, so that only what grows with their number is measured. For comparison, an order that is held in memory, a
permutation of all positions. Each row is a new process, whose memory starts anew.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from record import Record, Value, options

from molyneux.core import Batch, Modality, Spec, seeds
from molyneux.data import ShardedSource, store_shards
from molyneux.learn.training.batches import BatchReader, training_order

WHAT = (
    "{samples:,} samples of one byte in {shards:,} shards: samples stored and read in a second, the peak memory of the process, "
    "and seconds of processor time to the first batch. Readers with the same digest read the same samples in the same order"
)
BATCH = 65_536
ENTERED, PLAIN = "entered at a random place", "plain: an order in memory, entered"


class Numbered:
    """Samples of one byte: the lowest one of a hash of their number."""

    spec = Spec((Modality("byte", "image", (1, 1, 1), "uint8"),))

    def __init__(self, size: int) -> None:
        self.size = size
        self.origin = {"made": "numbers", "size": size}

    def __len__(self) -> int:
        return self.size

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        mixed = (indices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(56)
        return Batch({"byte": torch.from_numpy(mixed.astype(np.uint8).reshape(-1, 1, 1, 1))})


def main() -> None:
    arguments = options(__doc__).parse_args()
    samples, shards = (200_000, 20) if arguments.quick else (100_000_000, 1_000)
    rows: list[dict[str, Value]] = []
    record = Record("scale", WHAT.format(samples=samples, shards=shards), arguments.out)
    with tempfile.TemporaryDirectory() as folder:
        for way, measured in WAYS.items():
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                row: dict[str, Value] = {"way": way, **pool.submit(measured, Path(folder) / "samples", samples, shards).result()}
            rows.append(row)
            if way == PLAIN:
                entered = next(before for before in rows if before["way"] == ENTERED)
                entered["times as fast as an order in memory"] = float(row["first batch, s"]) / float(entered["first batch, s"])
    for row in rows:
        record.add(row)
    record.write()


def stored(folder: Path, samples: int, shards: int) -> Mapping[str, Value]:
    """All samples are stored."""
    start = time.perf_counter()
    store_shards(Numbered(samples), folder, shard=-(-samples // shards), chunk=BATCH)
    return {"samples/s": samples / (time.perf_counter() - start), "memory, MiB": memory()}


def read(folder: Path, samples: int, shards: int, *, readers: int) -> Mapping[str, Value]:
    """All samples of an epoch are read, by so many threads."""
    source = ShardedSource(folder)
    order = training_order(samples, min(BATCH, samples // 8), seed=1, epoch=0, block=source.block_size)
    start, digest = time.perf_counter(), hashlib.sha256()
    with ThreadPoolExecutor(readers) as pool:
        places = iter(range(len(order)))
        while rows := list(islice(places, 4 * readers)):
            for batch in pool.map(lambda place: source.batch(order[place].indices), rows):
                digest.update(batch.views["byte"].numpy().tobytes())
    took = time.perf_counter() - start
    return {"samples/s": samples / took, "memory, MiB": memory(), "digest": digest.hexdigest()[:12]}


def entered(folder: Path, samples: int, shards: int) -> Mapping[str, Value]:
    """A training is gone on with in the midst of an epoch."""
    start = time.process_time()
    source = ShardedSource(folder)
    order = training_order(samples, 512, seed=1, epoch=0, block=source.block_size)
    place = int(seeds.generator(1, "place").integers(len(order)))
    next(BatchReader(source).read(order[place:]))
    return {"first batch, s": time.process_time() - start, "memory, MiB": memory()}


def held(folder: Path, samples: int, shards: int) -> Mapping[str, Value]:
    """The same place of an order that is held in memory."""
    start = time.process_time()
    source: Any = ShardedSource(folder)
    order = training_order(samples, 512, seed=1, epoch=0)
    place = int(seeds.generator(1, "place").integers(len(order)))
    next(BatchReader(source).read(order[place:]))
    return {"first batch, s": time.process_time() - start, "memory, MiB": memory()}


WAYS: Mapping[str, Callable[[Path, int, int], Mapping[str, Value]]] = {
    "stored": stored,
    "read, 1 reader": partial(read, readers=1),
    "read, 8 readers": partial(read, readers=8),
    ENTERED: entered,
    PLAIN: held,
}


def memory() -> float:
    """Peak memory of this process, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
