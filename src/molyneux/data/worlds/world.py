"""The contract of a world: seeds become batches of scenes, and scenes become views.

Sample `i` of a split is a function of (world, version, settings, split, seed, `i`) alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np

from molyneux.core import Batch, ConfigError, JudgeMaterial, Reader, Spec, nearest

Split = Literal["heldout", "test", "train", "validation"]
"""Splits are disjoint random streams. `heldout` draws only combinations that a world was told to hold out."""


class World(ABC):
    """A generator of scenes with known factors.

    A subclass is final, takes all its settings as keyword arguments, and checks them at construction.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Name with version, such as `cdsprites-v1`; a change that changes bytes is a new version."""

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data: with name, split and seed they determine every byte."""

    @property
    @abstractmethod
    def spec(self) -> Spec:
        """What a batch looks like."""

    @abstractmethod
    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples of these numbers (B,), any order, any non-negative integers."""

    @abstractmethod
    def readers(self) -> Mapping[str, Reader]:
        """The exact readers this world has, by modality."""

    def visible(self, modality: str) -> tuple[str, ...]:
        """Names of the factors that a view of a modality shows: what its reader may be asked for; all unless a world knows."""
        return tuple(factor.name for factor in self.spec.factors)

    def judge_material(self, modality: str, split: Split, size: int, *, seed: int) -> JudgeMaterial:
        """What a judge of a modality is trained on; a world that can alter its scenes gives more than the views."""
        return JudgeMaterial(self.source(split, size, seed=seed))

    def source(self, split: Split, size: int, *, seed: int) -> WorldSource:
        """The first `size` samples of a split, made as they are read."""
        return WorldSource(self, split, size, seed)


class WorldSource:
    """A slice of an endless split as a `Source`."""

    def __init__(self, world: World, split: Split, size: int, seed: int) -> None:
        if split not in get_args(Split):
            raise ConfigError(f"unknown split {split!r}; {nearest(str(split), get_args(Split))}")
        if size < 1:
            raise ConfigError(f"expected a size of at least 1, got {size}")
        self.world, self.split, self.size, self.seed = world, split, size, seed

    @property
    def spec(self) -> Spec:
        """What a batch looks like."""
        return self.world.spec

    @property
    def origin(self) -> Mapping[str, Any]:
        """Everything the samples depend on, as plain data."""
        settings = dict(self.world.settings)
        return {"world": self.world.name, "settings": settings, "split": self.split, "size": self.size, "seed": self.seed}

    def __len__(self) -> int:
        return self.size

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        return self.world.batch(np.asarray(indices), split=self.split, seed=self.seed)
