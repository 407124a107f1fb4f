"""Twins of the data sets of images, sounds and texts on which generative models are compared."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import torch
from scipy.io import wavfile

from molyneux.data.benchmarks import celeba, cub, mhd, mnist, mnist_svhn, polymnist, published_polymnist, spoken_digits, sprites
from molyneux.data.benchmarks.av_mnist import sounds
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark
from molyneux.data.benchmarks.digits.images import SIDE


def _celeba(data_set: type[celeba.CelebA], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `CelebA`."""
    from PIL import Image

    (folder / celeba.IMAGES).mkdir()
    values = rng.integers(0, 2, (size, len(celeba.NAMES)))
    names = [f"{number + 1:06}.jpg" for number in range(size)]
    lines = [f"{name}  {' '.join(f'{2 * value - 1:2}' for value in row)}" for name, row in zip(names, values, strict=True)]
    (folder / celeba.ATTRIBUTES).write_text("\n".join([str(size), " ".join(celeba.NAMES), *lines]) + "\n", encoding="utf-8")
    parts = [f"{name} {(number * 7 // size) // 5 + (number * 7 // size) // 6}" for number, name in enumerate(names)]
    (folder / celeba.PARTITION).write_text("\n".join(parts) + "\n", encoding="utf-8")
    for name, row in zip(names, values, strict=True):
        pixels = rng.integers(0, 128, (218, 178, 3)) + 100 * row[celeba.NAMES.index("Smiling")]
        Image.fromarray(pixels.astype(np.uint8)).save(folder / celeba.IMAGES / name)
    return data_set(folder=folder)


def _cub(data_set: type[cub.CUB], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `CUB`."""
    from PIL import Image

    kinds = ("001.Black_footed_Albatross", "002.Laysan_Albatross", "003.Sooty_Albatross")
    lines: dict[str, list[str]] = {name: [] for name in cub.TABLES}
    lines["classes.txt"] = [f"{number} {kind}" for number, kind in enumerate(kinds, 1)]
    for number in range(1, max(size // 4, 13) + 1):
        kind = number % len(kinds)
        name = f"{kinds[kind]}/bird_{number:04}"
        for part in ("images", "text"):
            (folder / part / kinds[kind]).mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 128, (40, 50, 3)) + 60 * kind
        Image.fromarray(pixels.astype(np.uint8)).save(folder / "images" / f"{name}.jpg")
        colour, parts = ("black", "white", "grey")[kind], ("wing", "bill", "crown", "breast")
        captions = [f"this bird has a {colour} {parts[k % 4]}, and a {parts[rng.integers(4)]}." for k in range(cub.CAPTIONS)]
        (folder / "text" / f"{name}.txt").write_text("\n".join(captions) + "\n", encoding="utf-8")
        lines["images.txt"].append(f"{number} {name}.jpg")
        lines["image_class_labels.txt"].append(f"{number} {kind + 1}")
        lines["train_test_split.txt"].append(f"{number} {int(number % 7 != 0)}")
        lines["bounding_boxes.txt"].append(f"{number} 5.0 6.0 30.0 20.0")
    for table, rows in lines.items():
        (folder / table).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return data_set(folder=folder, captions=3)


def _imagelabels(data_set: type[mnist.ImageLabels], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `ImageLabels`."""
    _write_digits(folder, data_set.files, size, rng)
    return data_set(folder=folder)


def _mhd(data_set: type[mhd.MHD], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `MHD`."""
    for name, count in zip(mhd.FILES, (size - size // 7, size // 7), strict=True):
        labels = rng.permutation(np.arange(count) % 10)
        shapes = ((1, mhd.SIDE, mhd.SIDE), (mhd.POINTS,), (mhd.BLOCKS, mhd.BANDS, mhd.BANDS))
        views = [0.5 * rng.random((count, *shape)) + 0.05 * labels.reshape(-1, *[1] * len(shape)) for shape in shapes]
        normalisation = {"min": np.float32(0.0), "max": np.array(1.0)}
        stored = [torch.from_numpy(labels), *(torch.from_numpy(view.astype(np.float32)) for view in views)]
        torch.save((*stored, normalisation, normalisation), folder / name)
    return data_set(folder=folder)


def _mnistsvhn(data_set: type[mnist_svhn.MNISTSVHN], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `MNISTSVHN`."""
    _write_digits(folder, data_set.files[:4], size, rng)
    (folder / "svhn").mkdir()
    more = max(size, 150)  # the last twelfth of the training photographs has all classes, so some that MNIST's have
    for name, count in zip(mnist_svhn.PHOTOS, (more - more // 7, more // 7), strict=True):
        labels = np.arange(count) % 10
        pixels = rng.integers(0, 128, (mnist_svhn.PHOTO_SIDE, mnist_svhn.PHOTO_SIDE, 3, count)) + 12 * labels
        classes = np.where(labels == 0, mnist_svhn.TEN, labels)[:, None]
        scipy.io.savemat(folder / name, {"X": pixels.astype(np.uint8), "y": classes.astype(np.uint8)})
    return data_set(folder=folder, rounds=2)


def _polymnist(data_set: type[polymnist.PolyMNIST], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `PolyMNIST`."""
    _write_digits(folder, data_set.files, size, rng)
    return data_set(folder=folder)


def _publishedpolymnist(
    data_set: type[published_polymnist.PublishedPolyMNIST], folder: Path, size: int, rng: np.random.Generator
) -> FileBenchmark:
    """A twin of `PublishedPolyMNIST`."""
    from PIL import Image

    side = published_polymnist.SIDE
    for part, count in (("train", size - size // 7), ("test", size // 7)):
        for place in range(3):
            (folder / part / f"m{place}").mkdir(parents=True)
            for number in range(count):
                pixels = (rng.integers(0, 100, (side, side, 3)) + 15 * (number % 10)).astype(np.uint8)
                Image.fromarray(pixels).save(folder / part / f"m{place}" / f"{number // 10}.{number % 10}.png")
    return data_set(folder=folder)


def _spokendigits(data_set: type[spoken_digits.SpokenDigits], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `SpokenDigits`."""
    _write_digits(folder, data_set.files, size, rng)
    (folder / spoken_digits.RECORDINGS).mkdir(parents=True)
    for digit in range(10):
        for place, speaker in enumerate(("ann", "ben", "carl")):
            for take in (0, 5, 10, 11):
                time = np.arange(2500 + 200 * place + 10 * take) / sounds.RATE
                wave = np.sin(2 * np.pi * (300 + 300 * digit + take) * time) + 0.1 * rng.normal(size=len(time))
                path = folder / spoken_digits.RECORDINGS / f"{digit}_{speaker}_{take}.wav"
                wavfile.write(path, sounds.RATE, np.rint(3000 * wave).astype(np.int16))
    return data_set(folder=folder)


def _sprites(data_set: type[sprites.Sprites], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `Sprites`."""
    for part, count in (("train", max(3, size // 10)), ("test", 1)):
        for place, move in enumerate(sprites.MOVES):
            name = move.replace(" ", "_")
            values = rng.integers(0, sprites.VALUES, (count, 1, sprites.PLACES)).repeat(sprites.FRAMES, 1)
            pixels = rng.integers(0, 20, (count, sprites.FRAMES, sprites.SIDE, sprites.SIDE, 3)) + 20 * place
            np.save(folder / f"{name}_frames_{part}.npy", (pixels / 255).astype(np.float32))
            np.save(folder / f"{name}_attributes_{part}.npy", np.eye(sprites.VALUES, dtype=np.float32)[values])
    return data_set(folder=folder)


def _write_digits(folder: Path, names: Sequence[str], size: int, rng: np.random.Generator) -> None:
    """Write random images in four files of the format of MNIST, a seventh of them to test; stripes show their class.

    Args:
        folder: the names are below it.
        names: of the images and classes to train and to test, compressed.
        size: images in all.
        rng: of their values.
    """
    for part, count in ((names[:2], size - size // 7), (names[2:4], size // 7)):
        labels = rng.permutation(np.arange(count) % 10)
        stripes = np.sin(np.arange(SIDE)[:, None] * (labels[:, None, None] + 1) / 7 + np.arange(SIDE) / 5)
        images = np.clip(127 + 120 * stripes + rng.normal(0, 20, (count, SIDE, SIDE)), 0, 255)
        for name, array in zip(part, (images, labels), strict=True):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            head = struct.pack(f">{1 + array.ndim}I", 0x0800 + array.ndim, *array.shape)
            (folder / name).write_bytes(gzip.compress(head + array.astype(np.uint8).tobytes(), mtime=0))


WRITERS: Mapping[type, Callable[[Any, Path, int, np.random.Generator], FileBenchmark]] = {
    celeba.CelebA: _celeba,
    cub.CUB: _cub,
    mnist.ImageLabels: _imagelabels,
    mhd.MHD: _mhd,
    mnist_svhn.MNISTSVHN: _mnistsvhn,
    polymnist.PolyMNIST: _polymnist,
    published_polymnist.PublishedPolyMNIST: _publishedpolymnist,
    spoken_digits.SpokenDigits: _spokendigits,
    sprites.Sprites: _sprites,
}
"""What writes the twin of a data set, or of every data set with this base: into an empty folder, about so many samples."""
