"""Seconds of each measure, beside the same measure taken one sample at a time.

    python benchmarks/evaluation.py [--quick] [--out FOLDER]

A DMVAE of CdSprites level 3 that was trained for some seconds, so that its captions can be read, measured on 10,000 test samples
by the world's readers, in batches of 500. One sample at a time, as the published toolkit evaluates, is measured on a part of the
samples and extrapolated: what it adds to each sample, times the samples.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from record import Record, Value, options
from timing import clock

from molyneux.data import CdSprites, load
from molyneux.learn import DMVAE, Training, fit
from molyneux.measure import (
    Coherence,
    Evaluation,
    Galleries,
    LatentProbe,
    Likelihood,
    Measure,
    PosteriorGap,
    Projection,
    Reconstruction,
    Traversals,
)
from molyneux.measure.fidelity import kernel_distance
from molyneux.run.run.readers import find_readers

WHAT = (
    "Seconds of each measure of a DMVAE on CdSprites level 3, in batches of 500, one thread; `one at a time` is measured on "
    "{part} samples and extrapolated to all: what batches of one add to each sample, times the samples; the kernel distance, of "
    "sets of 512 features, beside its formula with whole matrices in 64 bits, by the time of the processor"
)


def main() -> None:
    arguments = options(__doc__).parse_args()
    samples, part = (24, 20) if arguments.quick else (10_000, 100)
    record = Record("evaluation", WHAT.format(part=part), arguments.out)
    torch.set_num_threads(1)
    steps, batch_size = (1, 8) if arguments.quick else (500, 128)
    evaluate = evaluation(samples, steps=steps, batch_size=batch_size)
    for measure in measures():
        if not arguments.quick:
            timed(measure, evaluate, part, part)  # the first call does not count
        record.add({"measure": measure.name, **row(measure, evaluate, part)})
    record.add(kernel_row(100 if arguments.quick else 10_000))
    record.write()


def kernel_row(size: int) -> dict[str, Value]:
    """The kernel distance of two sets of features of a network."""
    rng = np.random.default_rng(0)
    first, second = (np.maximum(rng.normal(size=(size, 512)) + shift, 0).astype(np.float32) for shift in (0.0, 0.1))
    seconds = clock(lambda: kernel_distance(first, second), time.process_time)
    plain = clock(lambda: plain_kernel_distance(first.astype(np.float64), second.astype(np.float64)), time.process_time)
    return {
        "measure": "kernel distance",
        "samples": size,
        "seconds": seconds,
        "formula, s": plain,
        "times as fast": plain / seconds,
    }


def plain_kernel_distance(first: np.ndarray, second: np.ndarray) -> float:
    """The formula, with a whole matrix of kernels at a time."""

    def kernels(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        found: np.ndarray = (x @ y.T / x.shape[1] + 1) ** 3
        return found

    n, m = len(first), len(second)
    own, other = kernels(first, first), kernels(second, second)
    within = (own.sum() - np.trace(own)) / (n * (n - 1)) + (other.sum() - np.trace(other)) / (m * (m - 1))
    return float(within - 2 * kernels(first, second).mean())


def measures() -> list[Measure]:
    """All, with their defaults."""
    scored = [Coherence(), Reconstruction(), Likelihood(), LatentProbe(), PosteriorGap()]
    return [*scored, Projection(), Galleries(), Traversals()]


def evaluation(samples: int, *, steps: int, batch_size: int) -> Evaluation:
    """A model that has learned a little, its test samples in memory, and their readers."""
    world = CdSprites(level=3)
    model = DMVAE(world.spec, latent_dim=8, private_dim={"image": 6}, scales={"image": 0.05, "text": 1.0}, drawn=["image"])
    training = Training(steps=steps, batch_size=batch_size, precision="32", threads=1, keep="last", tensorboard=False)
    with tempfile.TemporaryDirectory() as folder:
        fit(model, world.source("train", batch_size * steps, seed=1), None, training, Path(folder), seed=1)
    readers = find_readers(world, world.spec, {})
    test = load(world.source("test", samples, seed=1))
    return Evaluation(model, test, readers=readers.judges, exact=readers.exact, samples=samples)


def row(measure: Measure, evaluation: Evaluation, part: int) -> dict[str, Value]:
    """Seconds in batches and, for measures that go through the samples, one at a time."""
    samples = min(evaluation.samples, getattr(measure, "samples", evaluation.samples))
    seconds = timed(measure, evaluation, samples, 500)
    if isinstance(measure, Galleries | Traversals):
        return {"seconds": seconds}
    added = timed(measure, evaluation, part, 1) - timed(measure, evaluation, part, part)
    single = seconds + added * samples / part
    return {"samples": samples, "seconds": seconds, "one at a time, s": single, "times as fast": single / seconds}


def timed(measure: Measure, evaluation: Evaluation, samples: int, batch_size: int) -> float:
    """Seconds of a measure on so many samples."""
    part = replace(evaluation, samples=samples, batch_size=batch_size)
    return clock(lambda: measure(part))


if __name__ == "__main__":
    main()
