"""What a process of its own measures: time, memory, energy and operations of inference or of training steps.

Run as `python -m molyneux.measure.complexity.process JOB RESULT`. A process that does nothing else has no memory and no caches of
what came before, and its highest use of memory is that of the job alone.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from molyneux.core import Batch, Encodes, Predicts, Progress, Representation, Source, TrainingStep, seeds
from molyneux.core.tooling.classes import working_folder_importable

_POWERCAP = Path("/sys/class/powercap")
_WARM = 2
"""Training steps that are not counted: the first ones allocate."""


@dataclass(frozen=True)
class MeasuredProcess:
    """What is measured.

    Args:
        model: on its device.
        source: samples to infer from or to train on.
        samples: how many of them.
        batch_size: samples per call.
        observed: the modalities that inference is given.
        repeats: how often inference goes through all samples.
        steps: training steps; 0 to measure inference.
        threads: of torch.
        seed: of the noise of training.
        step: what a step of the training is; None for a step of Adam in 32 bits.
    """

    model: Any
    source: Source
    samples: int
    batch_size: int
    observed: tuple[str, ...]
    repeats: int
    steps: int
    threads: int
    seed: int
    step: TrainingStep | None = None

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        parameter = next(iter(self.model.parameters()), None) if isinstance(self.model, torch.nn.Module) else None
        return torch.device("cpu") if parameter is None else parameter.device

    def batches(self) -> Iterator[Batch]:
        """The samples, batch by batch, on the device of the model."""
        for start in range(0, self.samples, self.batch_size):
            yield self.source.batch(np.arange(start, min(start + self.batch_size, self.samples))).to(self.device)


def inference_of(model: Any) -> Callable[..., Any] | None:
    """What inference is for a model: predicting, or else representing or encoding; None where it can do none of these."""
    abilities = {Predicts: "predict", Representation: "represent", Encodes: "encode"}
    return next((getattr(model, name) for protocol, name in abilities.items() if isinstance(model, protocol)), None)


def measured(job: MeasuredProcess) -> dict[str, Any]:
    """Plain numbers: of inference where there are no steps, else of training."""
    torch.set_num_threads(job.threads)
    on_cuda = job.device.type == "cuda"
    before = _resident("VmRSS")
    if on_cuda:
        torch.cuda.reset_peak_memory_stats()
    found = _training(job) if job.steps else _inference(job)
    found |= {"memory": _resident("VmHWM"), "idle_memory": before}
    return found | ({"device_memory": torch.cuda.max_memory_allocated() / 2**20} if on_cuda else {})


def _inference(job: MeasuredProcess) -> dict[str, Any]:
    """Seconds and joules of each time through all samples, operations of a sample, and the parameters and views that are read."""
    infer = inference_of(job.model)
    assert infer is not None
    if isinstance(job.model, torch.nn.Module):
        job.model.eval()
    seconds, joules = [], []
    with torch.inference_mode():
        first = next(job.batches())
        infer(first, job.observed)
        for _ in range(job.repeats):
            took, energy = 0.0, Energy()
            for batch in job.batches():
                took += _clocked(partial(infer, batch, job.observed), job.device)
            seconds.append(took)
            joules.append(energy.joules())
    with torch.no_grad():
        alone = replace(first, views={name: view.clone() for name, view in first.views.items()})  # each in memory of its own
        reads = Reads(job.model, alone.views)
        operations = count_operations(job.model, lambda: infer(alone, job.observed), reads)
    known = [number for number in joules if number is not None]
    return {
        "seconds": seconds,
        "joules": known if len(known) == len(joules) else [],
        "operations": operations / len(first),
        "inference_parameters": reads.parameters,
        "views": reads.views or list(first.views),  # what is read without torch is not seen
    }


def _training(job: MeasuredProcess) -> dict[str, Any]:
    """Seconds of each training step, on one batch."""
    batch, total = next(job.batches()), job.steps + _WARM
    with (job.step or AdamStep(job.batch_size)).of(job.model, steps=total, seed=job.seed) as step:
        seconds = [_clocked(partial(step, batch, number), job.device) for number in range(total)]
    return {"seconds": seconds[_WARM:]}


@dataclass(frozen=True)
class AdamStep(TrainingStep):
    """A step of Adam in 32 bits, of a model of which nobody told how it was trained."""

    @contextmanager
    def of(self, model: torch.nn.Module, *, steps: int, seed: int) -> Iterator[Callable[[Batch, int], None]]:
        """Loss, gradient and a step."""
        model.train()
        trained: Any = model
        optimizer = torch.optim.Adam([item for item in model.parameters() if item.requires_grad], lr=1e-4)
        device = next((item.device.type for item in model.parameters()), "cpu")
        generator = seeds.torch_generator(seed, "complexity", device=device)

        def step(batch: Batch, number: int) -> None:
            optimizer.zero_grad(set_to_none=True)
            trained.loss(batch, Progress(number, steps), generator).total.backward()
            optimizer.step()

        yield step


def count_operations(model: Any, work: Callable[[], Any], reads: Reads) -> int:
    """Floating-point operations of a call by torch's own counter; `reads` notes what it reads.

    The counter knows products of matrices, convolutions and attention, a multiplication and an addition being two operations;
    all others count as none. Recurrent and transformer layers are computed as products, so that they are counted.
    """
    with _as_products(), _without_gradients(model), FlopCounterMode(display=False) as counter, reads:
        work()
    return int(counter.get_total_flops())


@contextmanager
def _as_products() -> Iterator[None]:
    """Layers as operations that the counter knows, not as one that it does not: recurrent, transformer and attention layers."""
    flags: Any = torch.backends.mkldnn
    recurrent, transformer = flags.set_flags(_enabled=False)[0], torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        flags.set_flags(_enabled=recurrent)
        torch.backends.mha.set_fastpath_enabled(transformer)


@contextmanager
def _without_gradients(model: Any) -> Iterator[None]:
    """Parameters without gradients: the counter cannot enter a module that is given a view of one made under `no_grad`."""
    parameters = [item for item in _parameters(model) if item.requires_grad]
    for item in parameters:
        item.requires_grad_(False)
    try:
        yield
    finally:
        for item in parameters:
            item.requires_grad_(True)


def _parameters(model: Any) -> list[Tensor]:
    return list(model.parameters()) if isinstance(model, torch.nn.Module) else []


class Reads(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes which parameters of a module, and which views, are read by operations.

    Args:
        model: whose parameters are looked at.
        views: by name, each in memory of its own.
    """

    def __init__(self, model: Any, views: Mapping[str, Tensor] | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.sizes: dict[int, int] = {}
        for parameter in _parameters(model):
            place = parameter.untyped_storage().data_ptr()
            self.sizes[place] = self.sizes.get(place, 0) + parameter.numel()
        self._views = {name: view.untyped_storage().data_ptr() for name, view in (views or {}).items()}
        self.read: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for leaf in tree_leaves((args, kwargs)):
            if isinstance(leaf, Tensor) and leaf.layout == torch.strided:
                self.read.add(leaf.untyped_storage().data_ptr())
        return func(*args, **(kwargs or {}))

    @property
    def parameters(self) -> int:
        """How many numbers of the parameters were read."""
        return sum(size for place, size in self.sizes.items() if place in self.read)

    @property
    def views(self) -> list[str]:
        """The names of the views that were read."""
        return [name for name, place in self._views.items() if place in self.read]


class Energy:
    """Energy that the processors take from now on, by the counters of Linux (powercap, RAPL), where they can be read."""

    def __init__(self, folder: Path = _POWERCAP) -> None:
        self.zones = [zone for zone in sorted(folder.glob("intel-rapl:*")) if zone.name.count(":") == 1]
        self.start = self._read()

    def _read(self) -> list[int] | None:
        try:
            return [int((zone / "energy_uj").read_text()) for zone in self.zones] or None
        except OSError:
            return None

    def joules(self) -> float | None:
        """Joules since it was made; None where the counters cannot be read."""
        now = self._read()
        if now is None or self.start is None:
            return None
        spans = [int((zone / "max_energy_range_uj").read_text()) for zone in self.zones]
        return sum((end - begin) % (span + 1) for begin, end, span in zip(self.start, now, spans, strict=True)) / 1e6


def _clocked(work: Callable[[], Any], device: torch.device) -> float:
    """Seconds of a call, with what it started on a GPU."""
    begin = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - begin


def _resident(entry: str) -> float:
    """Memory of this process in MiB: `VmRSS` now, `VmHWM` at its highest.

    Linux keeps `ru_maxrss` of the process that started this one, so it is only used where there is nothing else.
    """
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith(f"{entry}:"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


@contextmanager
def _problem_in(result: Path) -> Iterator[None]:
    """A problem of the job as its result."""
    try:
        yield
    except Exception as error:  # a model from outside may raise anything, and the process that waits wants to know
        _write(result, {"problem": f"{type(error).__name__}: {error}"})


def _write(path: Path, record: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(record), encoding="utf-8")


def main(job: str, result: str) -> None:
    """Do the job of a file and write its numbers to another."""
    with _problem_in(Path(result)):
        with working_folder_importable():  # the model may be of the user's own class
            loaded: MeasuredProcess = torch.load(job, weights_only=False)  # written a moment ago by the process that waits
        _write(Path(result), measured(loaded))


if __name__ == "__main__":
    main(*sys.argv[1:])
