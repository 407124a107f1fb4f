"""Speed of building PolyMNIST batches, beside a plain version of the published procedure, which makes one image at a time.

    python benchmarks/digits.py [--quick] [--out FOLDER]

Measured by processor time of one thread: batches of 256 samples in random order, of 2, 5 and 10 modalities, and of 5 with small
digits at random places; and the published procedure in NumPy and Pillow (a crop of the background, floats, inverted where the
digit is), without writing files. Digits are those of a twin, for their values change no speed.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image
from record import Record, Value, options
from timing import interleaved

from molyneux.data import PolyMNIST, write_twin
from molyneux.data.benchmarks.polymnist import procedural_backgrounds

WHAT = (
    "Samples of PolyMNIST made in a second of processor time, in batches of 256 in random order; `times plain` compares with the "
    "published procedure for one image at a time, without files"
)
BATCH = 256
SETTINGS = ((2, 1.0), (5, 1.0), (5, 0.75), (10, 1.0))


def main() -> None:
    arguments = options(__doc__).parse_args()
    quick, rng = arguments.quick, np.random.default_rng(0)
    record = Record("digits", WHAT, arguments.out)
    with tempfile.TemporaryDirectory() as folder:
        twin = write_twin("PolyMNIST", Path(folder) / "twin", size=300 if quick else 7_000)
        for modalities, scale in SETTINGS:
            dataset = PolyMNIST(twin.folder, modalities=modalities, scale=scale)
            source = dataset.source("train", seed=1)
            works = {
                "whole batches": lambda source=source: source.batch(rng.integers(0, len(source), BATCH)),
                "plain": lambda dataset=dataset: plain_batch(dataset, 4, rng),
            }
            rounds, seconds = (1, 0.01) if quick else (5, 0.5)
            took = interleaved(works, rounds=rounds, seconds=seconds, timer=time.process_time)
            plain = 4 / took["plain"]
            for way, count in (("whole batches", BATCH), ("plain", 4)):
                record.add(row(modalities, scale, way, count / took[way], plain))
    record.write()


def row(modalities: int, scale: float, way: str, rate: float, plain: float) -> dict[str, Value]:
    return {
        "modalities": modalities,
        "scale": scale,
        "way": way,
        "samples per processor second": rate,
        "times plain": rate / plain,
    }


def plain_batch(dataset: PolyMNIST, count: int, rng: np.random.Generator) -> list[list[np.ndarray]]:
    """Samples, one image after the other."""
    spec, scale = dataset.spec, dataset.choices["scale"]
    pictures = [Image.fromarray(picture.transpose(1, 2, 0)) for picture in procedural_backgrounds()]
    digits = rng.integers(0, 256, (count, len(spec.names), 28, 28), dtype=np.uint8)
    return [[plain_image(digit, picture, scale, rng) for digit, picture in zip(row, pictures, strict=False)] for row in digits]


def plain_image(digit: np.ndarray, background: Image.Image, scale: float, rng: np.random.Generator) -> np.ndarray:
    """A digit on a square of a background, (3, 28, 28) uint8."""
    if scale < 1:
        side = int(28 * scale)
        small = np.asarray(Image.fromarray(digit).resize((side, side), Image.Resampling.BILINEAR))
        top, left = rng.integers(0, 28 - side, 2)
        digit = np.zeros_like(digit)
        digit[top : top + side, left : left + side] = small
    x, y = rng.integers(0, background.size[0] - 28), rng.integers(0, background.size[1] - 28)
    square = np.asarray(background.crop((x, y, x + 28, y + 28)), np.float32).transpose(2, 0, 1) / 255
    ink = digit > 128
    square[:, ink] = 1 - square[:, ink]
    return (square * 255 + 0.5).astype(np.uint8)


if __name__ == "__main__":
    main()
