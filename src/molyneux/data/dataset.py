"""Data sets in splits: the base class of worlds and benchmarks, and the source of one split."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from molyneux.core import Batch, ConfigError, DataError, JudgeMaterial, Reader, Spec, nearest
from molyneux.core.sources import check_positions, row_of_integers
from molyneux.core.tooling.kinds import refuse_wrong_kinds

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

    fetch_size: ClassVar[int | None] = None
    """How many samples are best asked for at once, where small batches are slow; None where any number is as good."""

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

    def factor_codes(self, indices: np.ndarray, *, split: Split, seed: int) -> np.ndarray:
        """The factor codes (n, F) int64 of these samples; errors as `batch`. No view is made where codes are known without."""
        factors = self.batch(indices, split=split, seed=seed).factors
        return np.empty((len(indices), 0), np.int64) if factors is None else factors.numpy()

    def numbers_with(
        self, values: Mapping[str, str], *, split: Split, seed: int, count: int, start: int = 0, most: int = 20_000
    ) -> np.ndarray:
        """Numbers of the first samples, from `start` on, whose factors have these values; at most `count`, (n,) int64.

        Args:
            values: the value of each factor that is asked for; none where any sample will do.
            split: which split.
            seed: of the samples.
            count: how many are wanted.
            start: the number of the first sample that is looked at.
            most: how many samples are looked at.

        Raises:
            ConfigError: no such split, factor or value.
        """
        spec, found, size = self.spec, np.empty(0, np.int64), self.size(split)
        places = [spec.factor_index(name) for name in values]
        codes = [_code(spec, name, value) for name, value in values.items()]
        end = min(start + most, start + most if size is None else size)
        step = 1024 if values else count
        for first in range(start, end, step):
            numbers = np.arange(first, min(first + step, end))
            fitting = (self.factor_codes(numbers, split=split, seed=seed)[:, places] == codes).all(1) if values else slice(None)
            found = np.concatenate([found, numbers[fitting]])[:count]
            if len(found) == count:
                break
        return found

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


class World(SplitDataset):
    """A generator of scenes with known factors: a seed becomes a batch of scenes, and scenes become views.

    Sample `i` of a split is a function of (world, version, settings, split, seed, `i`) alone. A subclass is final, or a family of
    worlds such as `SentenceWorld`. Settings of another kind than the constructor's annotations say are refused before it is
    called (ConfigError).
    """

    licence: ClassVar[str] = "Apache-2.0"
    origin: ClassVar[str] = "generated by this package"

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        refuse_wrong_kinds(cls)

    def judge_material(self, modality: str, split: Split, size: int, *, seed: int) -> JudgeMaterial:
        """What a judge of a modality is trained on; a world that can alter its scenes gives more than the views."""
        return JudgeMaterial(self.source(split, size, seed=seed))


class SplitSource:
    """The first samples of a split as a `Source`, all of a split that ends by default; errors as `SplitDataset.source`."""

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
        named = {"dataset": self.dataset.name, "settings": dict(self.dataset.settings)}
        return {**named, "split": self.split, "size": self._size, "seed": self.seed}

    @property
    def fetch_size(self) -> int | None:
        """How many samples are best asked for at once, where small batches are slow; None where any number is as good."""
        return self.dataset.fetch_size

    def __len__(self) -> int:
        return self._size

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        return self.dataset.batch(check_positions(indices, self._size), split=self.split, seed=self.seed)


def _code(spec: Spec, name: str, value: str) -> int:
    """The code of a value of a factor; ConfigError where it has no such value."""
    values = spec.factor(name).values
    if value not in values:
        raise ConfigError(f"{name} has no value {value!r}; {nearest(value, values)}")
    return values.index(value)
