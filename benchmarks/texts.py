"""A training step and the decoding of the nets that write symbol by symbol, beside the plain way, a word after the other.

    python benchmarks/texts.py [--quick] [--out FOLDER]

The VAEs of "Unsupervised Representation Disentanglement of Text": batches of 256 sentences of YNOC (vectors of 4, LSTM of 32,
code of 4 numbers) and of 512 with parts of speech (4, 64, 8); 32 bits, one thread where nothing else is said. A step is:
gradients to zero, loss, backward, Adam; it is also taken inside `fit`. The plain way computes the same loss with the same
weights in a loop over words of LSTM cells, as one would write it by hand; plain decoding writes a text at a time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import torch
from record import Record, Value, options
from torch import Tensor, nn
from torch.nn import functional
from training import Step

from molyneux.core import Batch, Loss, Progress, Source
from molyneux.core.views import counted_positions, to_model
from molyneux.data import PartsOfSpeech, Ynoc, load
from molyneux.data.worlds.sentences import SentenceWorld
from molyneux.learn import VAE, Training, fit
from molyneux.learn.encoders.nets import CausalTransformer, Net, Recurrent, Slots
from molyneux.learn.encoders.nets.recurrent import RecurrentLayers
from molyneux.learn.posteriors import expert_parameters
from molyneux.learn.training.hardware import computes_lstm_in_bf16, keep_freed_memory

WHAT = (
    "VAEs of sentences as published, 32 bits unless said: median milliseconds by the clock and of processor time of a training "
    "step, alone and inside `fit` (means there), and of the decoding of a batch of codes; `plain` is a loop over the words or "
    "texts, and `times as fast` compares processor times; `published code` was timed once, on two cores of such a machine"
)


@dataclass(frozen=True)
class Case:
    """A world with the published sizes, and milliseconds that the published code takes for a step."""

    world: SentenceWorld
    batch: int
    embedding: int
    width: int
    latent: int
    published: float

    def model(self, net: Net, latent: int | None = None) -> VAE:
        return VAE(self.world.spec, latent_dim=latent or self.latent, nets={self.world.spec.names[0]: net})

    def lstm(self, **settings: object) -> VAE:
        return self.model(Recurrent(embedding=self.embedding, width=self.width, **settings))


SLOTS = Slots(slots=12)
"""The net of `configs/studies/ynoc-best.yaml`."""
CASES = (Case(Ynoc(), 256, 4, 32, 4, 26.0), Case(PartsOfSpeech(), 512, 4, 64, 8, 108.0))


@dataclass(frozen=True)
class Effort:
    """How thoroughly time is taken: calls of each work, steps of `fit`, texts to decode."""

    calls: int
    steps: int
    texts: int


def main() -> None:
    arguments = options(__doc__).parse_args()
    record = Record("texts", WHAT, arguments.out)
    torch.set_num_threads(1)
    keep_freed_memory()  # as the commands do
    effort = Effort(1, 4, 4) if arguments.quick else Effort(100, 300, 256)
    for case in CASES:
        for row in (*step_rows(case, effort), *decoding_rows(case, effort)):
            record.add({"world": case.world.name, **row})
    record.write()


class Plain(nn.Module):
    """The loss of a VAE with an LSTM on each side, initial state by the code, a word at a time; lends the nets of `model`."""

    def __init__(self, model: VAE) -> None:
        super().__init__()
        self.modality = model.spec.modalities[0]
        self.encoder, self.decoder = model.encoders[self.modality.name], model.decoders[self.modality.name]

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The mean over the batch of distortion and rate, in nats."""
        ids = to_model(self.modality, batch.views[self.modality.name])
        loc, log_variance = expert_parameters(self.read(ids))
        codes = loc + (log_variance / 2).exp() * torch.randn(loc.shape, generator=generator)
        rate = 0.5 * (loc.square() + log_variance.exp() - 1 - log_variance).sum(-1)
        return Loss((rate + self.distortion(codes, ids)).mean())

    def read(self, ids: Tensor) -> Tensor:
        """The last layer of the encoder at the last word that counts."""
        last = counted_positions(self.modality, ids).sum(-1) - 1
        state = self.nothing(ids)
        found = state[0]
        for position in range(ids.shape[1]):
            state = cell(self.encoder.recurrent, self.encoder.table(ids[:, position]), state)
            found = torch.where((last == position).unsqueeze(-1), state[0], found)
        return self.encoder.last(found)

    def distortion(self, codes: Tensor, ids: Tensor) -> Tensor:
        """Nats of each text given its code."""
        counted = counted_positions(self.modality, ids)
        state = (self.decoder.opening(codes), self.nothing(ids)[1])
        words, total = torch.full_like(ids[:, 0], self.decoder.first), torch.zeros(len(ids))
        for position in range(ids.shape[1]):
            state = cell(self.decoder.recurrent, self.decoder.table(words), state)
            words = ids[:, position]
            cost = functional.cross_entropy(self.decoder.last(state[0]), words, reduction="none")
            total = total + cost * counted[:, position]
        return total

    def nothing(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """States of zeros."""
        return torch.zeros(len(ids), self.encoder.recurrent.width), torch.zeros(len(ids), self.encoder.recurrent.width)


def cell(layers: RecurrentLayers, values: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """One word of an LSTM."""
    return torch.lstm_cell(values, state, layers.kernels[0], layers.recurrent_kernels[0], layers.biases[0], layers.no_bias)


def step_rows(case: Case, effort: Effort) -> Iterator[dict[str, Value]]:
    """A training step of each net, the LSTM's beside the plain way; and the LSTM's inside `fit`, beside the published code's."""
    source = load(case.world.source("train", case.batch * effort.steps, seed=1))
    batch = source.batch(np.arange(case.batch))
    models = {"LSTM": case.lstm(), "GRU": case.lstm(cell="gru"), "transformer": case.model(CausalTransformer())}
    models["Slots"] = case.model(SLOTS, SLOTS.slots)
    steps = {name: Step(model, batch) for name, model in models.items()} | {"plain": Step(Plain(case.lstm()), batch)}
    nets = ["LSTM", "GRU", "transformer", "Slots"]
    if computes_lstm_in_bf16():
        steps["LSTM, bf16"] = Step(case.lstm(), batch, bf16=True)
        nets.insert(1, "LSTM, bf16")
    took = timed(steps, effort.calls)
    for name in nets:
        row = {"net": name, "what": "training step", "threads": 1, "batch": case.batch, **columns(took[name])}
        yield {**row, **beside(took, name, "plain")} if name == "LSTM" else row
    if "LSTM, bf16" not in nets:
        yield {"net": "LSTM, bf16", "what": "not timed: this processor cannot compute it", "threads": 1, "batch": case.batch}
    for threads in (1, 2):
        for name, precision in (("LSTM", "32"), *([("LSTM, bf16", "bf16")] if "LSTM, bf16" in nets else [])):
            training = Training(batch_size=case.batch, precision=precision, threads=threads)
            row = {"net": name, "what": "step in fit", "threads": threads, "batch": case.batch}
            yield {**row, **columns(fitted(source, case, training, effort.steps)), "published code, ms": case.published}


def decoding_rows(case: Case, effort: Effort) -> Iterator[dict[str, Value]]:
    """A batch of codes written greedily, drawn, and searched for with beams."""
    decoder = case.lstm().eval().decoders[case.world.spec.names[0]]
    codes = torch.randn(effort.texts, case.latent)
    ways: dict[str, Callable[[Tensor], Tensor]] = {
        "greedy decoding": lambda some: decoder(some).greedy(),
        "drawing": lambda some: decoder(some).sample(),
        "five beams": lambda some: decoder(some).best(5),
    }
    for name, way in ways.items():
        took = timed({"together": partial(way, codes), "alone": partial(one_by_one, way, codes)}, max(1, effort.calls // 20))
        row = {"net": "LSTM", "what": name, "threads": 1, "batch": effort.texts, **columns(took["together"])}
        yield {**row, **beside(took, "together", "alone")}


def one_by_one(way: Callable[[Tensor], Tensor], codes: Tensor) -> list[Tensor]:
    """A text at a time."""
    return [way(code) for code in codes.split(1)]


Times = tuple[float, float]
"""Milliseconds by the clock and of processor time."""


def timed(works: Mapping[str, Callable[[], object]], calls: int) -> dict[str, Times]:
    """Medians over so many calls of each work, taken in turns after a first call that does not count."""
    took: dict[str, list[Times]] = {name: [] for name in works}
    for number in range(calls + 1):
        for name, work in works.items():
            before = time.perf_counter(), time.process_time()
            work()
            after = time.perf_counter(), time.process_time()
            if number:
                took[name].append((after[0] - before[0], after[1] - before[1]))
    return {name: (1000 * median(a for a, _ in times), 1000 * median(b for _, b in times)) for name, times in took.items()}


def columns(took: Times) -> dict[str, Value]:
    return {"ms": took[0], "processor, ms": took[1]}


def beside(took: Mapping[str, Times], name: str, plain: str) -> dict[str, Value]:
    """The plain way, and how much faster the other is by processor time, which what else the machine does hardly changes."""
    return {"plain, ms": took[plain][0], "plain, processor, ms": took[plain][1], "times as fast": took[plain][1] / took[name][1]}


def fitted(source: Source, case: Case, training: Training, steps: int) -> Times:
    """A step inside `fit`, with everything that it does between steps."""
    _, half, whole = (trained(source, case, replace(training, steps=count)) for count in (2, steps // 2, steps))
    return whole[0], 1000 * (whole[1] - half[1]) / (steps - steps // 2)


def trained(source: Source, case: Case, training: Training) -> Times:
    """Milliseconds by the clock of a step inside `fit`, and seconds of processor time of the whole call."""
    before = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        history = fit(case.lstm(), source, None, training, Path(folder), seed=1)
    return 1000 * case.batch / history.rows[-1]["samples_per_second"], time.process_time() - before


if __name__ == "__main__":
    main()
