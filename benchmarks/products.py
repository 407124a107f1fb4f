"""A training step of every model beside its own matrix products alone, for five modalities with fully connected nets.

    python benchmarks/products.py [--quick] [--out FOLDER]

Five modalities of 3x28x28 numbers, batches of 256, Laplace likelihoods of scale 0.75, 64 dimensions (32 shared and 32 private
where there are private codes), fully connected nets of 512 units: two hidden layers in an encoder, one in a decoder. Every matrix
product of a step, forward and backward, is recorded as it is made, with its shapes and layouts, and repeated alone: what no
implementation can go below with the same nets and the same arithmetic. Seconds are the processor's, in turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from record import Record, Value, options
from timing import interleaved, peak_memory
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from training import Step

from molyneux.core import Batch, Modality, Progress, Spec
from molyneux.learn import keep_freed_memory, vaes
from molyneux.learn.encoders.nets import Dense, Net
from molyneux.learn.encoders.nets.net import Reshape
from molyneux.learn.likelihoods import Laplace
from molyneux.learn.objectives import DReG

WHAT = (
    "One training step in 32 bits on five modalities of 3x28x28 numbers, batches of {size}, fully connected nets, one thread, "
    "in milliseconds of processor time: without and with the optimiser, and the matrix products in it alone; how many "
    "multiplications and additions these make; and the most memory that tensors of loss and gradient take at the same time. "
    "Last, the joint log-likelihood of {held} samples from {draws} draws"
)
COUNT, SHARED = 5, 64
PRODUCTS = {
    torch.ops.aten.mm.default,
    torch.ops.aten.addmm.default,
    torch.ops.aten.bmm.default,
    torch.ops.aten.baddbmm.default,
    torch.ops.aten.convolution.default,
    torch.ops.aten.convolution_backward.default,
}


@dataclass(frozen=True)
class OneHidden(Dense):
    """Two hidden layers in the encoder and one in the decoder, whose values lie between 0 and 1, as in MultiVae by default."""

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        hidden, last = nn.Linear(inputs, self.width), nn.Linear(self.width, parameters * modality.size)
        return nn.Sequential(hidden, nn.ReLU(), last, nn.Sigmoid(), Reshape(parameters, *modality.shape))


SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "MVAE": {"subsets": "singles"},
    "MMVAE": {"objective": DReG(samples=1)},
    "MMVAE, K = 10": {"objective": DReG(samples=10)},
}
"""What differs from the defaults: MVAE and MMVAE as MultiVae trains them, and an importance-weighted bound of ten samples."""


def names() -> list[str]:
    """The models that learn from so many modalities at once, and the one with ten samples."""
    kinds = {name: getattr(vaes, name) for name in vaes.__all__}
    single = (vaes.UnimodalAutoencoder, vaes.JointEncoder)
    models = [name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, vaes.Autoencoder)]
    models = [name for name in models if not issubclass(kinds[name], single) and not kinds[name].__abstractmethods__]
    return sorted([*models, *(name for name in SETTINGS if "," in name)], key=str.lower)


def build(name: str, spec: Spec, width: int, seed: int = 0) -> nn.Module:
    """A model with the nets and the likelihoods of all."""
    kind: type[vaes.Autoencoder] = getattr(vaes, name.partition(",")[0])
    torch.manual_seed(seed)
    nets: dict[str, Net] = dict.fromkeys(spec.names, OneHidden(width=width))
    half = SHARED // 2 if kind.has_private else 0
    sizes = {"latent_dim": SHARED - half, **({"private_dim": half} if half else {})}
    likelihoods = dict.fromkeys(spec.names, Laplace(0.75))
    settings: dict[str, Any] = {"nets": nets, "likelihoods": likelihoods, **sizes, **SETTINGS.get(name, {})}
    return kind(spec, **settings)


class Recorder(TorchDispatchMode):
    """Keeps every matrix product that is made, as a call with tensors of the same shapes and layouts."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Callable[[], object]] = []
        self.operations = 0
        self._known: dict[tuple[object, ...], Tensor] = {}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Make the product, and keep it."""
        if function in PRODUCTS:
            self.calls.append(partial(function, *map(self._alike, args), **(kwargs or {})))
            if function in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
                left, right = args[-2:]
                self.operations += 2 * left.shape[0] * left.shape[1] * right.shape[1]
        return function(*args, **(kwargs or {}))

    def _alike(self, value: object) -> object:
        if not isinstance(value, Tensor):
            return value
        key = (value.data_ptr(), tuple(value.shape), value.stride(), value.dtype)
        if key not in self._known:
            whole = 1 + sum((length - 1) * stride for length, stride in zip(value.shape, value.stride(), strict=True))
            storage = torch.randn(max(whole, 1)).to(value.dtype)
            self._known[key] = storage.as_strided(value.shape, value.stride())
        return self._known[key]

    def __call__(self) -> None:
        """All products again."""
        with torch.no_grad():
            for call in self.calls:
                call()


def gradient(step: Step) -> None:
    """Loss and gradient, without the optimiser."""
    step.optimizer.zero_grad()
    loss = step.model.loss(step.batch, Progress(0, 1), step.generator).total  # type: ignore[operator]
    loss.backward()


def gradient_memory(step: Step) -> float:
    """MiB that loss and gradient take at most, gradients of weights included; those of the step before are gone already."""
    step.optimizer.zero_grad()
    return peak_memory(partial(gradient, step))[1]


def row(name: str, spec: Spec, batch: Batch, *, width: int, rounds: int, seconds: float) -> dict[str, Value]:
    """One model."""
    step = Step(build(name, spec, width), batch)
    step()
    with Recorder() as products:
        gradient(step)
    memory = gradient_memory(step)
    works = {"products": products, "gradient": partial(gradient, step), "step": step}
    took = interleaved(works, rounds=rounds, seconds=seconds, warm=True, timer=time.process_time)
    return {
        "model": name,
        "products": len(products.calls),
        "GFLOP": products.operations / 1e9,
        "products, ms": 1000 * took["products"],
        "without optimiser, ms": 1000 * took["gradient"],
        "step, ms": 1000 * took["step"],
        "without optimiser / products": took["gradient"] / took["products"],
        "step / products": took["step"] / took["products"],
        "memory, MiB": memory,
    }


def likelihood_row(name: str, spec: Spec, batch: Batch, draws: int, *, width: int, rounds: int) -> dict[str, Value]:
    """The joint log-likelihood of a batch."""
    model = build(name, spec, width).eval()

    def whole() -> None:
        model.log_likelihood(batch, draws, torch.Generator().manual_seed(1))  # type: ignore[operator]

    with Recorder() as products:
        whole()
    took = interleaved({"products": products, "whole": whole}, rounds=rounds, seconds=0.0, warm=True, timer=time.process_time)
    return {
        "model": f"{name}, log-likelihood",
        "products": len(products.calls),
        "GFLOP": products.operations / 1e9,
        "products, ms": 1000 * took["products"],
        "step, ms": 1000 * took["whole"],
        "step / products": took["whole"] / took["products"],
        "memory, MiB": peak_memory(whole)[1],
    }


def main() -> None:
    arguments = options(__doc__).parse_args()
    size, side, width, held, draws = (8, 4, 16, 2, 10) if arguments.quick else (256, 28, 512, 4, 1000)
    rounds = 1 if arguments.quick else 3
    record = Record("products", WHAT.format(size=size, held=held, draws=draws), arguments.out)
    torch.set_num_threads(1)
    keep_freed_memory()
    spec = Spec(tuple(Modality(f"sense{number}", "image", (3, side, side)) for number in range(COUNT)))
    generator = torch.Generator().manual_seed(1)
    batch = Batch({name: torch.rand(size, 3, side, side, generator=generator) for name in spec.names})
    for name in names()[:: 5 if arguments.quick else 1]:
        record.add(row(name, spec, batch, width=width, rounds=rounds, seconds=0.0))
    for name in ("MVAE", "MMVAE"):
        record.add(likelihood_row(name, spec, batch[torch.arange(held)], draws, width=width, rounds=rounds))
    record.write()


if __name__ == "__main__":
    main()
