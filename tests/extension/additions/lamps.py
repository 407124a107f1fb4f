"""Lamps: a data set of one file of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import final

import numpy as np

from molyneux.core import Batch, Modality, Spec, Target
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, in_order, tensors
from molyneux.data.formats.array_files import map_array

_FILE = "lamps.npy"


@final
class Lamps(FileBenchmark):
    """Bulbs and shades of lamps by two numbers each, and whether they are lit.

    Layout: `lamps.npy` (N, 5); the last column is 1 where a lamp is lit. Of every ten rows the first eight train, one validates
    and one tests.

    Args:
        folder: see `FileBenchmark`.
    """

    name = "lamps-v1"
    licence = "CC0"
    origin = "made for a test"
    page = "https://example.org/lamps"
    metric = "accuracy"
    sizes = "80 / 10 / 10"
    folders = ("lamps",)
    files = (_FILE,)
    published_as = f"{_FILE} of {page}"

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        file, found = map_array(paths[_FILE])
        rows = self.array(found, (None, 5), paths[_FILE])
        modalities = tuple(Modality(name, "tabular", (2,)) for name in ("bulb", "shade"))
        spec = Spec(modalities, targets=(Target("lit", "class", ("no", "yes")),))

        def read(numbers: np.ndarray) -> Batch:
            taken = file.take(rows, numbers)
            lit = self.codes(taken[:, 4], 2, paths[_FILE])
            values = self.finite(taken[:, :4], paths[_FILE], numbers)
            return Batch(tensors(bulb=values[:, :2], shade=values[:, 2:]), targets=tensors(lit=lit))

        count = len(rows)
        return FileSamples(spec, in_order(train=count * 8 // 10, validation=count * 9 // 10, test=count), read, [file])
