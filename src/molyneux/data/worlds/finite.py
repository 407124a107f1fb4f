"""Worlds whose splits have a fixed number of samples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from molyneux.core import ConfigError, DataError, nearest
from molyneux.data.positions import row_of_integers
from molyneux.data.worlds.world import Split, World, WorldSource

SPLITS: tuple[Split, ...] = ("train", "validation", "test")
"""The splits there are: nothing is held out."""


class FiniteWorld(World):
    """A world of which each split has so many samples and no more."""

    @property
    @abstractmethod
    def sizes(self) -> Mapping[Split, int]:
        """How many samples each split has."""

    def source(self, split: Split, size: int, *, seed: int) -> WorldSource:
        """The first `size` samples of a split in the order of this seed.

        Raises:
            ConfigError: the split has fewer.
        """
        source = super().source(split, size, seed=seed)
        if size > self.count(split):
            raise ConfigError(f"expected at most the {self.count(split):,} samples of the split {split}, got a size of {size:,}")
        return source

    def count(self, split: Split) -> int:
        """How many samples a split has.

        Raises:
            ConfigError: the split `heldout`, or one that does not exist.
        """
        if split == "heldout":
            raise ConfigError(f"{self.name} holds no combination out: choose one of the splits {', '.join(SPLITS)}")
        if split not in SPLITS:
            raise ConfigError(f"unknown split {split!r}; {nearest(str(split), SPLITS)}")
        return self.sizes[split]

    def positions(self, indices: npt.ArrayLike, split: Split) -> np.ndarray:
        """Positions (n,) of a split as int64.

        Raises:
            ConfigError: see `count`. DataError: no integers in one row, or a position outside the split.
        """
        indices, count = row_of_integers(indices, "positions"), self.count(split)
        if len(indices) and (indices.min() < 0 or indices.max() >= count):
            got = f"{indices.min()} to {indices.max()}"
            raise DataError(
                f"the split {split} of {self.name} has {count:,} samples: expected numbers below that from 0, got {got}"
            )
        return indices
