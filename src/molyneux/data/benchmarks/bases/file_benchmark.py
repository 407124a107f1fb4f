"""The base class of data sets in published layouts: what they share with each other."""

from __future__ import annotations

import hashlib
import random
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, DataError, Spec, StoreError, store
from molyneux.data.benchmarks.bases.benchmark import Benchmark
from molyneux.data.dataset import Split
from molyneux.data.formats.mapped_files import MappedFile


@dataclass(frozen=True)
class FileSamples:
    """What the files of a data set hold.

    Args:
        spec: what a batch looks like.
        rows: by split, the numbers of its samples among those of the files.
        read: gives the samples of these numbers (B,), in any order.
        mapped: files whose pages are given back once a batch is read.
    """

    spec: Spec
    rows: Mapping[Split, np.ndarray]
    read: Callable[[np.ndarray], Batch]
    mapped: Sequence[MappedFile] = field(default=())


class FileBenchmark(Benchmark):
    """A data set in the layout in which its owners publish it or its usual loaders read it. Nothing is downloaded.

    Files are opened when samples, their number or their spec are first asked for; of large ones only the rows are read that a
    batch needs. Whatever is estimated (means, standard deviations, vocabularies) is estimated on the training split alone. A
    source serves every sample of its split once; nothing is drawn with replacement, and no batch is left out.

    Args:
        folder: where the files lie; by default the folder of this data set in the one that `MOLYNEUX_DATA` names.
        settings: further settings of a subclass, by their names in its constructor.
        problems: what the subclass refuses.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    page: ClassVar[str]
    """Where the owners publish it, or say how to ask for it."""

    metric: ClassVar[str]
    """What is usually reported."""

    sizes: ClassVar[str]
    """How many samples the published files have to train, validate and test."""

    def __init__(self, folder: Path | None, settings: Mapping[str, Any] | None = None, problems: Sequence[str] = ()) -> None:
        super().__init__(folder)
        if problems:
            raise ConfigError(problems)
        self._settings: dict[str, Any] = {} if settings is None else dict(settings)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data, with a hash of each file in place of the folder, and one of the names and sizes of many."""
        many = self.many()
        listed = "".join(f"{path.relative_to(self.folder).as_posix()} {path.stat().st_size}\n" for path in many)
        digest = {"many": hashlib.blake2b(listed.encode(), digest_size=8).hexdigest()} if many else {}
        return {**super().settings, **digest}

    @property
    def choices(self) -> Mapping[str, Any]:
        """The settings but for the files, as plain data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self._settings.items()}

    @property
    def spec(self) -> Spec:
        """What a batch looks like; errors as `splits`."""
        return self._samples.spec

    @property
    def splits(self) -> Mapping[Split, int]:
        """How many samples each split has.

        Raises:
            StoreError: a file is not there, or names code. DataError: a file does not hold what it should.
        """
        return {split: len(rows) for split, rows in self._samples.rows.items()}

    @abstractmethod
    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """What the files hold, which are there.

        Args:
            paths: by the names of `expected` and `optional`.

        Raises:
            StoreError: one cannot be read. DataError: one does not hold what it should.
        """

    def many(self) -> Sequence[Path]:
        """Files beside those of `expected` that belong to the data set, where there are many; sorted."""
        return ()

    def listed(self, pattern: str) -> list[Path]:
        """The files of a pattern below the folder, sorted.

        Raises:
            StoreError: there are none; the message names the folder, and where they are published.
        """
        found = sorted(path for path in self.folder.glob(pattern) if store.is_file(path))
        if not found:
            raise StoreError(f"expected files {pattern} in {self.folder}, got none: {self.advice}")
        return found

    def rows(self, rows: np.ndarray, split: Split) -> Batch:
        """The samples at these rows (B,) of a split, in the order of the files.

        Raises:
            StoreError or DataError: a file cannot be read, or a value in it is none; names the file.
        """
        samples = self._samples
        batch = samples.read(samples.rows[split][rows])
        for mapped in samples.mapped:
            mapped.release()
        return batch

    @cached_property
    def _samples(self) -> FileSamples:
        samples = self.open(self.paths())
        for split, rows in samples.rows.items():
            if not len(rows):
                raise self.wrong(self.folder, f"samples of the split {split}", "none")
        return samples

    @property
    def advice(self) -> str:
        """What to do where a file is missing: where to get it, under which licence, and whom to cite."""
        return f"put there {self.published_as} (licence: {self.licence}; cite {self.origin}); nothing is downloaded"

    def wrong(self, where: object, expected: str, got: str) -> DataError:
        """The error about what a file holds: where, what was expected, what came, and whom to ask."""
        return DataError(f"{where}: expected {expected}, got {got}: restore the file from {self.page} ({self.licence})")

    def known(self, document: Any, keys: Sequence[str], where: object) -> list[Any]:
        """The values of these keys of a mapping that a file holds.

        Raises:
            DataError: it is no mapping, or lacks some; names them.
        """
        if not isinstance(document, Mapping):
            raise self.wrong(where, f"a dictionary with {', '.join(keys)}", type(document).__name__)
        if missing := [key for key in keys if key not in document]:
            raise self.wrong(
                where, f"the keys {', '.join(keys)}", f"{', '.join(map(str, document))} without {', '.join(missing)}"
            )
        return [document[key] for key in keys]

    def array(self, found: Any, shape: Sequence[int | None], where: object) -> np.ndarray:
        """An array of numbers of this shape, in which None stands for any length.

        Raises:
            DataError: it is something else; names both shapes.
        """
        wanted = f"numbers of shape ({', '.join('any' if axis is None else str(axis) for axis in shape)})"
        if not isinstance(found, np.ndarray) or found.dtype.kind not in "biuf":
            raise self.wrong(
                where, wanted, f"{type(found).__name__}{f' of {found.dtype}' if isinstance(found, np.ndarray) else ''}"
            )
        if found.ndim != len(shape) or any(axis not in (None, have) for axis, have in zip(shape, found.shape, strict=True)):
            raise self.wrong(where, wanted, f"{found.shape}")
        return found

    def finite(self, values: np.ndarray, where: object, rows: np.ndarray | None = None) -> np.ndarray:
        """The same values (n, ..., D) as float32.

        Args:
            values: numbers.
            where: what an error calls them.
            rows: (n,) the numbers of the samples, for the message.

        Raises:
            DataError: NaN or infinity; names the first sample and the column.
        """
        found = values.astype(np.float32)
        if not np.isfinite(found).all():
            place = np.argwhere(~np.isfinite(found))[0]
            row = int(place[0] if rows is None else rows[place[0]])
            column = f", column {place[-1]}" if found.ndim > 1 else ""
            raise self.wrong(where, "finite numbers", f"{found[tuple(place)]} in sample {row}{column}")
        return found

    def codes(self, values: np.ndarray, classes: int, where: object) -> np.ndarray:
        """Labels (N,) as int64 from 0 to `classes` - 1.

        Raises:
            DataError: a label out of range, or no whole number; names the sample.
        """
        numbers = values.astype(np.float64)
        wrong = ~((numbers >= 0) & (numbers < classes) & (numbers % 1 == 0))
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise self.wrong(where, f"labels 0..{classes - 1}", f"{numbers[row]:g} in sample {row}")
        return numbers.astype(np.int64)

    def __reduce__(self) -> tuple[Callable[[], Self], tuple[()]]:
        """Travel to other processes as settings, not as the content of the files."""
        return partial(type(self), folder=self._folder, **self._settings), ()


@dataclass(frozen=True)
class Standardisation:
    """Means and standard deviations of columns, (D,) each, which are taken from values before they are served."""

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def of(cls, parts: Any) -> Standardisation:
        """Those of the values (n, D) in several blocks together; a constant column keeps its scale.

        Blocks are joined as in Chan, Golub and LeVeque (1979), so that values far from zero lose no digits.
        """
        count, mean, squares = 0, np.zeros(1), np.zeros(1)
        for part in parts:
            values = np.asarray(part, np.float64).reshape(-1, np.shape(part)[-1])
            own = values.mean(0)
            moved, total = own - mean, count + len(values)
            squares = squares + ((values - own) ** 2).sum(0) + moved**2 * (count * len(values) / total)
            mean, count = mean + moved * (len(values) / total), total
        deviation = np.sqrt(squares / max(count, 1))
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """The values (..., D) as float32 with mean 0 and standard deviation 1 on what they were estimated on."""
        standardised: np.ndarray = ((values - self.mean) / self.deviation).astype(np.float32)
        return standardised


def shuffled(count: int, seed: int) -> np.ndarray:
    """The numbers 0..count - 1 in the order that `random.seed(seed); random.shuffle(numbers)` gives them, (count,)."""
    numbers = list(range(count))
    random.Random(seed).shuffle(numbers)
    return np.array(numbers, np.int64)


def in_order(**ends: int) -> dict[Split, np.ndarray]:
    """Splits that follow each other in the file, by the number after the last sample of each."""
    starts = (0, *ends.values())
    return {split: np.arange(start, end) for (split, end), start in zip(ends.items(), starts, strict=False)}


def tensors(**arrays: np.ndarray) -> dict[str, torch.Tensor]:
    """Arrays as tensors, by the same names."""
    return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}


def last_twelfth(train: int, test: int) -> dict[Split, np.ndarray]:
    """The rows of each split of `train` rows that are followed by `test` rows; 5,000 of 60,000 validate.

    >>> {split: len(rows) for split, rows in last_twelfth(60_000, 10_000).items()}
    {'train': 55000, 'validation': 5000, 'test': 10000}
    """
    return in_order(train=train - train // 12, validation=train, test=train + test)


def last_twelfth_of_classes(classes: np.ndarray, trains: np.ndarray) -> dict[Split, np.ndarray]:
    """The rows of each split, where the last twelfth of the training rows of each class validates, one at least.

    Args:
        classes: (N,) of all rows.
        trains: (N,) bool, the rows that are published to train; the others test.
    """
    held = np.zeros(len(classes), bool)
    for number in np.unique(classes[trains]):
        rows = np.flatnonzero(trains & (classes == number))
        held[rows[len(rows) - max(1, len(rows) // 12) :]] = True
    return {"train": np.flatnonzero(trains & ~held), "validation": np.flatnonzero(held), "test": np.flatnonzero(~trains)}
