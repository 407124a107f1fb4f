"""What `fit` costs beyond the steps: its order, guards, meters, schedules and checkpoints, beside a bare loop.

    python benchmarks/trainer.py [--quick] [--out FOLDER]

The bare loop fetches batches from the same source, in a random order, and makes the same steps: no more than one would write by
hand. Both train MVAE in 32 bits on one thread, with batches of 64: with the default nets on CdSprites level 3, and with nets so
small that the step takes hardly any time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import torch
from record import Record, Value, options
from timing import clock
from torch import nn
from training import Step

from molyneux.core import Batch, Modality, Source, Spec
from molyneux.data import ArraySource, CdSprites, load
from molyneux.learn import MVAE, Training, fit
from molyneux.learn.nets import Dense

WHAT = (
    "MVAE trained for one epoch by `fit` and by a bare loop, batches of 64, 32 bits, one thread: milliseconds per step in the "
    "fastest of three rounds, and the seconds that a call of `fit` takes before and after its steps (the checkpoint included)"
)
BATCH = 64


def main() -> None:
    arguments = options(__doc__).parse_args()
    record = Record("trainer", WHAT, arguments.out)
    torch.set_num_threads(1)
    for name, source in sources(quick=arguments.quick).items():
        record.add({"nets": name, **row(source, MAKE[name], rounds=1 if arguments.quick else 3)})
    record.write()


def sources(*, quick: bool) -> dict[str, Source]:
    """The samples of one epoch for each kind of nets."""
    spec = Spec((Modality("left", "tabular", (8,)), Modality("right", "tabular", (8,))))
    size = BATCH * (20 if quick else 3000)
    generator = torch.Generator().manual_seed(1)
    numbers = Batch({name: torch.randn(size, 8, generator=generator) for name in spec.names})
    pictures = CdSprites(level=3).source("train", BATCH * (4 if quick else 300), seed=1)
    return {"default": load(pictures), "tiny": ArraySource(spec, numbers)}


MAKE: Mapping[str, Callable[[Spec], MVAE]] = {
    "default": lambda spec: MVAE(spec, latent_dim=8),
    "tiny": lambda spec: MVAE(spec, latent_dim=2, nets=dict.fromkeys(spec.names, Dense(width=8, layers=1))),
}


def row(source: Source, make: Callable[[Spec], MVAE], *, rounds: int) -> dict[str, Value]:
    """Both ways in turns, after a short call of each that does not count."""
    steps = len(source) // BATCH
    bare(source, make(source.spec), steps=2)
    trained(source, make(source.spec), steps=2)
    loops, fits = [], []
    for _ in range(rounds):
        loops.append(clock(partial(bare, source, make(source.spec), steps=steps)))
        fits.append(trained(source, make(source.spec), steps=steps))
    loop, step = 1000 * min(loops) / steps, 1000 * min(inside for inside, _ in fits) / steps
    around = min(around for _, around in fits)
    return {"steps": steps, "bare loop, ms": loop, "fit, ms": step, "difference, ms": step - loop, "around the steps, s": around}


def bare(source: Source, model: nn.Module, *, steps: int) -> None:
    """The loop that one would write by hand."""
    order = np.random.default_rng(1).permutation(len(source))[: steps * BATCH].reshape(steps, BATCH)
    step = Step(model, source.batch(order[0]))
    for indices in order:
        step.batch = source.batch(indices)
        step()


def trained(source: Source, model: MVAE, *, steps: int) -> tuple[float, float]:
    """Seconds that `fit` spends in its steps, and before and after them."""
    training = Training(steps=steps, batch_size=BATCH, precision="32", channels_last=False, threads=1)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        history = fit(model, source, None, training, Path(folder), seed=1)
        whole = time.perf_counter() - start
    inside = steps * BATCH / history.rows[-1]["samples_per_second"]
    return inside, whole - inside


if __name__ == "__main__":
    main()
