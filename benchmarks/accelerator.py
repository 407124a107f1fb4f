"""Trainings on a CUDA device: steps, launches, waiting, fetching, several trainings at once, and several devices; in ten minutes.

    python benchmarks/accelerator.py [--quick] [--out FOLDER]

Without a CUDA device one line says so, and nothing is written. MMVAE on CdSprites level 3, and a dense MVAE, whose step takes
longer to launch than to compute. `fit` is timed by its epochs, but for the first one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import torch
from record import Record, Value, options
from torch import nn
from torch.profiler import ProfilerActivity, profile

from molyneux.core import Progress, Source, Spec
from molyneux.core.history import Row
from molyneux.data import ArraySource, CdSprites, load
from molyneux.learn import MMVAE, MVAE, Training, fit
from molyneux.learn.encoders.nets import Dense

WHAT = (
    "Trainings on one CUDA device: steps per second of `fit`; of a step alone the kernels it launches, milliseconds of the host "
    "until all are launched, and of host and device until all are done; and how many times as fast trainings are in all when "
    "several share the device, or when several devices share a batch"
)
NOTHING = "accelerator: expected a CUDA device, got none that torch can use: nothing is measured"


def dense(spec: Spec) -> nn.Module:
    """A model whose nets are dense."""
    return MVAE(spec, latent_dim=24, nets={modality.name: Dense() for modality in spec.modalities})


MODELS: Mapping[str, Callable[[Spec], nn.Module]] = {"MMVAE": lambda spec: MMVAE(spec, latent_dim=24), "MVAE, dense": dense}


def made(name: str, spec: Spec, seed: int = 1) -> nn.Module:
    """A model whose weights depend on the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return MODELS[name](spec)


class Clock:
    """Takes the time of each epoch."""

    def __init__(self) -> None:
        self.took, self.now = list[float](), time.perf_counter()

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """Nothing."""

    def epoch(self, row: Row) -> None:
        """The time since the last epoch."""
        before, self.now = self.now, time.perf_counter()
        self.took.append(self.now - before)


def steps_per_second(name: str, source: Source, batch: int, epochs: int, *, processes: int = 1, **settings: object) -> float:
    """Of `fit`, without its first epoch."""
    given = {"epochs": epochs, "batch_size": batch, "device": "cuda", "tensorboard": False, **settings}
    clock = Clock()
    fit(made(name, source.spec), source, None, Training(**given), seed=1, progress=clock, processes=processes)  # type: ignore[arg-type]
    return (len(source) // batch) / median(clock.took[1:])


def one_step(name: str, source: ArraySource, batch: int, rounds: int) -> dict[str, Value]:
    """Kernels of a step, and its milliseconds until it is launched and until it is done."""
    model = made(name, source.spec).to("cuda")
    samples = source.batch(range(batch)).to("cuda")  # type: ignore[arg-type]
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    generator = torch.Generator("cuda").manual_seed(1)

    def step() -> None:
        optimizer.zero_grad()
        model.loss(samples, Progress(0, 1), generator).total.backward()  # type: ignore[operator]
        optimizer.step()

    def timed() -> tuple[float, float]:
        torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        launched = time.perf_counter()
        torch.cuda.synchronize()
        return 1000 * (launched - start), 1000 * (time.perf_counter() - start)

    for _ in range(3):
        timed()
    launched, done = (median(times) for times in zip(*(timed() for _ in range(rounds)), strict=True))
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        timed()
    kernels = sum(event.count for event in profiler.key_averages() if event.key.startswith("cudaLaunchKernel"))
    return {"kernels": kernels, "launched, ms": launched, "done, ms": done}


def together(name: str, source: ArraySource, batch: int, epochs: int, count: int) -> float:
    """Steps per second of so many trainings in threads of one process, each of its own stream, all together."""

    def train(seed: int) -> None:
        model = made(name, source.spec, seed).to("cuda")
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        generator = torch.Generator("cuda").manual_seed(seed)
        with torch.cuda.stream(torch.cuda.Stream()):
            for start in range(epochs * (len(source) // batch)):
                place = start % (len(source) // batch) * batch
                samples = source.batch(range(place, place + batch)).to("cuda")  # type: ignore[arg-type]
                optimizer.zero_grad()
                model.loss(samples, Progress(0, 1), generator).total.backward()  # type: ignore[operator]
                optimizer.step()

    train(0)
    torch.cuda.synchronize()
    begun = time.perf_counter()
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(train, range(count)))
    torch.cuda.synchronize()
    return count * epochs * (len(source) // batch) / (time.perf_counter() - begun)


def rows(*, quick: bool) -> Iterator[dict[str, Value]]:
    """All that is measured."""
    size, batch, epochs, rounds = (64, 16, 2, 2) if quick else (12_800, 128, 4, 50)
    world = CdSprites(level=3).source("train", size, seed=1)
    source = load(world)
    for name in MODELS:
        plain = steps_per_second(name, source, batch, epochs, precision="32")
        yield {
            "model": name,
            "what": "fit, 32 bits",
            "steps/s": plain,
            "times plain": 1.0,
            **one_step(name, source, batch, rounds),
        }
        ways: dict[str, dict[str, object]] = {
            "fit, bf16": {"precision": "bf16"},
            "fit, streamed, one batch ahead": {"memory": "stream", "prefetch": 1},
            "fit, streamed, four ahead": {"memory": "stream", "prefetch": 4},
        }
        for what, settings in ways.items():
            streamed = settings.get("memory") == "stream"
            found = steps_per_second(name, world if streamed else source, batch, epochs, **{"precision": "32", **settings})
            yield {"model": name, "what": what, "steps/s": found, "times plain": found / plain}
        for count in (1, 2, 4):
            found = together(name, source, batch, max(1, epochs // 2), count)
            yield {"model": name, "what": f"bare loops in one process: {count}", "steps/s": found, "times plain": found / plain}
        for count in range(2, torch.cuda.device_count() + 1):
            found = steps_per_second(name, source, batch * count, epochs, precision="32", processes=count)
            yield {
                "model": name,
                "what": f"{count} devices, {count} batches",
                "steps/s": found,
                "times plain": count * found / plain,
            }


def main() -> None:
    arguments = options(__doc__ or "").parse_args()
    if not torch.cuda.is_available():
        print(NOTHING)
        return
    record = Record("accelerator", WHAT, arguments.out)
    for row in rows(quick=arguments.quick):
        record.add(row)
    record.write()


if __name__ == "__main__":
    main()
