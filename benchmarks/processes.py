"""A training shared out to several processes beside one process, at the same batch.

    python benchmarks/processes.py [--quick] [--out FOLDER] [--processes 2]

MMVAE, MVAE and DMVAE on CdSprites level 3 (images of 64x64 pixels and captions), batches of 128 in all, 32 bits, one thread in
each process, trained by `fit`. Epochs are timed in the first process, but for the first one, in which everything is begun. Where
the machine is busy, only times of the processor are kept: by the clock, processes that wait for each other wait for all others.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from statistics import median

import torch
from record import Record, Value, options
from torch import nn

from molyneux.core import History, Spec
from molyneux.core.history import Row
from molyneux.data import ArraySource, CdSprites, load
from molyneux.learn import DMVAE, MMVAE, MVAE, Training, fit

WHAT = (
    "Trainings on CdSprites level 3, batches of 128 in all, 32 bits, one thread in each process: processor time of a step in the "
    "first process, how many times that of one process it goes into, and, on free cores, how many times as fast steps are by the "
    "clock; and the largest relative difference of a loss of an epoch from that of one process"
)
MODELS: Mapping[str, Callable[[Spec], nn.Module]] = {
    "MMVAE": lambda spec: MMVAE(spec, latent_dim=24),
    "MVAE": lambda spec: MVAE(spec, latent_dim=24),
    "DMVAE": lambda spec: DMVAE(spec, latent_dim=24, private_dim=8),
}
FREE = 1.0
"""Processes that may wait for a core at the beginning, on average, for times by the clock to be kept."""


class Clocks:
    """Takes the time of each epoch: of the processor, and by the clock."""

    def __init__(self) -> None:
        self.took: list[tuple[float, float]] = []
        self.now = time.process_time(), time.perf_counter()

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """Nothing."""

    def epoch(self, row: Row) -> None:
        """The time since the last epoch."""
        before, self.now = self.now, (time.process_time(), time.perf_counter())
        self.took.append((self.now[0] - before[0], self.now[1] - before[1]))


def trained(name: str, source: ArraySource, batch: int, epochs: int, processes: int) -> tuple[History, float, float]:
    """The history, and the milliseconds of a step, of the processor and by the clock."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = MODELS[name](source.spec)
    clocks, steps = Clocks(), len(source) // batch
    training = Training(epochs=epochs, batch_size=batch, precision="32", device="cpu", threads=1, tensorboard=False)
    history = fit(model, source, None, training, seed=1, progress=clocks, processes=processes)
    processor, clock = (1000 * median(times) / steps for times in zip(*clocks.took[1:], strict=True))
    return history, processor, clock


def difference(first: History, second: History) -> float:
    """The largest relative difference of a loss of an epoch."""
    pairs = zip(first.columns()["train/loss"], second.columns()["train/loss"], strict=True)
    return max(abs(a - b) / abs(a) for a, b in pairs)


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--processes", type=int, default=2, help="how many share out a training (default: 2)")
    arguments = parser.parse_args()
    free = os.getloadavg()[0] < FREE
    record = Record("processes", WHAT, arguments.out)
    size, batch, epochs = (64, 16, 2) if arguments.quick else (2560, 128, 4)
    source = load(CdSprites(level=3).source("train", size, seed=1))
    for name in ("MMVAE",) if arguments.quick else MODELS:
        found = {count: trained(name, source, batch, epochs, count) for count in (1, arguments.processes)}
        alone = found[1]
        for count, (history, processor, clock) in found.items():
            row: dict[str, Value] = {"model": name, "processes": count, "processor time of a step, ms": processor}
            if count > 1:
                row["times less processor time in each"] = alone[1] / processor
                row["difference of losses"] = difference(alone[0], history)
            if free:
                row["step, ms"] = clock
                row |= {"times as fast": alone[2] / clock} if count > 1 else {}
            record.add(row)
    record.write()


if __name__ == "__main__":
    main()
