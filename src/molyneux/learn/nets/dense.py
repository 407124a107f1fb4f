"""Fully connected nets for anything that can be flattened, and the net of each kind of modality where none is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import get_args

from torch import Tensor, nn

from molyneux.core import Kind, Modality
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.nets.images import Patches
from molyneux.learn.nets.net import Encoder, Net, Reshape, zeros_beyond
from molyneux.learn.nets.series import Series, Video


@dataclass(frozen=True)
class Dense(Net):
    """Fully connected layers with ReLU on both sides; fits every kind of modality.

    Symbols enter as learned vectors. On short, templated texts it is the fastest net, and it reads and writes every position
    independently of the others.

    Args:
        width: units of each hidden layer.
        layers: number of hidden layers on each side.
        embedding: length of the vector of each symbol.
    """

    width: int = 256
    layers: int = 2
    embedding: int = 16

    kinds = frozenset(get_args(Kind))

    def __post_init__(self) -> None:
        refuse(too_small(self, "width", "layers", "embedding"))

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        size = modality.size * (self.embedding if modality.symbols else 1)
        layers = (Reshape(size), *self._hidden(size), nn.Linear(self.width, outputs))
        if modality.symbols:
            return SymbolEncoder(modality, nn.Embedding(len(modality.symbols), self.embedding), *layers)
        return Encoder(modality, *layers)

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        last = nn.Linear(self.width, parameters * modality.size)
        return nn.Sequential(*self._hidden(inputs), last, Reshape(parameters, *modality.shape))

    def _hidden(self, inputs: int) -> list[nn.Module]:
        sizes = [inputs] + [self.width] * self.layers
        return [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]


class SymbolEncoder(Encoder):
    """An encoder whose first layer is an embedding: beyond the lengths the vectors of the symbols are zero."""

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Raw numbers (B, outputs) of ids (B, *shape)."""
        if lengths is None or self.length_axis is None:
            return super().forward(view)
        embedding, *layers = self
        raw: Tensor = zeros_beyond(embedding(zeros_beyond(view, lengths, 1)), lengths, 1)
        for layer in layers:
            raw = layer(raw)
        return raw


def default_net(modality: Modality) -> Net:
    """The fast net of a modality's kind."""
    nets: dict[str, type[Net]] = {"image": Patches, "series": Series, "video": Video}
    return nets.get(modality.kind, Dense)()
