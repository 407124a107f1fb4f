"""Speed of ShapeWorld: instances a second of one core, and how long training waits for them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from shapeworld_parts import PAPER, Part, Row

from molyneux.core import Batch, Source
from molyneux.data import ShapeWorld
from molyneux.data.worlds.shapeworld.kinds import KINDS
from molyneux.learn import Training, fit
from molyneux.learn.predictors import JoinedVectors
from molyneux.learn.training.batches import BatchReader

GOALS = {
    "oneshape": 10_000, "spatial": 8_000, "multishape": 5_000, "existential": 5_000, "quantification": 3_000,
    "relational": 1_500, "selection": 1_500, "logical": 1_000,
}  # fmt: skip
"""Instances a second that are wanted of balanced samples."""

PUBLISHED = {
    "oneshape": 424,
    "spatial": 182,
    "existential": 62,
    "quantities": 4.5,
    "relational": 19,
    "selection": 1,
    "logical": 0.8,
}
"""Instances a second of the published code, without words, on another machine."""

ROUNDS = 5


def speed(*, size: int, seed: int, quick: bool) -> Iterator[Row]:
    """Every kind and variant, in batches of 128 and in large ones."""
    for variant in ("balanced", "foils", "published"):
        for kind in KINDS:
            world = ShapeWorld(kind=kind, variant=variant)  # type: ignore[arg-type]
            world.batch(np.arange(64), split="train", seed=seed + 1)
            row: dict[str, str | int | float] = {"kind": kind, "variant": variant}
            large = size if variant == "balanced" else size // 4
            row["in batches of 128"] = rate(world, min(128, size), seed)
            row |= {"large batch": large, "in large batches": rate(world, large, seed)}
            if variant == "balanced":
                row |= {"goal": GOALS[kind]} if kind in GOALS else {}
                row |= {"published code": PUBLISHED[kind]} if kind in PUBLISHED else {}
            yield row


def rate(world: ShapeWorld, at_once: int, seed: int) -> float:
    """Instances per second of processor time, the median of five rounds: pictures, captions and their words as numbers."""
    found, batches = [], max(1, 512 // at_once)
    for start in range(ROUNDS):
        begin = time.process_time()
        for number in range(batches):
            first = (start * batches + number) * at_once
            world.batch(np.arange(first, first + at_once), split="train", seed=seed)
        found.append(batches * at_once / (time.process_time() - begin))
    return median(found)


class Timed:
    """A source that measures how long its batches take, in processor time of its thread and by the clock."""

    def __init__(self, source: Source) -> None:
        self.source, self.spec = source, source.spec
        self.busy = self.clock = 0.0

    def __len__(self) -> int:
        return len(self.source)

    def batch(self, indices: np.ndarray) -> Batch:
        """A batch of the source."""
        busy, clock = time.thread_time(), time.perf_counter()
        found = self.source.batch(indices)
        self.busy, self.clock = self.busy + time.thread_time() - busy, self.clock + time.perf_counter() - clock
        return found


def waiting(*, size: int, seed: int, quick: bool) -> Iterator[Row]:
    """The paper's CNN+LSTM on one thread, with samples that are made ahead, and without."""
    for kind in PAPER:
        for prefetch in (2, 0):
            source = Timed(ShapeWorld(kind=kind).source("train", 128 * size, seed=seed))  # type: ignore[arg-type]
            source.source.batch(np.arange(128))  # what has to be compiled or loaded first
            waited = [0.0]
            read = BatchReader.read

            def timed(
                self: BatchReader, order: Any, read: Any = read, waited: list[float] = waited
            ) -> Generator[Any, None, None]:
                batches = read(self, order)
                while True:
                    start = time.perf_counter()
                    batch = next(batches, None)
                    waited[0] += time.perf_counter() - start
                    if batch is None:
                        return
                    yield batch

            torch.manual_seed(seed)
            settings = Training(
                steps=size, batch_size=128, schedule="constant", keep="last", tensorboard=False, threads=1, memory="stream",
                prefetch=prefetch, precision="32",
            )  # fmt: skip
            model = JoinedVectors(source.spec)
            BatchReader.read = timed  # type: ignore[method-assign, assignment]
            try:
                with tempfile.TemporaryDirectory() as folder:
                    start = time.perf_counter()
                    fit(model, source, None, settings, Path(folder), seed=seed)
                    whole = time.perf_counter() - start
            finally:
                BatchReader.read = read  # type: ignore[method-assign]
            yield {
                "kind": kind,
                "batches made ahead": prefetch,
                "steps": size,
                "ms a step": 1000 * whole / size,
                "processor ms to make a batch": 1000 * source.busy / size,
                "ms that a step waits": 1000 * waited[0] / size,
                "waiting, %": 100 * waited[0] / whole,
            }


PARTS = (
    Part(
        "speed",
        "Instances per second of processor time of one core: scene, picture of 64x64 pixels, caption, and its words as numbers; "
        f"the median of {ROUNDS} rounds. The published code's figures are without words and of another machine",
        speed,
        4000,
        64,
    ),
    Part(
        "waiting",
        "How long training of CNN+LSTM:Mult, on one thread in batches of 128, waits for samples that are made while it trains; "
        "`batches made ahead` by another thread",
        waiting,
        50,
        4,
    ),
)
