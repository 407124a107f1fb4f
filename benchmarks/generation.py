"""Speed of making CdSprites samples, beside plain versions that make one image at a time.

    python benchmarks/generation.py [--size 200000] [--out benchmarks/results/generation.json]

Measured, in images per second: making batches (every level, one and two threads), storing level 5 in the native format (one
and two processes, with checksums and fsync), and two plain versions in NumPy and Pillow of the published procedure for level
5: one with textures of 640x480 RGB pixels and a PNG file per image, as the published generator works, one with grey textures
of 64x64 and no files. Writes a record with the machine's description.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from molyneux.data import generate
from molyneux.data.worlds import CdSprites
from molyneux.data.worlds.attributes import BACKGROUNDS, COLOURS, QUADRANTS, STEP
from molyneux.data.worlds.textures import procedural

SIDE = 64
SHAPES = {"square": 19.3, "ellipse": 25.5, "heart": 19.04}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=200_000, help="images to store")
    parser.add_argument("--plain", type=int, default=300, help="images of the plain versions")
    parser.add_argument("--folder", type=Path, default=None, help="where to store (default: a temporary folder)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "generation.json")
    arguments = parser.parse_args()
    from molyneux.run.machine import machine  # here, because new processes import this file and need nothing of `run`

    procedural(SIDE)
    record = {
        "what": "images per second, CdSprites, 64x64 RGB",
        "machine": machine(),
        "load before": round(os.getloadavg()[0], 2),
        "batches": {
            f"level {level}, {threads} thread(s)": batches(level, threads) for level in range(1, 6) for threads in (1, 2)
        },
        "stored, level 5": {f"{jobs} process(es)": stored(arguments.size, jobs, arguments.folder) for jobs in (1, 2)},
        "plain, level 5": {
            "textures 640x480 RGB, one PNG file an image": plain(arguments.plain, published_textures()),
            "textures 64x64 grey, no files": plain(arguments.plain * 10, list(procedural(SIDE)), files=False),
        },
    }
    best = max(record["stored, level 5"].values(), key=lambda rates: rates["images/s"])
    record["stored beside plain, times"] = {
        name: {unit: round(best[unit] / rates[unit], 1) for unit in rates} for name, rates in record["plain, level 5"].items()
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2))


def timed(count: int, work: Callable[[], object]) -> dict[str, float]:
    """Images per second of the clock, and per second of processor time, child processes included: the latter hardly depends
    on what else the machine does."""
    before, start = os.times(), time.perf_counter()
    work()
    clock, after = time.perf_counter() - start, os.times()
    busy = sum(after[:4]) - sum(before[:4])
    return {"images/s": round(count / clock, 1), "images per processor second": round(count / max(busy, 1e-9), 1)}


def batches(level: int, threads: int, *, size: int = 20_000) -> dict[str, float]:
    """Batches of 1000 made in memory."""
    world = CdSprites(level=level, threads=threads)
    world.batch(np.arange(1000), split="train", seed=2)
    parts = np.arange(size).reshape(-1, 1000)
    return timed(size, lambda: [world.batch(part, split="train", seed=1) and None for part in parts])


def stored(size: int, jobs: int, folder: Path | None) -> dict[str, float]:
    """Level 5 in the native format: from nothing to a finished folder, start of processes included."""
    source = CdSprites(level=5).source("train", size, seed=1)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        return timed(size, lambda: generate(source, Path(temporary) / "samples", jobs=jobs))


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
    pictures = [Image.fromarray(texture).resize((640, 480)).convert("RGB") for texture in procedural(SIDE)[:count]]
    return [np.asarray(picture) for picture in pictures]


if __name__ == "__main__":
    main()
