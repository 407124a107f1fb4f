"""Speed of corruptions: whole batches, beside plain versions that go through samples, steps and values one by one.

    python benchmarks/imperfections.py [--quick] [--out FOLDER]

Series have the size of a group of stocks: 1017 test samples of 60 days and 6 stocks. The plain versions draw a number for every
value or step in Python loops, as the published code of MultiBench does; its structured drop begins at every step, ours in blocks.
Measured by processor time, plain and whole batches in turn. Pictures have 64x64 pixels in 3 colours; noise and blur of pictures
are compared with whole batches by NumPy and torch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from record import Record, Value, options
from timing import interleaved

from molyneux.core import Batch, Modality, Spec
from molyneux.data.imperfections import (
    Blur,
    Corruption,
    Dropout,
    Flip,
    GaussianNoise,
    Grayscale,
    LetterSwap,
    Rotation,
    SaltAndPepper,
    StructuredDropout,
    Typos,
)

WHAT = (
    "Samples corrupted in a second of processor time at strength 0.3, and how many times as many as by plain Python loops, of "
    "pictures by NumPy and torch"
)
STEPS, FEATURES, STRENGTH = 60, 6, 0.3
LETTERS = (" ", *"abcdefghijklmnopqrstuvwxyz")
Plain = Callable[[np.ndarray, float, np.random.Generator], np.ndarray]


def main() -> None:
    arguments = options(__doc__).parse_args()
    record = Record("imperfections", WHAT, arguments.out)
    torch.set_num_threads(1)
    rounds, seconds = (1, 0.0) if arguments.quick else (5, 0.5)
    size, pictures = (30, 8) if arguments.quick else (1017, 500)
    for row in (*series_rows(size, rounds, seconds), *other_rows(pictures, rounds, seconds)):
        record.add(row)
    record.write()


def series_rows(size: int, rounds: int, seconds: float) -> Iterator[dict[str, Value]]:
    """Series, beside the plain versions."""
    for corruption, plain in SERIES.items():
        batch, spec = series(size)
        values = batch.views["prices"].numpy()
        works = {
            "whole": whole(corruption, batch, spec),
            "plain": lambda plain=plain, values=values: plain(values.copy(), STRENGTH, np.random.default_rng(0)),
        }
        took = interleaved(works, rounds=rounds, seconds=seconds, timer=time.process_time)
        yield row(corruption, "series", size, took["whole"], took["plain"])


def other_rows(size: int, rounds: int, seconds: float) -> Iterator[dict[str, Value]]:
    """Pictures and texts."""
    rng = np.random.default_rng(0)
    image = Modality("image", "image", (3, 64, 64), "uint8")
    text = Modality("text", "text", (60,), "uint8", LETTERS, 0)
    views = {
        "image": torch.from_numpy(rng.integers(0, 256, (size, 3, 64, 64), dtype=np.uint8)),
        "text": torch.from_numpy(rng.integers(0, 27, (size, 60), dtype=np.uint8)),
    }
    for modality, corruptions in ((image, PICTURES), (text, TEXTS)):
        batch, spec = Batch({modality.name: views[modality.name]}), Spec((modality,))
        for corruption in corruptions:
            works: dict[str, Callable[[], object]] = {"whole": whole(corruption, batch, spec)}
            if plain := PLAIN_PICTURES.get(corruption):
                works["plain"] = partial(plain, views["image"].numpy(), STRENGTH, np.random.default_rng(0))
            took = interleaved(works, rounds=rounds, seconds=seconds, timer=time.process_time)
            yield row(corruption, modality.name, size, took["whole"], took.get("plain"))


def row(corruption: Corruption, of: str, size: int, took: float, plain: float | None) -> dict[str, Value]:
    found: dict[str, Value] = {"corruption": corruption.title, "of": of, "samples": size, "samples/s": size / max(took, 1e-9)}
    return found if plain is None else {**found, "times plain": plain / max(took, 1e-9)}


def whole(corruption: Corruption, batch: Batch, spec: Spec) -> Callable[[], Batch]:
    """A call that corrupts a whole batch."""
    return lambda: corruption.corrupt(batch, spec, STRENGTH, np.arange(len(batch)), 1)


def series(size: int) -> tuple[Batch, Spec]:
    values = np.random.default_rng(0).normal(size=(size, STEPS, FEATURES)).astype(np.float32)
    return Batch({"prices": torch.from_numpy(values)}), Spec((Modality("prices", "series", (STEPS, FEATURES)),))


def plain_noise(values: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """Noise on every value, one by one."""
    for sample in range(len(values)):
        for step in range(len(values[sample])):
            for feature in range(len(values[sample][step])):
                values[sample][step][feature] += rng.normal(0, strength)
    return values


def plain_drop(values: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """Every step is lost with the strength as its probability."""
    for sample in range(len(values)):
        for step in range(len(values[sample])):
            if rng.random() < strength:
                values[sample][step] = np.zeros_like(values[sample][step])
    return values


def plain_structured_drop(values: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """Ten steps are lost from every step on with the strength as its probability, as published."""
    for sample in range(len(values)):
        for step in range(len(values[sample])):
            if rng.random() < strength and np.any(values[sample][step]):
                values[sample][step : step + 10] = 0
    return values


def plain_picture_noise(values: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """Noise on whole batches of bytes by NumPy's own functions."""
    noisy = values / 255.0 + rng.normal(0, strength, values.shape)
    return np.asarray((noisy.clip(0.0, 1.0) * 255.0).round().astype(np.uint8))


def plain_blur(values: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """Shrunk and enlarged by torch, in 64 bits."""
    small = max(1, round((1.0 - strength) * values.shape[-1]))
    shrunk = torch.nn.functional.interpolate(torch.from_numpy(values).double() / 255.0, size=small, mode="area")
    enlarged = torch.nn.functional.interpolate(shrunk, size=values.shape[-1], mode="nearest")
    return np.asarray((enlarged * 255.0).round().to(torch.uint8).numpy())


SERIES: dict[Corruption, Plain] = {
    GaussianNoise(): plain_noise,
    Dropout(): plain_drop,
    StructuredDropout(): plain_structured_drop,
}
PICTURES = (GaussianNoise(), SaltAndPepper(), Blur(), Grayscale(), Flip(), Rotation())
PLAIN_PICTURES: dict[Corruption, Plain] = {GaussianNoise(): plain_picture_noise, Blur(): plain_blur}
TEXTS = (Typos(), LetterSwap(), Dropout())


if __name__ == "__main__":
    main()
