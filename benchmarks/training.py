"""A training step of each model on pictures and captions, beside the plain way.

    python benchmarks/training.py [--quick] [--out FOLDER]

CdSprites level 3, 64x64 pixels, batches of 64 and 128; the default nets and the papers' nets; 32 bits, and bf16 with channels
last; one thread and two. A step is: gradients to zero, loss, backward, Adam. Beside MVAE stands the same loss written
plainly, with the same nets, as the published toolkit trains it: every subset of modalities is a full forward pass of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product

import numpy as np
import torch
from record import Record, Value, options
from timing import interleaved, peak_memory
from torch import Tensor, nn

from molyneux.core import Batch, Loss, Progress, Spec, Trainable
from molyneux.core.views import to_model
from molyneux.data import CdSprites
from molyneux.learn import DMVAE, MMVAE, MVAE, MoPoE
from molyneux.learn.encoders.nets import CharacterTransformer, Convolutional, Net
from molyneux.learn.posteriors import expert_parameters

WHAT = (
    "One training step on CdSprites level 3 (images of 64x64 pixels and captions): calls of encoders and decoders, median "
    "time, samples per second, and peak memory of weights, gradients, moments and activations; `MVAE, plain` is the loss of "
    "MVAE with a full forward pass for every subset"
)
NETS: Mapping[str, Mapping[str, Net]] = {"default": {}, "papers'": {"image": Convolutional(), "text": CharacterTransformer()}}
LATENT = 24


def main() -> None:
    arguments = options(__doc__).parse_args()
    record = Record("training", WHAT, arguments.out)
    torch.set_num_threads(1)
    effort = Effort((1,), 1, 0.0) if arguments.quick else Effort((1, 2), 2, 0.5)
    sizes, names = ((8,), ("default",)) if arguments.quick else ((64, 128), tuple(NETS))
    for nets, size, bf16 in product(names, sizes, (False, True)):
        for row in Setting(CdSprites(level=3), nets, size, bf16).rows(effort):
            record.add(row)
    record.write()


class Plain(nn.Module):
    """MVAE as the published toolkit trains it: each subset is encoded, combined, drawn from and decoded on its own.

    Without that toolkit's other costs (copies of the batch). The loss is that of `model`, with all subsets that reconstruct all
    modalities, and so is its value where the noise is the same.

    Args:
        model: lends its nets and settings.
    """

    def __init__(self, model: MVAE) -> None:
        super().__init__()
        self.spec, self.latent_dim, self.scales = model.spec, model.latent_dim, model.scales
        self.encoders, self.decoders = model.encoders, model.decoders

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        names = self.spec.names
        subsets = [subset for count in range(1, len(names) + 1) for subset in combinations(names, count)]
        return Loss(torch.stack([self.bound(batch, subset, generator) for subset in subsets]).sum())

    def bound(self, batch: Batch, subset: tuple[str, ...], generator: torch.Generator | None) -> Tensor:
        """The negative evidence lower bound of one subset, mean over the batch."""
        views = {modality.name: to_model(modality, batch.views[modality.name]) for modality in self.spec.modalities}
        precision, weighted = torch.ones(len(batch), self.latent_dim), torch.zeros(len(batch), self.latent_dim)
        for name in subset:
            loc, log_variance = expert_parameters(self.encoders[name](views[name]))
            precision = precision + (-log_variance).exp()
            weighted = weighted + loc * (-log_variance).exp()
        loc, variance = weighted / precision, 1 / precision
        codes = loc + variance.sqrt() * torch.randn(loc.shape, generator=generator)
        cost = 0.5 * (loc.square() + variance - 1 - variance.log()).sum(-1)
        for name, view in views.items():
            cost = cost - self.scales[name] * self.decoders[name](codes).log_prob(view)
        return cost.mean()


def mvae(spec: Spec, nets: Mapping[str, Net]) -> MVAE:
    """With all subsets, each reconstructing all modalities, as in the toolkit."""
    return MVAE(spec, latent_dim=LATENT, nets=nets, subsets="all", reconstruct="all")


MODELS: Mapping[str, Callable[[Spec, Mapping[str, Net]], nn.Module]] = {
    "MVAE, plain": lambda spec, nets: Plain(mvae(spec, nets)),
    "MVAE": mvae,
    "MMVAE": lambda spec, nets: MMVAE(spec, latent_dim=LATENT, nets=nets),
    "MoPoE": lambda spec, nets: MoPoE(spec, latent_dim=LATENT, nets=nets),
    "DMVAE": lambda spec, nets: DMVAE(spec, latent_dim=LATENT, nets=nets),
}


class Step:
    """One optimiser step on one batch, as `fit` makes it.

    Args:
        model: what learns.
        batch: what it learns from.
        bf16: bf16 autocast, with channels last in weights and images.
    """

    def __init__(self, model: nn.Module, batch: Batch, *, bf16: bool = False) -> None:
        assert isinstance(model, Trainable)
        self.model, self.batch, self.bf16 = model, batch, bf16
        if bf16:
            model.to(memory_format=torch.channels_last)
            self.batch = replace(batch, views={name: channels_last(view) for name, view in batch.views.items()})
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        self.generator = torch.Generator().manual_seed(1)

    def __call__(self) -> None:
        self.optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=self.bf16):
            loss = self.model.loss(self.batch, Progress(0, 1), self.generator).total
        loss.backward()
        self.optimizer.step()


def channels_last(view: Tensor) -> Tensor:
    return view.contiguous(memory_format=torch.channels_last) if view.ndim == 4 else view


@dataclass(frozen=True)
class Effort:
    """How thoroughly time is taken: on how many threads, in how many rounds of how many seconds."""

    threads: tuple[int, ...]
    rounds: int
    seconds: float


@dataclass(frozen=True)
class Setting:
    """What all models are compared in."""

    world: CdSprites
    nets: str
    size: int
    bf16: bool

    def rows(self, effort: Effort) -> Iterator[dict[str, Value]]:
        """One row for each model."""
        made = {name: peak_memory(partial(self.begin, name)) for name in MODELS}
        steps = {name: step for name, (step, _) in made.items()}
        times = {threads: on_threads(threads, steps, effort) for threads in effort.threads}
        for name, step in steps.items():
            head = {"model": name, "nets": self.nets, "batch": self.size, "arithmetic": "bf16" if self.bf16 else "32 bits"}
            counted = calls(step.model, step.batch)
            yield {**head, **counted, **speed(name, self.size, times), "memory, MiB": made[name][1]}

    def begin(self, name: str) -> Step:
        """A new model after two steps, which allocate all that training ever does."""
        batch = self.world.batch(np.arange(self.size), split="train", seed=1)
        step = Step(MODELS[name](self.world.spec, NETS[self.nets]), batch, bf16=self.bf16)
        step()
        step()
        return step


def on_threads(threads: int, steps: Mapping[str, Step], effort: Effort) -> dict[str, float]:
    """Median seconds of each step on so many threads."""
    torch.set_num_threads(threads)
    try:
        return interleaved(steps, rounds=effort.rounds, seconds=effort.seconds, warm=True)
    finally:
        torch.set_num_threads(1)


def speed(name: str, size: int, times: Mapping[int, Mapping[str, float]]) -> dict[str, Value]:
    """Columns of time and speed."""
    row: dict[str, Value] = {}
    for threads, took in times.items():
        on = f"{threads} thread{'s' * (threads > 1)}"
        row |= {f"ms, {on}": 1000 * took[name], f"samples/s, {on}": size / took[name]}
    return row if name != "MVAE" else {**row, "times as fast as plain": times[1]["MVAE, plain"] / times[1]["MVAE"]}


def calls(model: nn.Module, batch: Batch) -> dict[str, int]:
    """Calls of all encoders and of all decoders in one loss, counted."""
    counts = dict.fromkeys(("encoder calls", "decoder calls"), 0)
    hooks = []
    for column, nets in zip(counts, (model.encoders, model.decoders), strict=True):

        def count(*_: object, column: str = column) -> None:
            counts[column] += 1

        hooks += [net.register_forward_pre_hook(count) for net in nets.values()]
    with torch.no_grad():
        model.loss(batch, Progress(0, 1))
    for hook in hooks:
        hook.remove()
    return counts


if __name__ == "__main__":
    main()
