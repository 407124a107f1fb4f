"""Tensor fusion: the outer product of all vectors, whole or as a sum of terms of rank one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec
from molyneux.learn.fusion.fusion import Fusion, FusionLayer, Projections, refuse_size, vector_widths


@dataclass(frozen=True)
class TensorFusion(Fusion):
    """Tensor fusion (TF): the outer product of `[1; z_m]` over all modalities; Zadeh et al. (EMNLP 2017), equations 1 and 2.

    Tensor Fusion Network for Multimodal Sentiment Analysis. An absent modality is `[1; 0]`, so that the products of the others
    remain. The number of features is the product of the widths, each plus 1.

    Args:
        width: numbers of each vector, after a linear layer; None multiplies the vectors as the encoders give them.
    """

    width: int | None = 16

    def __post_init__(self) -> None:
        refuse([] if self.width is None else too_small(self, "width"))

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        widths = vector_widths(encodings) if self.width is None else dict.fromkeys(encodings, self.width)
        sizes = {name: width + 1 for name, width in widths.items()}
        features = refuse_size("TensorFusion", sizes, "lower its width, or choose LowRank, which grows with their sum")
        return TensorFusionLayer(features, None if self.width is None else Projections(vector_widths(encodings), self.width))


class TensorFusionLayer(FusionLayer):
    """See `TensorFusion`. Features run through the numbers of the last modality fastest."""

    def __init__(self, features: int, projections: Projections | None) -> None:
        super().__init__(features)
        self.projections = projections

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        if self.projections is None:
            vectors = [encoding.vector for encoding in encodings.values()]
        else:
            vectors = [*self.projections.vectors(encodings).values()]
        product, *rest = map(with_one, vectors)
        for vector in rest:
            product = (product.unsqueeze(2) * vector.unsqueeze(1)).flatten(1)
        return product


@dataclass(frozen=True)
class LowRank(Fusion):
    """Low-rank tensor fusion (LRTF); Liu et al., Efficient Low-rank Multimodal Fusion (ACL 2018), equations 5 to 8.

    `h = sum_r w_r prod_m ([1; z_m] W_m^r) + b`: tensor fusion and a linear layer whose weights are a sum of `rank` terms. The
    number of weights grows with the sum of the widths. An absent modality is `[1; 0]`.

    Deviations: the weights `w_r` of the ranks are those of the authors' code. The row of a factor that belongs to the 1 starts at
    1 and the others with the variance `1 / inputs`, so that products of many modalities keep their size, and an absent one starts
    as a factor of 1. In MultiBench's published code the factors are never trained.

    Args:
        features: numbers of the result, F.
        rank: terms of the sum.
    """

    features: int = 128
    rank: int = 32

    def __post_init__(self) -> None:
        refuse(too_small(self, "features", "rank"))

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        for spec in encodings.values():
            sizes = {f"1 + the vector of {spec.name}": spec.vector + 1, "rank": self.rank, "features": self.features}
            refuse_size("LowRank", sizes, "lower its rank or features, or the width of the encoder")
        return LowRankLayer(self, encodings)


class LowRankLayer(FusionLayer):
    """See `LowRank`."""

    def __init__(self, settings: LowRank, encodings: Mapping[str, EncodingSpec]) -> None:
        super().__init__(settings.features)
        self.rank, columns = settings.rank, settings.rank * settings.features
        self.factors = ModalityDict[nn.Linear]()
        for name, width in vector_widths(encodings).items():
            # The row of the factor that belongs to the 1 is the bias of a linear layer.
            self.factors[name] = nn.Linear(width, columns)
            nn.init.normal_(self.factors[name].weight, std=(width + 1) ** -0.5)
            nn.init.ones_(self.factors[name].bias)
        self.weights = nn.Parameter(torch.randn(settings.rank) * settings.rank**-0.5)
        self.bias = nn.Parameter(torch.zeros(settings.features))

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        product = torch.ones((), device=self.bias.device)
        for name, factor in self.factors.items():
            product = product * factor(encodings[name].vector)
        return torch.einsum("brf,r->bf", product.reshape(-1, self.rank, self.features), self.weights) + self.bias


def with_one(vectors: Tensor) -> Tensor:
    """Vectors (B, D) with a 1 before them, (B, 1 + D)."""
    return torch.cat([torch.ones_like(vectors[:, :1]), vectors], 1)
