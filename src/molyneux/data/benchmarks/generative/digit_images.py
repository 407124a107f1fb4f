"""The base class of data sets made of images in the format of MNIST: how they are read and divided, and how twins are written."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from molyneux.core import Factor, Target
from molyneux.data.benchmarks.av_mnist.digits import SIDE, Digits, idx_files, read_digits
from molyneux.data.benchmarks.file_benchmark import FileBenchmark
from molyneux.data.benchmarks.generative.divisions import last_twelfth
from molyneux.data.dataset import Split


class DigitImages(FileBenchmark):
    """A data set whose first four files are those of MNIST, or in their format: images and classes, to train and to test.

    The last twelfth of the training images (5,000 of 60,000) validates. The files may be compressed by gzip, as published, or
    not. Errors and arguments as `FileBenchmark`.
    """

    @property
    def expected(self) -> tuple[str, ...]:
        """The files that have to be there, without `.gz` where only the file without compression is."""
        return (*idx_files(self.folder, self.files[:4]), *self.files[4:])

    def digits(self, paths: Mapping[str, Path]) -> tuple[Digits, dict[Split, np.ndarray]]:
        """All images and classes, those to train first, and which of them each split has.

        Raises:
            StoreError: a file cannot be read. CorruptFileError: it does not hold what it should.
        """
        first = [paths[name] for name in self.expected[:4]]
        train, test = read_digits(first[0], first[1]), read_digits(first[2], first[3])
        both = Digits(np.concatenate([train.images, test.images]), np.concatenate([train.labels, test.labels]))
        return both, last_twelfth(len(train.labels), len(test.labels))


def class_factor(names: Sequence[str]) -> tuple[tuple[Factor, ...], tuple[Target, ...]]:
    """The factor `label` and the target `label` of classes."""
    return (Factor("label", tuple(names)),), (Target("label", "class", tuple(names)),)


def write_digits(folder: Path, names: Sequence[str], size: int, rng: np.random.Generator) -> None:
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
