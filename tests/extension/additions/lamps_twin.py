"""What writes the twin of `Lamps`: the function is added to the writers of the folder of the data set."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark


def _lamps(data_set: type[FileBenchmark], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `Lamps`."""
    lit = rng.integers(0, 2, (size, 1))
    np.save(folder / data_set.files[0], np.concatenate([rng.normal(size=(size, 4)) + lit, lit], 1).astype(np.float32))
    return data_set(folder=folder)
