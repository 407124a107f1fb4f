"""Multiplicative interactions: a vector scales, shifts or maps another one; in general form and as FiLM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from molyneux.core import choice_problems
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec
from molyneux.learn.encoders.layers import he_normal
from molyneux.learn.fusion.fusion import Fusion, FusionLayer, chosen_modality, refuse_size, vector_widths

Form = Literal["matrix", "vector", "scalar"]


@dataclass(frozen=True)
class MultiplicativeInteractions(Fusion):
    """Multiplicative interactions (MI); Jayakumar et al. (ICLR 2020), equation 1 and section 3 for its forms.

    Of two vectors, the "matrix" form is `z1 W z2 + z1 U + z2 V + b` with a tensor W of three axes, the "vector" form
    `(z1 W + v) * z2 + z1 U + b`, and the "scalar" form `(z1 . w + v) z2 + z1 . u + b`. In the last two the result has the width
    of `z2`. Of more modalities, the result of the first two and the third are joined in the same way, and so on. An absent
    modality is a vector of zeros, so the terms of the others remain in the matrix form.

    Deviation: with three modalities MultiBench makes a matrix of the first two, which maps the third; the chain here has the same
    products of three numbers, with fewer weights.

    Args:
        form: "matrix", "vector" or "scalar".
        features: numbers of the result of the matrix form.
    """

    form: Form = "matrix"
    features: int = 64

    fewest = 2

    def __post_init__(self) -> None:
        refuse(choice_problems(form=(self.form, get_args(Form))) + too_small(self, "features"))

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        first, *others = vector_widths(encodings).values()
        interactions: list[nn.Module] = []
        for width in others:
            if self.form == "matrix":
                sizes = {"one vector": first, "the other": width, "features": self.features}
                refuse_size("MultiplicativeInteractions", sizes, "lower its features or a width, or choose LowRank")
            interactions.append(INTERACTIONS[self.form](first, width, self.features))
            first = self.features if self.form == "matrix" else width
        return MultiplicativeLayer(first, interactions)


class MultiplicativeLayer(FusionLayer):
    """See `MultiplicativeInteractions`."""

    def __init__(self, features: int, interactions: list[nn.Module]) -> None:
        super().__init__(features)
        self.interactions = nn.ModuleList(interactions)

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        first, *others = (encoding.vector for encoding in encodings.values())
        for interaction, other in zip(self.interactions, others, strict=True):
            first = interaction(first, other)
        return first


class MatrixInteraction(nn.Module):
    """`z1 W z2 + z1 U + z2 V + b`, of a tensor W (D1, D2, F)."""

    def __init__(self, first: int, second: int, features: int) -> None:
        super().__init__()
        self.tensor = nn.Parameter(torch.randn(first, second, features) * (first * second) ** -0.5)
        self.first, self.second = nn.Linear(first, features), nn.Linear(second, features, bias=False)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Vectors (B, D1) and (B, D2) to (B, F)."""
        product = (first.unsqueeze(2) * second.unsqueeze(1)).flatten(1) @ self.tensor.flatten(0, 1)
        result: Tensor = product + self.first(first) + self.second(second)
        return result


class VectorInteraction(nn.Module):
    """`(z1 W + v) * z2 + z1 U + b`, of matrices W and U (D1, D2)."""

    def __init__(self, first: int, second: int, features: int) -> None:
        super().__init__()
        self.scale, self.shift = nn.Linear(first, second), nn.Linear(first, second)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Vectors (B, D1) and (B, D2) to (B, D2)."""
        result: Tensor = self.scale(first) * second + self.shift(first)
        return result


class ScalarInteraction(VectorInteraction):
    """`(z1 . w + v) z2 + z1 . u + b`, of vectors w and u (D1,)."""

    def __init__(self, first: int, second: int, features: int) -> None:
        super().__init__(first, 1, features)


INTERACTIONS: dict[Form, type[nn.Module]] = {
    "matrix": MatrixInteraction,
    "vector": VectorInteraction,
    "scalar": ScalarInteraction,
}


@dataclass(frozen=True)
class FiLMFusion(Fusion):
    """Feature-wise linear modulation: all other modalities scale and shift the layers of one; Perez et al. (AAAI 2018), eq. 1, 2.

    The vector of the target is mapped to `width` numbers; then each block adds `relu((1 + gamma) * W h + beta)`, where gamma and
    beta are made of the vectors of the others by a hidden layer. (FiLM of a question and the maps of a picture is the predictor
    `FiLM`.)

    Args:
        target: the modality that is modulated; by default the first.
        width: numbers of each block, and of the result.
        blocks: of the target's layers.
        hidden: units of the layer that reads the other modalities.
    """

    target: str = ""
    width: int = 128
    blocks: int = 2
    hidden: int = 128

    fewest = 2

    def __post_init__(self) -> None:
        refuse(too_small(self, "width", "blocks", "hidden"))

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        return FiLMLayer(self, encodings, chosen_modality("target", self.target, encodings, next(iter(encodings))))


class FiLMLayer(FusionLayer):
    """See `FiLMFusion`."""

    def __init__(self, settings: FiLMFusion, encodings: Mapping[str, EncodingSpec], target: str) -> None:
        width = settings.width
        super().__init__(width)
        self.target, widths = target, vector_widths(encodings)
        sizes = (sum(widths.values()) - widths[target], settings.hidden, 2 * settings.blocks * width)
        read, modulate = (nn.Linear(a, b) for a, b in pairwise(sizes))
        self.condition = nn.Sequential(he_normal(read), nn.ReLU(), modulate)
        self.entry = nn.Linear(widths[target], width)
        self.blocks = nn.ModuleList(he_normal(nn.Linear(width, width)) for _ in range(settings.blocks))

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        others = torch.cat([item.vector for name, item in encodings.items() if name != self.target], 1)
        modulation = self.condition(others).unflatten(1, (len(self.blocks), 2, -1))
        hidden: Tensor = self.entry(encodings[self.target].vector)
        for number, block in enumerate(self.blocks):
            gamma, beta = modulation[:, number].unbind(1)
            hidden = hidden + ((1 + gamma) * block(hidden) + beta).relu()
        return hidden
