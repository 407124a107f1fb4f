"""Transformer text nets: one whose decoder gives all positions at once, and one whose decoder is autoregressive."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from molyneux.core import ConfigError, Modality
from molyneux.core.views import text_lengths
from molyneux.learn.checks import dropout_problems, refuse, too_small
from molyneux.learn.encoders.nets.autoregressive import AutoregressiveNet, DecoderEmbedding, Decoding, TextDecoder
from molyneux.learn.encoders.nets.general import Transpose
from molyneux.learn.encoders.nets.net import Net, zeros_beyond
from molyneux.learn.likelihoods import ViewLikelihood


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
        layers: on each side.
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
        refuse(too_small(self, "layers", "heads", "feedforward", "width") + dropout_problems(dropout=self.dropout))
        self._check_size(self.width, "width")

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        layer = nn.TransformerEncoderLayer(self.width, activation="gelu", **self.layer_settings())
        return TransformerEncoder(modality, nn.TransformerEncoder(layer, self.layers, enable_nested_tensor=False), outputs)

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        self._check_size(inputs, f"the code of {modality.name}")
        layer = nn.TransformerDecoderLayer(inputs, activation="gelu", **self.layer_settings())
        return TransformerDecoder(modality, nn.TransformerDecoder(layer, self.layers), parameters)

    def layer_settings(self) -> dict[str, Any]:
        """Arguments of torch's transformer layers."""
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

    def forward(self, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Ids (B, L) to raw numbers (B, outputs)."""
        ids = ids if lengths is None else zeros_beyond(ids, lengths, 1)
        beyond, symbols = self._beyond(ids, lengths), self.embedding(ids) + self.positions
        # torch's attention takes no batch of nothing.
        hidden = self.layers(symbols, src_key_padding_mask=beyond) if len(ids) else symbols
        kept = (~beyond).unsqueeze(-1)
        mean = hidden.where(kept, 0.0).sum(1) / kept.sum(1)
        raw: Tensor = self.last(mean)
        return raw

    def _beyond(self, ids: Tensor, lengths: Tensor | None) -> Tensor:
        """Which positions lie after the end of their text, (B, L) bool; an empty text keeps its first."""
        lengths = text_lengths(self.modality, ids, lengths).clamp_min(1)
        return torch.arange(ids.shape[1], device=ids.device) >= lengths.unsqueeze(-1)


class TransformerDecoder(nn.Module):
    """Codes to raw numbers: each position is a query, and the code is what it attends to."""

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


@dataclass(frozen=True)
class CausalTransformer(AutoregressiveNet):
    """Transformer layers on each side; the decoder writes symbol by symbol, given the code and the symbols before.

    The encoder is that of `CharacterTransformer`. The decoder is causal self-attention (Vaswani et al., Attention Is All You
    Need, NeurIPS 2017) with the code, through a linear layer, added to the vector of every symbol that is read: the
    "embedding" scheme of Li et al., Optimus (EMNLP 2020).

    Args:
        layers: transformer layers on each side.
        heads: attention heads.
        feedforward: units of the inner layer.
        width: size of the layers; even and a multiple of `heads`.
        dropout: share of units dropped in training.
        word_dropout: share of the symbols before that are replaced by an unknown one, in training, when the decoder scores a
            text (Bowman et al., CoNLL 2016, section 3.1).
        decoding: how the one text to show is found: "greedy", the most probable symbol after the other, or "beam".
        beams: beams of the search.
    """

    layers: int = 2
    heads: int = 4
    feedforward: int = 256
    width: int = 64
    dropout: float = 0.1
    word_dropout: float = 0.0
    decoding: Decoding = "greedy"
    beams: int = 5

    def __post_init__(self) -> None:
        problems = self.decoding_problems()
        try:
            self.character_transformer()
        except ConfigError as error:
            problems += error.problems
        refuse(problems)

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        return self.character_transformer().encoder(modality, outputs)

    def decoder(self, modality: Modality, inputs: int, likelihood: ViewLikelihood) -> nn.Module:
        """See `Net`."""
        self.check_likelihood(modality, likelihood)
        return CausalDecoder(self, modality, inputs)

    def character_transformer(self) -> CharacterTransformer:
        """The net whose encoder this one has."""
        return CharacterTransformer(self.layers, self.heads, self.feedforward, self.width, self.dropout)


class CausalDecoder(TextDecoder):
    """Codes to texts; see `CausalTransformer`. Each step of decoding reads the text so far again; no keys are kept."""

    positions: Tensor
    future: Tensor

    def __init__(self, net: CausalTransformer, modality: Modality, inputs: int) -> None:
        table = DecoderEmbedding(modality, net.width, unknown=net.word_dropout > 0)
        super().__init__(modality, table, net)
        layer = nn.TransformerEncoderLayer(net.width, activation="gelu", **net.character_transformer().layer_settings())
        self.layers = nn.TransformerEncoder(layer, net.layers, enable_nested_tensor=False)
        self.code, self.last = nn.Linear(inputs, net.width), nn.Linear(net.width, len(modality.symbols))
        length = modality.shape[0]
        self.register_buffer("positions", time_positions(length, net.width), persistent=False)
        self.register_buffer("future", torch.ones(length, length, dtype=torch.bool).triu(1), persistent=False)

    def logits(self, codes: Tensor, before: Tensor) -> Tensor:
        """See `TextDecoder`."""
        logits: Tensor = self.last(self._hidden(codes, before.t()).transpose(0, 1))
        return logits

    def begin(self, codes: Tensor) -> tuple[Tensor, ...]:
        """The codes and no symbols."""
        return codes, torch.empty(len(codes), 0, dtype=torch.long, device=codes.device)

    def step(self, symbols: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """See `AutoregressiveDecoder`."""
        codes, before = state
        before = torch.cat([before, symbols.unsqueeze(-1)], dim=-1)
        return self.last(self._hidden(codes, before)[:, -1]).float(), (codes, before)

    def _hidden(self, codes: Tensor, before: Tensor) -> Tensor:
        """Outputs of the last layer for the symbols before each position, (N, T) -> (N, T, width)."""
        assert self.table is not None
        length = before.shape[1]
        read = self.table(before) + self.positions[:length] + self.code(codes).unsqueeze(1)
        hidden: Tensor = self.layers(read, mask=self.future[:length, :length], is_causal=True)
        return hidden


def time_positions(length: int, width: int) -> Tensor:
    """Sines and cosines of time, (length, width); Vaswani et al., Attention Is All You Need (NeurIPS 2017), section 3.5."""
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    angles = torch.arange(length).unsqueeze(-1) * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
