"""Squares: the squares of the vectors of the modalities, added up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from molyneux.core import ConfigError
from molyneux.learn.fusion.fusion import Fusion, FusionLayer, Projections, presence, vector_widths


@dataclass(frozen=True)
class Squares(Fusion):
    """The sum of the squares of the vectors that are present, each after a linear layer of its own, for a test.

    Args:
        width: numbers of each vector after its linear layer.
    """

    width: int = 8

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ConfigError(f"width: expected at least 1, got {self.width}")

    def build(self, encodings: Mapping[str, Any]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        return SquaresLayer(self, encodings)


class SquaresLayer(FusionLayer):
    """See `Squares`."""

    def __init__(self, settings: Squares, encodings: Mapping[str, Any]) -> None:
        super().__init__(settings.width)
        self.projections = Projections(vector_widths(encodings), settings.width)

    def forward(self, encodings: Mapping[str, Any], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        vectors = torch.stack([*self.projections.vectors(encodings).values()], 1)
        return (vectors.square() * presence(encodings).unsqueeze(2)).sum(1)
