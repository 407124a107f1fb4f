"""Training in bf16 beside 32 bits, with fully connected nets: the time of a step, and what the trained model is worth.

    python benchmarks/arithmetic.py [--quick] [--mnist FOLDER] [--out FOLDER]

A MoPoE of the five modalities of PolyMNIST, nets as in `products.py`, batches of 256, is trained on the same batches in
both arithmetics and from several seeds, whose spread says what a difference means. It is measured in 32 bits on held-out
samples. Without the folder of MNIST's files the digits are those of a twin. Needs a processor with bf16 instructions; on another,
bf16 is slower.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from products import build
from record import Record, Value, options
from timing import interleaved
from torch import nn
from training import Step

from molyneux.core import Batch, Progress, Source
from molyneux.data import PolyMNIST, load, write_twin
from molyneux.learn import Training, fit, keep_freed_memory

WHAT = (
    "Training of five modalities of PolyMNIST ({digits}) with fully connected nets in 32 bits and in bf16, {steps} steps of "
    "{size} samples, one thread: milliseconds of processor time of a step, in turns, and nats of {held} held-out samples, "
    "measured in 32 bits: the loss, and the joint log-likelihood from ten draws"
)
MODEL = "MoPoE"


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--mnist", type=Path, default=None, help="folder of MNIST's files (default: a twin)")
    arguments = parser.parse_args()
    quick = arguments.quick
    steps, size, width, held = (2, 8, 16, 16) if quick else (150, 256, 512, 1000)
    digits = "MNIST" if arguments.mnist else "digits of a twin"
    record = Record("arithmetic", WHAT.format(digits=digits, steps=steps, size=size, held=held), arguments.out)
    torch.set_num_threads(1)
    keep_freed_memory()
    with tempfile.TemporaryDirectory() as folder:
        place = arguments.mnist or write_twin("PolyMNIST", Path(folder) / "twin", size=300 if quick else 20_000).folder
        dataset = PolyMNIST(place, modalities=5)
        source, test = dataset.source("train", size * min(steps, 60), seed=1), load(dataset.source("test", held, seed=1))
        batch = test.batch(np.arange(min(size, held)))
        took = step_times(source, batch, width, rounds=1 if quick else 5)
        for seed in (1,) if quick else (1, 2):
            for arithmetic in ("32", "bf16"):
                training = Training(steps=steps, batch_size=size, precision=arithmetic, threads=1, keep="last", tensorboard=False)
                model = trained(source, training, width, seed, Path(folder) / f"{arithmetic}-{seed}")
                row: dict[str, Value] = {"model": MODEL, "seed": seed, "arithmetic": arithmetic}
                row |= {"ms a step": 1000 * took[arithmetic], "times as fast as 32 bits": took["32"] / took[arithmetic]}
                record.add({**row, **worth(model, test, held)})
    record.write()


def step_times(source: Source, batch: Batch, width: int, *, rounds: int) -> dict[str, float]:
    """Seconds of a step in both arithmetics; a view lies in memory as it does in the samples, since there is no convolution."""
    works = {}
    for arithmetic in ("32", "bf16"):
        works[arithmetic] = Step(build(MODEL, source.spec, width), batch)
        works[arithmetic].bf16 = arithmetic == "bf16"
    return interleaved(works, rounds=rounds, seconds=0.0, timer=time.process_time)


def trained(source: Source, training: Training, width: int, seed: int, folder: Path) -> nn.Module:
    """A model after its training, on the same batches in every arithmetic."""
    model = build(MODEL, source.spec, width, seed)
    fit(model, source, None, training, folder, seed=seed)
    return model.eval()


@torch.no_grad()
def worth(model: nn.Module, test: Source, held: int) -> dict[str, float]:
    """Loss and joint log-likelihood of held-out samples, in nats per sample, with the same noise for every model."""
    losses, likelihoods = [], []
    for start in range(0, held, 250):
        batch = test.batch(np.arange(start, min(start + 250, held)))
        losses.append(model.loss(batch, Progress(1, 1), torch.Generator().manual_seed(1)).total)  # type: ignore[operator]
        likelihoods.append(model.log_likelihood(batch, 10, torch.Generator().manual_seed(1)).mean())  # type: ignore[operator]
    return {"loss": float(torch.stack(losses).mean()), "log-likelihood": float(torch.stack(likelihoods).mean())}


if __name__ == "__main__":
    main()
