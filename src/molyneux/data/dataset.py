"""Data sets in splits: the base class of worlds and benchmarks, and the source of one split."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from molyneux.core import Batch, ConfigError, DataError, Reader, Spec, nearest

Split = str
"""Name of a split: one of `SPLITS`, or `heldout`, which has only the combinations of factors that a world's `held_out` names."""

SPLITS: tuple[Split, ...] = ("train", "validation", "test")
"""The splits that every data set has; they are disjoint."""


class SplitDataset(ABC):
    """A `core.Dataset` whose samples are addressed by split, number and seed. Worlds and benchmarks are its kinds.

    A subclass sets the class attributes, takes all its settings as keyword arguments, and checks them at construction.
    """

    name: ClassVar[str]
    """Name with version, such as `cdsprites-v1`; a change that changes bytes is a new version."""

    licence: ClassVar[str]
    """Under which terms the samples may be used."""

    origin: ClassVar[str]
    """Who published the data set, and where."""

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data: with name, split and seed they determine every byte."""

    @property
    @abstractmethod
    def spec(self) -> Spec:
        """What a batch looks like."""

    @property
    def splits(self) -> Mapping[Split, int | None]:
        """Names of the splits and how many samples each has; None for an endless one."""
        return dict.fromkeys(SPLITS)

    @abstractmethod
    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples of these numbers (B,) of a split, in any order.

        Raises:
            ConfigError: no such split. DataError: no integers in one row, or a number outside the split.
        """

    def readers(self) -> Mapping[str, Reader]:
        """The exact readers this data set has, by modality; none unless a subclass says otherwise."""
        return {}

    def visible(self, modality: str) -> tuple[str, ...]:
        """Names of the factors that a view of a modality shows: what its reader may be asked for; all by default."""
        return tuple(factor.name for factor in self.spec.factors)

    def source(self, split: Split, size: int | None = None, *, seed: int = 0) -> SplitSource:
        """The first `size` samples of a split, made or read when they are asked for; all by default.

        Raises:
            ConfigError: no such split, a size below 1 or beyond the split, or none for an endless split.
        """
        return SplitSource(self, split, size, seed)

    def size(self, split: Split) -> int | None:
        """How many samples a split has; None for an endless one.

        Raises:
            ConfigError: no such split.
        """
        if split in self.splits:
            return self.splits[split]
        if split == "heldout":
            raise ConfigError(
                f"{self.name} holds no combination out with these settings: choose one of the splits {', '.join(self.splits)}, "
                "or name combinations in held_out where it has that setting"
            )
        raise ConfigError(f"unknown split {split!r}; {nearest(str(split), self.splits)}")

    def numbers(self, indices: npt.ArrayLike, split: Split) -> np.ndarray:
        """Numbers of samples of a split, (n,) int64; errors as `batch`."""
        indices, size = row_of_integers(indices, "numbers of samples"), self.size(split)
        if len(indices) and (indices.min() < 0 or (size is not None and indices.max() >= size)):
            samples = "" if size is None else f" of its {size:,} samples"
            got = f"{indices.min()} to {indices.max()}"
            raise DataError(f"{self.name}, split {split}: expected numbers{samples} from 0, got {got}")
        return indices


class SplitSource:
    """The first samples of a split as a `Source`.

    Args:
        dataset: what has the split.
        split: which one.
        size: how many samples; all of a split that ends by default.
        seed: root seed.

    Raises:
        ConfigError: see `SplitDataset.source`.
    """

    def __init__(self, dataset: SplitDataset, split: Split, size: int | None, seed: int) -> None:
        available = dataset.size(split)
        size = available if size is None else size
        if size is None:
            raise ConfigError(f"the split {split} of {dataset.name} is endless: name a size")
        if size < 1:
            raise ConfigError(f"expected a size of at least 1, got {size}")
        if available is not None and size > available:
            raise ConfigError(f"expected at most the {available:,} samples of the split {split}, got a size of {size:,}")
        self.dataset, self.split, self.seed = dataset, split, seed
        self._size = size

    @property
    def spec(self) -> Spec:
        """What a batch looks like."""
        return self.dataset.spec

    @property
    def origin(self) -> Mapping[str, Any]:
        """Everything the samples depend on, as plain data."""
        settings = dict(self.dataset.settings)
        named = {"dataset": self.dataset.name, "settings": settings}
        return {**named, "split": self.split, "size": self._size, "seed": self.seed}

    def __len__(self) -> int:
        return self._size

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        return self.dataset.batch(check_positions(indices, self._size), split=self.split, seed=self.seed)


def check_positions(indices: npt.ArrayLike, size: int) -> np.ndarray:
    """Positions of samples in a source, (B,) int64.

    Raises:
        DataError: they are no integers in one row, or lie outside [0, size).
    """
    rows = row_of_integers(indices, "positions")
    if rows.size and (rows.min() < 0 or rows.max() >= size):
        raise DataError(f"expected positions from 0 to {size - 1}, got {rows.min()} to {rows.max()}")
    return rows


def row_of_integers(numbers: npt.ArrayLike, what: str) -> np.ndarray:
    """`numbers` as (n,) int64.

    Args:
        numbers: an array, or what NumPy makes one of.
        what: what they are, for the message.

    Raises:
        DataError: they are no integers in one row.
    """
    try:
        row = np.asarray(numbers)
    except ValueError as error:
        raise DataError(f"expected {what} as one row of integers, got what makes no such array: {error}") from error
    if row.ndim != 1 or (row.dtype.kind not in "iu" and row.size):
        raise DataError(f"expected {what} as one row of integers, got {row.dtype} {row.shape}")
    return row.astype(np.int64, copy=False)
