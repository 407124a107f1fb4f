"""Late fusion: the vectors of the modalities side by side, or their sum, mean or maximum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from molyneux.core import ConfigError, choice_problems
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec
from molyneux.learn.encoders.layers import perceptron
from molyneux.learn.fusion.fusion import Fusion, FusionLayer, Projections, presence, vector_widths

Pool = Literal["mean", "sum", "max"]  # in the order of `DeepSets`: Python takes literals of one set for the same


@dataclass(frozen=True)
class Concatenation(Fusion):
    """Late fusion (LF): the vectors of all modalities side by side; Liang et al., MultiBench (2021), section 3.2.

    An absent modality has zeros in its place. Of one modality alone it is the unimodal model.

    Args:
        layers: units of fully connected layers after the vectors, with ReLU between them, the last of which gives the features;
            none for the vectors themselves.
    """

    layers: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if any(size < 1 for size in self.layers):
            raise ConfigError(f"layers: expected units of each layer, at least 1, got {self.layers}")

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        return ConcatenationLayer((sum(vector_widths(encodings).values()), *self.layers))


class ConcatenationLayer(FusionLayer):
    """See `Concatenation`; of the widths of the vectors together and of each layer."""

    def __init__(self, widths: tuple[int, ...]) -> None:
        super().__init__(widths[-1])
        self.layers = perceptron(widths)

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        first = next(iter(encodings.values())).vector
        features: Tensor = self.layers(torch.cat([encoding.vector.to(first.dtype) for encoding in encodings.values()], 1))
        return features


@dataclass(frozen=True)
class Pooling(Fusion):
    """Sum, mean or maximum of the vectors of the modalities that are present, each after a linear layer of its own.

    The number of features does not depend on the number of modalities, and an absent one is left out rather than filled in.

    Args:
        pool: "sum", "mean" or "max".
        width: numbers of each vector after its linear layer.
    """

    pool: Pool = "mean"
    width: int = 128

    def __post_init__(self) -> None:
        refuse(choice_problems(pool=(self.pool, get_args(Pool))) + too_small(self, "width"))

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        return PoolingLayer(self, encodings)


class PoolingLayer(FusionLayer):
    """See `Pooling`; 0 for a sample without any modality."""

    def __init__(self, settings: Pooling, encodings: Mapping[str, EncodingSpec]) -> None:
        super().__init__(settings.width)
        self.pool, self.projections = settings.pool, Projections(vector_widths(encodings), settings.width)

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        vectors, present = torch.stack([*self.projections.vectors(encodings).values()], 1), presence(encodings)
        if self.pool == "max":
            highest = vectors.masked_fill(~present.unsqueeze(2), -torch.inf).amax(1)
            return highest.masked_fill(~present.any(1, keepdim=True), 0)
        total = vectors.sum(1)
        return total if self.pool == "sum" else total / present.sum(1, keepdim=True).clamp(min=1)
