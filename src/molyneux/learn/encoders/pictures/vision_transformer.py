"""ViT: transformer layers over the patches of a picture."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from molyneux.core import Modality
from molyneux.learn.checks import dropout_problems, head_problems, refuse, too_small
from molyneux.learn.encoders.encoding import Encoder, Encoding, ViewEncoder
from molyneux.learn.encoders.pictures.small import padded_pictures
from molyneux.learn.encoders.sequences import transformer_layers


@dataclass(frozen=True)
class ViT(ViewEncoder):
    """A vision transformer; Dosovitskiy et al., An Image is Worth 16x16 Words (ICLR 2021), equations 1 to 4.

    Patches go through a linear layer and get learned positions; a learned token stands before them, whose state is the vector.

    Args:
        patch: side of a patch in pixels; pictures are padded with black to a multiple of it.
        width: of the layers; a multiple of `heads`.
        heads: attention heads.
        layers: transformer layers.
        feedforward: units of the inner layer.
        dropout: share of units dropped in training.
    """

    patch: int = 7
    width: int = 64
    heads: int = 4
    layers: int = 4
    feedforward: int = 128
    dropout: float = 0.0

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        problems = too_small(self, "patch", "width", "heads", "layers", "feedforward") + dropout_problems(dropout=self.dropout)
        refuse(problems or head_problems(width=self.width, heads=self.heads))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return ViTEncoder(modality, self)


class ViTEncoder(Encoder):
    """See `ViT`; the parts are the states of the patches."""

    def __init__(self, modality: Modality, settings: ViT) -> None:
        rows, columns = (-(-size // settings.patch) for size in modality.shape[1:])
        width, layers = settings.width, settings.layers
        super().__init__(modality, vector=width, width=width, grid=(rows, columns))
        self.patch = settings.patch
        self.entry = nn.Conv2d(modality.shape[0], width, settings.patch, settings.patch)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, 1 + rows * columns, width) * 0.02)
        self.layers = transformer_layers(width, settings.heads, layers, settings.feedforward, settings.dropout)

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        patches = self.entry(padded_pictures(view, self.patch)).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.token.to(patches.dtype).expand(len(view), -1, -1), patches], 1) + self.positions
        states = self.layers(tokens)
        return Encoding(states[:, 0], states[:, 1:], torch.ones_like(states[:, 1:, 0], dtype=torch.bool))
