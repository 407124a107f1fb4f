"""Trained models in use: how long it takes to open one and to generate with it, beside the bare calls of its network.

    python benchmarks/trained.py [--quick] [--out FOLDER]

The models that come with the package, one thread, processor time. The bare calls encode, draw and decode the same inputs in
batches of the same size with one generator; a sample then depends on its batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from record import Record, options
from timing import clock, interleaved

from molyneux.core import Batch, Decodes, Encodes, Predicts
from molyneux.measure.generation import decoded, prior_codes
from molyneux.run import TrainedModel, open_model, shipped_names
from molyneux.run.trained.noise import ROWS

WHAT = (
    "Opening a trained model, and 1,000 samples of all its modalities from its prior, answers to 1,000 inputs or their codes, "
    "beside the bare calls of its network; processor time, one thread"
)


def main() -> None:
    arguments = options(__doc__).parse_args()
    record = Record("trained", WHAT, arguments.out)
    torch.set_num_threads(1)
    count, rounds = (40, 1) if arguments.quick else (1_000, 3)
    for name in shipped_names():
        opening = clock(partial(open_model, name), time.process_time)
        model = open_model(name)
        what, works = _works(model, count)
        took = interleaved(works, rounds=rounds, seconds=0.0, timer=time.process_time)
        row = {
            "model": name,
            "does": what,
            "open, s": opening,
            "samples": count,
            "seconds": took["whole"],
            "bare, s": took["bare"],
        }
        record.add({**row, "times bare": took["whole"] / took["bare"]})
    record.write()


def _works(model: TrainedModel, count: int) -> tuple[str, dict[str, Callable[[], Any]]]:
    """What is compared: the calls of a user, and those of the network alone."""
    if isinstance(model.module, Decodes) and isinstance(model.module, Encodes):
        names = list(model.modalities)
        return "generate", {
            "whole": partial(model.generate, names, count=count, seed=1),
            "bare": partial(_bare_generation, model, names, count),
        }
    view = {item.name: torch.zeros((count, *item.shape), dtype=getattr(torch, item.dtype)) for item in model.spec.modalities}
    arrays = {name: part.numpy() for name, part in view.items()}
    if isinstance(model.module, Encodes):
        return "encode", {"whole": partial(model.encode, inputs=arrays), "bare": partial(_bare_encoding, model, Batch(view))}
    assert isinstance(model.module, Predicts)
    return "predict", {"whole": partial(model.predict, inputs=arrays), "bare": partial(_bare_prediction, model, Batch(view))}


def _bare_generation(model: TrainedModel, names: list[str], count: int) -> None:
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for _ in range(0, count, ROWS):
            decoded(model.module, prior_codes(model.module, ROWS, generator), model.spec, only=names)


def _bare_encoding(model: TrainedModel, batch: Batch) -> None:
    with torch.no_grad():
        model.module.encode(batch, model.spec.names)


def _bare_prediction(model: TrainedModel, batch: Batch) -> None:
    with torch.no_grad():
        for start in range(0, len(batch), ROWS):
            model.module.predict(batch[start : start + ROWS])


if __name__ == "__main__":
    main()
