"""Sources made of arrays and of other sources: samples in memory, some of the modalities, modalities taken away."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from molyneux.core import Batch, ConfigError, Source, Spec, nearest
from molyneux.core.sources import DerivedSource, check_positions
from molyneux.data.layout import columns_of, read_arrays, to_arrays, to_batch


def require_positive(**numbers: int) -> None:
    """Raise ConfigError, with its name, for a number below 1."""
    if problems := [f"expected {name} of at least 1, got {number}" for name, number in numbers.items() if number < 1]:
        raise ConfigError(problems)


class ArraySource:
    """Samples that lie in memory, in one batch that fits the spec (else SpecError); nothing is copied until they are read."""

    in_memory = True
    """Training need not load it."""

    def __init__(self, spec: Spec, batch: Batch) -> None:
        self.spec, self._size = spec, len(batch)
        self._arrays = to_arrays(batch.check(spec))

    def __len__(self) -> int:
        return self._size

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        rows = check_positions(indices, self._size)
        # NumPy's take copies whole rows: three times as fast here as torch.index_select on one thread.
        return to_batch({name: array.take(rows, axis=0) for name, array in self._arrays.items()}, self.spec)


def load(source: Source, *, chunk: int = 4096, threads: int = 1) -> ArraySource:
    """The whole source in memory; `threads` chunks of so many samples are fetched at the same time.

    Raises:
        ConfigError: `chunk` or `threads` below 1.
    """
    require_positive(chunk=chunk, threads=threads)
    size, spec = len(source), source.spec
    if isinstance(source, ArraySource):
        return source
    arrays = {column.name: np.empty((size, *column.shape), column.dtype) for column in columns_of(source)}

    def fetch(start: int) -> None:
        for name, rows in read_arrays(source, arrays, np.arange(start, min(start + chunk, size))).items():
            arrays[name][start : start + len(rows)] = rows

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(fetch, range(0, size, chunk)):
            pass
    return ArraySource(spec, to_batch(arrays, spec))


class Views(DerivedSource):
    """The same samples with only these modalities, in this order.

    Raises:
        ConfigError: no modality is left. SpecError: the source has no such modality.
    """

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        if not names:
            raise ConfigError(f"expected at least one of the modalities {', '.join(source.spec.names)}, got none")
        self.names = tuple(names)
        super().__init__(source, spec=source.spec.restrict(self.names), views=list(names))

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        batch = self.source.batch(indices)
        present, lengths = ({name: part[name] for name in self.names if name in part} for part in (batch.present, batch.lengths))
        return replace(batch, views={name: batch.views[name] for name in self.names}, present=present, lengths=lengths)


class Lacking(DerivedSource):
    """The samples of a source without some modalities: these are masked in every sample.

    What is missing in the source stays missing.

    Raises:
        ConfigError: unknown modalities, or no modality is left.
    """

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        known = source.spec.names
        problems = [f"unknown modality {name!r}; {nearest(name, known)}" for name in names if name not in known]
        if not problems and set(names) >= set(known):
            problems = [f"expected at least one of the modalities {', '.join(known)} to be left, got all as lacking"]
        if problems:
            raise ConfigError(problems)
        self.names = tuple(name for name in known if name in names)
        super().__init__(source, lacking=list(self.names))

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        batch = self.source.batch(indices)
        return batch.observe([name for name in batch.views if name not in self.names])
