"""Fully connected nets: for anything that can be flattened."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from torch import nn

from molyneux.core import ConfigError, Modality
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.shaping import Reshape


@dataclass(frozen=True)
class Dense(Net):
    """Fully connected layers with ReLU on both sides; fits every kind of modality.

    Symbols enter as learned vectors. On short, templated texts it is the fastest pair there is, and it reads and writes every
    position on its own.

    Args:
        width: units of each hidden layer.
        layers: number of hidden layers on each side.
        embedding: length of the vector of each symbol.
    """

    width: int = 256
    layers: int = 2
    embedding: int = 16

    kinds = frozenset({"audio", "image", "label", "series", "set", "tabular", "text"})

    def __post_init__(self) -> None:
        problems = [
            f"{name}: expected at least 1, got {getattr(self, name)}"
            for name in ("width", "layers", "embedding")
            if getattr(self, name) < 1
        ]
        if problems:
            raise ConfigError(problems)

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        entry: nn.Module = nn.Embedding(len(modality.symbols), self.embedding) if modality.symbols else nn.Identity()
        size = modality.size * (self.embedding if modality.symbols else 1)
        return nn.Sequential(entry, Reshape(size), *self._hidden(size), nn.Linear(self.width, outputs))

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        last = nn.Linear(self.width, parameters * modality.size)
        return nn.Sequential(*self._hidden(inputs), last, Reshape(parameters, *modality.shape))

    def _hidden(self, inputs: int) -> list[nn.Module]:
        sizes = [inputs] + [self.width] * self.layers
        return [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
