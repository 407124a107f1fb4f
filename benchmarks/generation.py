"""Speed of making CdSprites, GeBiD and ShapeWorld samples, beside plain versions that make one image at a time.

    python benchmarks/generation.py [--quick] [--size 200000] [--plain 300] [--folder FOLDER] [--out FOLDER]

Measured, in images per second of processor time and of the clock: making batches (every level, one and two threads, GeBiD's
spirals, and every kind of ShapeWorld in large and small batches and as a training reads them), storing level 5 in the native
format (one and two threads, with checksums and fsync; two sizes show whether memory grows), and two plain versions in NumPy and
Pillow of the published procedure for level 5. The fair comparison comes first: textures of 64x64 grey pixels and no files, as
the batches are made. The other has textures of 640x480 RGB pixels and a PNG file per image, as the published generator works. A
row that cannot be measured (threads without cores of their own, no space for the samples) says why.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from record import Record, Value, options

from molyneux.data import CdSprites, FigureAttributes, GeBiD, ShapeWorld, SpriteRendering, World, store_samples
from molyneux.data.worlds.cdsprites_settings import BACKGROUNDS, COLOURS, QUADRANTS, STEP
from molyneux.data.worlds.shapeworld.kinds import KINDS
from molyneux.data.worlds.textures import procedural
from molyneux.learn.training.batches import BatchReader, training_order

WHAT = (
    "Images of 64x64 RGB pixels (of ShapeWorld: with captions that agree or not) made in a second of processor time and by the "
    "clock, and peak memory; `times plain` compares, by processor time, with the first row: the plain version that makes the "
    "same pictures without files"
)
SIDE = 64
RATE = "images per processor second"
SHAPES = {"square": 19.3, "ellipse": 25.5, "heart": 19.04}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--size", type=int, default=None, help="images to store (default: 200000)")
    parser.add_argument("--plain", type=int, default=None, help="images of the plain versions (default: 300)")
    parser.add_argument("--folder", type=Path, default=None, help="where to store (default: a temporary folder)")
    arguments = parser.parse_args()
    quick = arguments.quick
    size = arguments.size or (500 if quick else 200_000)
    record = Record("generation", WHAT, arguments.out)
    procedural(SIDE).all()
    plain = plain_rows(arguments.plain or (5 if quick else 300))
    storings = [(size, 1)] if quick else [(count, threads) for count in (size // 10, size) for threads in (1, 2)]
    fair = float(plain[0][RATE])
    made = [*batch_rows(1000 if quick else 20_000), *shape_rows(128 if quick else 4000)]
    for row in [*plain, *made, *stored_rows(storings, arguments.folder)]:
        record.add({**row, "times plain": float(row[RATE]) / fair} if RATE in row else row)
    record.write()


def batch_rows(size: int) -> Iterator[dict[str, Value]]:
    """Batches of 1000 made in memory."""
    for level, threads in product(range(1, 6), (1, 2)):
        yield batch_row(CdSprites(level=level, rendering=SpriteRendering(threads=threads)), level, "in memory", size, threads)
    yield batch_row(GeBiD(level=5), 5, "in memory, GeBiD", size, 1)
    yield batch_row(
        GeBiD(level=5, attributes=FigureAttributes(shapes=("spiral",))), 5, "in memory, GeBiD, spirals alone", size, 1
    )


def shape_rows(size: int) -> Iterator[dict[str, Value]]:
    """Every kind of ShapeWorld, in one batch, in batches of 128, and in batches of 128 as a training reads them."""
    for kind in KINDS:
        world = ShapeWorld(kind=kind)
        world.batch(np.arange(64), split="train", seed=2)
        works = {
            f"one batch of {size}": partial(read, world, size, size),
            "batches of 128": partial(read, world, size, 128),
            "batches of 128, as training reads them": partial(read_as_training, world, size, 128),
        }
        for name, work in works.items():
            row: dict[str, Value] = {"way": f"in memory, ShapeWorld, {kind}, {name}", "images": size, "workers": several(1)}
            yield {**row, **timed(size, work)}


def batch_row(world: World, level: int, way: str, size: int, threads: int) -> dict[str, Value]:
    """One row."""
    row: dict[str, Value] = {"way": way, "level": level, "images": size, "workers": several(threads)}
    if reason := lacking_cores(threads):
        return {**row, "not measured": reason}
    world.batch(np.arange(1000), split="train", seed=2)
    return {**row, **timed(size, partial(read, world, size))}


def lacking_cores(threads: int) -> str:
    """Why so many threads cannot be measured; empty where they can."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"{threads} threads on {cores} core" if threads > cores else ""


def read(world: World, size: int, batch: int = 1000) -> None:
    for start in range(0, size, batch):
        world.batch(np.arange(start, min(start + batch, size)), split="train", seed=1)


def read_as_training(world: World, size: int, batch: int) -> None:
    for _ in BatchReader(world.source("train", size, seed=1)).read(training_order(size, batch, seed=1, epoch=0)):
        pass


def stored_rows(storings: list[tuple[int, int]], folder: Path | None) -> Iterator[dict[str, Value]]:
    """Level 5 in the native format, so many images by so many threads; each in a new process, whose memory starts anew."""
    free = shutil.disk_usage(folder or tempfile.gettempdir()).free
    for size, threads in storings:
        row: dict[str, Value] = {"way": "stored", "level": 5, "images": size, "workers": several(threads)}
        needed = size * 3 * SIDE**2 * 1.02
        reason = lacking_cores(threads) or (f"{needed / 2**30:.1f} GiB do not fit on the disk" if needed > free else "")
        if reason:
            yield {**row, "not measured": reason}
            continue
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            yield {**row, **pool.submit(stored, size, threads, folder).result()}


def stored(size: int, threads: int, folder: Path | None) -> dict[str, float]:
    """To a finished folder."""
    procedural(SIDE).all()
    source = CdSprites(level=5).source("train", size, seed=1)
    source.batch(np.arange(min(size, 1000)))
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        return {
            **timed(size, lambda: store_samples(source, Path(temporary) / "samples", threads=threads)),
            "memory, MiB": memory(),
        }


def several(threads: int) -> str:
    return f"{threads} thread{'s' if threads > 1 else ''}"


def memory() -> float:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def plain_rows(count: int) -> list[dict[str, Value]]:
    """The published procedure for level 5, written plainly."""
    ways = {
        "plain, textures of 64x64 grey, no files": partial(plain, count * 10, list(procedural(SIDE).all()), files=False),
        "plain, textures of 640x480 RGB, a PNG file each": partial(plain, count, published_textures()),
    }
    return [{"way": way, "level": 5, "workers": several(1), **work()} for way, work in ways.items()]


def timed(count: int, work: Callable[[], object]) -> dict[str, float]:
    """Images per second of processor time, which hardly depends on what else the machine does, and per second of the clock."""
    busy, start = time.process_time(), time.perf_counter()
    work()
    return {RATE: count / (time.process_time() - busy), "images/s": count / (time.perf_counter() - start)}


def plain(count: int, textures: list[np.ndarray], *, files: bool = True) -> dict[str, float]:
    """The published procedure for level 5, one image after the other."""
    rng = np.random.default_rng(1)

    def make(folder: Path) -> None:
        for number in range(count):
            picture, caption = plain_sample(rng, textures)
            if files:
                Image.fromarray(picture).save(folder / f"{caption.replace(' ', '_')}_{number}.png")

    with tempfile.TemporaryDirectory() as temporary:
        return timed(count, lambda: make(Path(temporary)))


def plain_sample(rng: np.random.Generator, textures: list[np.ndarray]) -> tuple[np.ndarray, str]:
    """A picture (64, 64, 3) uint8 and its caption."""
    shape, colour = rng.choice(list(SHAPES)), rng.choice(list(COLOURS))
    size, position, background = rng.choice(["small", "big"]), rng.choice(list(QUADRANTS)), rng.choice(BACKGROUNDS)
    x, y = (rng.choice(places) for places in QUADRANTS[position])
    mask = plain_mask(shape, 1.0 if size == "big" else 0.5, rng.integers(40) * 2 * math.pi / 39, x, y)
    front = brightened(textures[rng.integers(len(textures))], 125)
    dyed = front[..., None] * (np.array(COLOURS[colour]) / 255.0)
    picture = stretched(resized(dyed) * mask[..., None])
    back = brightened(textures[rng.integers(len(textures))], 125 if background == "on light" else -200)
    black = (picture == 0).all(2)
    picture[black] = resized(back)[black][:, None]
    return stretched(picture), f"{size} {colour} {shape} {position} {background}"


def plain_mask(shape: str, scale: float, turn: float, x: int, y: int) -> np.ndarray:
    """A mask (64, 64) bool drawn by Pillow as a polygon."""
    t = np.linspace(0, 2 * math.pi, 60)
    if shape == "square":
        points = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    elif shape == "ellipse":
        points = np.stack([np.cos(t) * 0.5 * 14.4 / 25.5, np.sin(t) * 0.5], 1)
    else:
        points = np.stack([16 * np.sin(t) ** 3, -13 * np.cos(t) + 5 * np.cos(2 * t) + 2 * np.cos(3 * t) + np.cos(4 * t)], 1) / 32
    points = points * SHAPES[shape] * scale
    rotated = points @ np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    centre = SIDE / 2 + (np.array([x, y]) - 15.5) * STEP
    picture = Image.new("L", (SIDE, SIDE))
    ImageDraw.Draw(picture).polygon([tuple(point) for point in rotated + centre], fill=255)
    return np.asarray(picture) > 0


def brightened(texture: np.ndarray, amount: int) -> np.ndarray:
    """Grey, stretched to 0..255, and shifted with saturation."""
    grey = np.asarray(Image.fromarray(texture).convert("L"), dtype=np.float64)
    grey = (grey - grey.min()) * 255.0 / max(grey.max() - grey.min(), 1.0)
    return np.clip(grey + amount, 0, 255)


def resized(picture: np.ndarray) -> np.ndarray:
    """Resized to 64x64 by Pillow, bilinear."""
    if picture.shape[:2] == (SIDE, SIDE):
        return picture
    small = Image.fromarray(picture.astype(np.uint8)).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    return np.asarray(small, dtype=np.float64)


def stretched(picture: np.ndarray) -> np.ndarray:
    """Stretched to 0..255 over all channels."""
    low, high = picture.min(), picture.max()
    return ((picture - low) * 255.0 / max(high - low, 1.0)).astype(np.uint8)


def published_textures(count: int = 20) -> list[np.ndarray]:
    """Textures of the size of photographs, in memory as the published generator holds them."""
    pictures = [Image.fromarray(texture).resize((640, 480)).convert("RGB") for texture in procedural(SIDE).all()[:count]]
    return [np.asarray(picture) for picture in pictures]


if __name__ == "__main__":
    main()
