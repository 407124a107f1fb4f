"""The papers' text net: a character transformer on each side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from molyneux.core import ConfigError, Modality
from molyneux.core.views import text_lengths
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.series import Transpose


@dataclass(frozen=True)
class CharacterTransformer(Net):
    """Transformer layers over symbols; the decoder writes all positions at once.

    Sejnova et al., Benchmarking Multimodal Variational Autoencoders: CdSprites+ Dataset and Toolkit (2023), A.2.2, after
    ACTOR (Petrovich et al., ICCV 2021). The encoder averages over time; the decoder asks with positions and attends to the
    code, whose size is the size of its layers and so has to be even and a multiple of `heads`.

    Deviations from the published code, whose encoding of a text depends on its slot in the batch: positions count time,
    and what comes after the end of a text takes part neither in the attention nor in the mean. The decoder has no sigmoid
    before its last layer.

    Args:
        layers: transformer layers on each side.
        heads: attention heads.
        feedforward: units of the inner layer.
        width: size of the encoder's layers.
        dropout: share of units dropped in training.
    """

    layers: int = 8
    heads: int = 2
    feedforward: int = 1024
    width: int = 54
    dropout: float = 0.1

    kinds = frozenset({"text"})

    def __post_init__(self) -> None:
        names = ("layers", "heads", "feedforward", "width")
        problems = [f"{name}: expected at least 1, got {getattr(self, name)}" for name in names if getattr(self, name) < 1]
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout: expected a share in 0..1, below 1, got {self.dropout}")
        if problems:
            raise ConfigError(problems)
        self._check_size(self.width, "width")

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        layer = nn.TransformerEncoderLayer(self.width, activation="gelu", **self._layer())
        return TransformerEncoder(modality, nn.TransformerEncoder(layer, self.layers, enable_nested_tensor=False), outputs)

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        self._check_size(inputs, f"the code of {modality.name}")
        layer = nn.TransformerDecoderLayer(inputs, activation="gelu", **self._layer())
        return TransformerDecoder(modality, nn.TransformerDecoder(layer, self.layers), parameters)

    def _layer(self) -> dict[str, Any]:
        return {"nhead": self.heads, "dim_feedforward": self.feedforward, "dropout": self.dropout, "batch_first": True}

    def _check_size(self, size: int, what: str) -> None:
        step = math.lcm(2, self.heads)
        if size % step:
            near = f"{size - size % step} or {size - size % step + step}" if size > step else f"{step}"
            raise ConfigError(
                f"CharacterTransformer: expected an even size that is a multiple of its {self.heads} heads for {what}, "
                f"got {size}: choose {near}"
            )


class TransformerEncoder(nn.Module):
    """Symbols to raw numbers: embedding plus positions, attention within the text, mean over the text."""

    positions: Tensor

    def __init__(self, modality: Modality, layers: nn.TransformerEncoder, outputs: int) -> None:
        super().__init__()
        width = layers.layers[0].linear1.in_features
        self.modality = modality
        self.embedding = nn.Embedding(len(modality.symbols), width)
        self.register_buffer("positions", time_positions(modality.shape[0], width), persistent=False)
        self.layers, self.last = layers, nn.Linear(width, outputs)

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (B, L) to raw numbers (B, outputs)."""
        beyond, symbols = self._beyond(ids), self.embedding(ids) + self.positions
        # torch's attention takes no batch of nothing.
        hidden = self.layers(symbols, src_key_padding_mask=beyond) if len(ids) else symbols
        kept = (~beyond).unsqueeze(-1)
        mean = hidden.where(kept, 0.0).sum(1) / kept.sum(1)
        raw: Tensor = self.last(mean)
        return raw

    def _beyond(self, ids: Tensor) -> Tensor:
        """Which positions lie after the end of their text, (B, L) bool; an empty text keeps its first."""
        lengths = text_lengths(self.modality, ids).clamp_min(1)
        return torch.arange(ids.shape[1], device=ids.device) >= lengths.unsqueeze(-1)


class TransformerDecoder(nn.Module):
    """Codes to raw numbers: positions ask, the code answers."""

    positions: Tensor

    def __init__(self, modality: Modality, layers: nn.TransformerDecoder, parameters: int) -> None:
        super().__init__()
        width = layers.layers[0].linear1.in_features
        self.register_buffer("positions", time_positions(modality.shape[0], width), persistent=False)
        self.layers, self.last, self.transpose = layers, nn.Linear(width, parameters), Transpose()

    def forward(self, codes: Tensor) -> Tensor:
        """Codes (N, width) to raw numbers (N, parameters, L)."""
        queries = self.positions.expand(len(codes), *self.positions.shape)
        raw: Tensor = self.transpose(self.last(self.layers(queries, codes.unsqueeze(1))))
        return raw


def time_positions(length: int, width: int) -> Tensor:
    """Sines and cosines of time, (length, width); Vaswani et al., Attention Is All You Need (NeurIPS 2017), section 3.5."""
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    angles = torch.arange(length).unsqueeze(-1) * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
