"""A training step of each predictor on pictures and captions.

    python benchmarks/predictors.py [--quick] [--out FOLDER]

64x64 pixels, captions of 6 to 12 words of a vocabulary of 28, batches of 128; 32 bits, and bf16 with channels last; one thread,
by the time of the processor. Samples are contrast sets of two pictures and two captions, whose views are encoded once; beside
them samples that have nothing to do with each other. A step is: gradients to zero, loss, backward, Adam. Two models stand beside
a plain version with the same weights: the LSTM that reads the picture beside every word, and the relation network whose first
layer reads every pair of regions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import torch
from record import Record, Value, options
from timing import interleaved, peak_memory
from torch import Tensor
from training import Step

from molyneux.core import Batch, Modality, Spec, Target
from molyneux.learn import keep_freed_memory
from molyneux.learn.encoders import BagOfWords, Encoding
from molyneux.learn.predictors import (
    MAC,
    Attention,
    CoAttention,
    CompactBilinear,
    FiLM,
    JoinedVectors,
    JointTransformer,
    NeuralModules,
    PictureInLSTM,
    PictureOnly,
    Predictor,
    RelationNetwork,
    StackedAttention,
    TextOnly,
)

WHAT = (
    "One training step of each predictor on pictures of 64x64 pixels and captions of up to 12 words, batches of 128, one thread: "
    "weights, samples per second of the processor in contrast sets of two pictures and two captions and where all views differ, "
    "and peak memory of weights, gradients, moments and activations; `times plain` compares with a version that computes for "
    "every word, or every pair of regions, what is the same for all"
)
WORDS, LONGEST, SIDE = 28, 12, 64


class PlainPictureInLSTM(PictureInLSTM):
    """The picture is copied beside every word, and torch's LSTM reads both."""

    def states(self, picture: Tensor, words: Tensor, counts: Tensor) -> Tensor:
        beside = picture.unsqueeze(1).expand(-1, words.shape[1], -1)
        return self.recurrent(torch.cat([beside, words.to(beside.dtype)], -1).transpose(0, 1))[0].transpose(0, 1)


class PlainRelationNetwork(RelationNetwork):
    """Every pair of regions and the text stand side by side before the first layer."""

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        regions = picture.parts
        size, count, _ = regions.shape
        shape = (size, count, count, -1)
        parts = [regions.unsqueeze(2).expand(shape), regions.unsqueeze(1).expand(shape)]
        parts.append(text.vector.to(regions.dtype)[:, None, None].expand(shape))
        weight = torch.cat([self.first.weight, self.second.weight, self.question.weight], 1)
        first = torch.nn.functional.linear(torch.cat(parts, -1), weight, self.question.bias)
        return self.relation(first).mean((1, 2))


MODELS: Mapping[str, Callable[[Spec], Predictor]] = {
    "CNN": PictureOnly,
    "LSTM": TextOnly,
    "CNN+LSTM:Mult": JoinedVectors,
    "CNN+BoW:Mult": partial(JoinedVectors, words=BagOfWords(64)),
    "CNN:LSTM, plain": PlainPictureInLSTM,
    "CNN:LSTM": PictureInLSTM,
    "co-attention, parallel": CoAttention,
    "co-attention, alternating": partial(CoAttention, order="alternating"),
    "compact bilinear": CompactBilinear,
    "attention": Attention,
    "stacked attention": StackedAttention,
    "relation network, plain": PlainRelationNetwork,
    "relation network": RelationNetwork,
    "FiLM": FiLM,
    "MAC": MAC,
    "transformer": JointTransformer,
    "neural modules": NeuralModules,
}


def main() -> None:
    arguments = options(__doc__).parse_args()
    record = Record("predictors", WHAT, arguments.out)
    torch.set_num_threads(1)
    rounds, seconds = (1, 0.0) if arguments.quick else (3, 0.5)
    keep_freed_memory()
    batch = samples(4, side=16) if arguments.quick else samples(128)
    for bf16 in (True,) if arguments.quick else (False, True):
        for row in rows(batch, bf16=bf16, rounds=rounds, seconds=seconds):
            record.add(row)
    record.write()


def spec(side: int = SIDE) -> Spec:
    """Pictures, captions and whether they agree; read as trees, captions have symbols with 0, 1 and 2 arguments in turn."""
    symbols = ("", *(f"word{number}" for number in range(WORDS)))
    arities = tuple(number % 3 for number in range(len(symbols)))
    text = Modality("caption", "text", (LONGEST,), "uint8", symbols, padding=0, arities=arities)
    agree = Target("agree", "agreement", contrast=(2, 2))
    return Spec((Modality("image", "image", (3, side, side), "uint8"), text), targets=(agree,))


def samples(size: int, side: int = SIDE) -> Batch:
    """Random samples."""
    draw = partial(torch.randint, generator=torch.Generator().manual_seed(0))
    lengths = draw(LONGEST // 2, LONGEST + 1, (size, 1))
    ids = draw(1, WORDS + 1, (size, LONGEST)).where(torch.arange(LONGEST) < lengths, 0).to(torch.uint8)
    views = {"image": draw(0, 256, (size, 3, side, side), dtype=torch.uint8), "caption": ids}
    return Batch(views, targets={"agree": draw(0, 2, (size,))})


def in_sets(batch: Batch) -> Batch:
    """The samples with the pictures and captions of every four in contrast sets of two of each."""
    rows = torch.arange(len(batch))
    first = rows // 4 * 4
    shown = {"image": first + rows // 2 % 2, "caption": first + rows % 2}
    return replace(batch, views={name: view[shown[name]] for name, view in batch.views.items()})


def rows(batch: Batch, *, bf16: bool, rounds: int, seconds: float) -> Iterator[dict[str, Value]]:
    """One row for each model; a model and its plain version, in sets and not, are measured in turns."""
    for name in (name for name in MODELS if not name.endswith(", plain")):
        pair = [key for key in (f"{name}, plain", name) if key in MODELS]
        made = {key: peak_memory(partial(begin, key, in_sets(batch), bf16)) for key in pair}
        steps = {key: step for key, (step, _) in made.items()}
        works = {**steps, **{f"{key}, no sets": begin(key, batch, bf16) for key in pair}}
        took = interleaved(works, rounds=rounds, seconds=seconds, warm=True, timer=time.process_time)
        for key in pair:
            weights = sum(parameter.numel() for parameter in steps[key].model.parameters())
            row: dict[str, Value] = {"model": key, "weights": weights, "arithmetic": "bf16" if bf16 else "32 bits"}
            row |= {"samples/s, contrast sets": len(batch) / took[key], "samples/s": len(batch) / took[f"{key}, no sets"]}
            row["memory, MiB"] = made[key][1]
            yield row if len(pair) == 1 else {**row, "times plain": took[pair[0]] / took[key]}


def begin(name: str, batch: Batch, bf16: bool) -> Step:
    """A new model after two steps, which allocate all that training ever does."""
    torch.manual_seed(0)
    step = Step(MODELS[name](spec(batch.views["image"].shape[-1])), batch, bf16=bf16)
    step()
    step()
    return step


if __name__ == "__main__":
    main()
