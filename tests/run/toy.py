"""A world small enough to run a whole experiment in a second: a point of the plane, and the word for its corner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, ConfigError, Factor, Modality, Reader, Reading, Spec
from molyneux.core.seeds import key, uniforms
from molyneux.data import World
from molyneux.run import read_experiment, run_experiment

WORDS = ("aa", "ab", "ba", "bb")


class Toy(World):
    """A point near one of the four corners of a square, and two letters that say which.

    Args:
        spread: how far from its corner a point may lie.
        nan_at: the number of a sample whose point is not a number; none by default.
    """

    name = "toy-v1"

    def __init__(self, *, spread: float = 0.2, nan_at: int | None = None) -> None:
        if not 0 <= spread < 1:
            raise ConfigError(f"spread: expected 0 to 1, got {spread}")
        self.spread, self.nan_at = spread, nan_at

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings."""
        return {"spread": self.spread, "nan_at": self.nan_at}

    @property
    def spec(self) -> Spec:
        """A point and a word."""
        point = Modality("point", "tabular", (2,))
        word = Modality("word", "text", (2,), "uint8", symbols=("a", "b"))
        return Spec((point, word), (Factor("corner", WORDS),))

    def batch(self, indices: np.ndarray, *, split: str, seed: int) -> Batch:
        """Samples."""
        draws = uniforms(key(seed, self.name, split), indices, 3)
        corner = (draws[:, 0] * 4).astype(np.int64)
        letters = np.stack([corner // 2, corner % 2], 1)
        point = (2.0 * letters - 1.0 + self.spread * (2 * draws[:, 1:] - 1)).astype(np.float32)
        if self.nan_at is not None:
            point[indices == self.nan_at] = np.nan
        views = {"point": torch.from_numpy(point), "word": torch.from_numpy(letters.astype(np.uint8))}
        return Batch(views, factors=torch.from_numpy(corner[:, None]))

    def readers(self) -> Mapping[str, Reader]:
        """Both views are read exactly."""
        return {"point": ToyReader("point"), "word": ToyReader("word")}


class ToyReader:
    """Reads the corner."""

    factors = ("corner",)
    accuracy: Mapping[str, float] = {"corner": 1.0}
    version = "1"

    def __init__(self, modality: str) -> None:
        self.modality = modality

    def read(self, view: Tensor) -> Reading:
        """The corner of a point, or the corner a word names."""
        bits = (view > 0).long() if self.modality == "point" else view.long()
        return Reading(2 * bits[:, :1] + bits[:, 1:], self.factors)


def work(settings: Mapping[str, Any], overrides: Sequence[tuple[str, Any]], folder: str) -> None:
    """What a process does that is going to be killed."""
    run_experiment(read_experiment(settings, overrides), Path(folder))
