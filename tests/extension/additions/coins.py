"""Coins: a world of one label, what a coin shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, Factor, Modality, Reader, Spec, seeds
from molyneux.data.dataset import Split, World
from molyneux.data.lookup_reader import label_reader

_SIDES = ("heads", "tails")


@final
class Coins(World):
    """Tosses of a coin; the label says the factor `side`.

    Args:
        noise: by how much heads are likelier than a half, 0 to 0.5.

    Raises:
        ConfigError: another number.
    """

    name: ClassVar[str] = "coins-v1"

    def __init__(self, *, noise: float = 0.0) -> None:
        if not 0 <= noise <= 0.5:
            raise ConfigError(f"noise: expected 0 to 0.5, got {noise}")
        self._noise = noise

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data."""
        return {"noise": self._noise}

    @property
    def spec(self) -> Spec:
        """One label and its factor."""
        return Spec((Modality("label", "label", (), "int64", _SIDES),), (Factor("side", _SIDES),))

    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples of these numbers (B,) of a split; errors as `World.batch`."""
        numbers = self.numbers(indices, split)
        drawn = seeds.uniforms(seeds.key(seed, self.name, split), numbers, 1)[:, 0]
        side = torch.from_numpy((drawn >= 0.5 + self._noise).astype(np.int64))
        return Batch({"label": side}, factors=side[:, None])

    def readers(self) -> Mapping[str, Reader]:
        """The label says the side."""
        return {"label": label_reader(self.spec.modality("label"), self.spec.factors[0])}
