"""The base class of data sets made of images in the format of MNIST: how they are read and divided, and how twins are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from molyneux.core import Factor, Target
from molyneux.data.benchmarks.av_mnist.digits import Digits, idx_files, read_digits
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
