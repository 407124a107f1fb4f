"""The transformer text net whose decoder writes symbol by symbol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from molyneux.core import ConfigError, Modality
from molyneux.learn.likelihoods import ViewLikelihood
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.transformer import CharacterTransformer, time_positions
from molyneux.learn.nets.writing import Decoding, SymbolTable, TextWriter, check_likelihood, writing_problems


@dataclass(frozen=True)
class CausalTransformer(Net):
    """Transformer layers on each side; the decoder writes symbol by symbol, given the code and the symbols before.

    The encoder is that of `CharacterTransformer`. The decoder is causal self-attention (Vaswani et al., Attention Is All You
    Need, NeurIPS 2017) with the code, through a linear layer, added to the vector of every symbol that is read: the
    "embedding" scheme of Li et al., Optimus (EMNLP 2020). So it reaches every position without attention, which a decoder
    that gets it as a first position learns to pass over, and the sequence stays as long as the text.

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

    kinds = frozenset({"text"})

    def __post_init__(self) -> None:
        problems = list(writing_problems(self))
        try:
            self._reader()
        except ConfigError as error:
            problems += error.problems
        if problems:
            raise ConfigError(problems)

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        return self._reader().encoder(modality, outputs)

    def decoder(self, modality: Modality, inputs: int, likelihood: ViewLikelihood) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        check_likelihood(likelihood, modality)
        return CausalWriter(self, modality, inputs)

    def _reader(self) -> CharacterTransformer:
        return CharacterTransformer(self.layers, self.heads, self.feedforward, self.width, self.dropout)


class CausalWriter(TextWriter):
    """Codes to texts; see `CausalTransformer`. Each step of decoding reads the text so far again; no keys are kept."""

    positions: Tensor
    later: Tensor

    def __init__(self, net: CausalTransformer, modality: Modality, inputs: int) -> None:
        table = SymbolTable(modality, net.width, unknown=net.word_dropout > 0)
        super().__init__(modality, table, net)
        settings: dict[str, Any] = {"dim_feedforward": net.feedforward, "dropout": net.dropout, "batch_first": True}
        layer = nn.TransformerEncoderLayer(net.width, net.heads, activation="gelu", **settings)
        self.layers = nn.TransformerEncoder(layer, net.layers, enable_nested_tensor=False)
        self.code, self.last = nn.Linear(inputs, net.width), nn.Linear(net.width, len(modality.symbols))
        length = modality.shape[0]
        self.register_buffer("positions", time_positions(length, net.width), persistent=False)
        self.register_buffer("later", torch.ones(length, length, dtype=torch.bool).triu(1), persistent=False)

    def logits(self, codes: Tensor, before: Tensor) -> Tensor:
        """See `TextWriter`."""
        logits: Tensor = self.last(self._hidden(codes, before.t()).transpose(0, 1))
        return logits

    def begin(self, codes: Tensor) -> tuple[Tensor, ...]:
        """The codes and no symbols."""
        return codes, torch.empty(len(codes), 0, dtype=torch.long, device=codes.device)

    def step(self, symbols: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """See `Writer`."""
        codes, before = state
        before = torch.cat([before, symbols.unsqueeze(-1)], dim=-1)
        return self.last(self._hidden(codes, before)[:, -1]).float(), (codes, before)

    def _hidden(self, codes: Tensor, before: Tensor) -> Tensor:
        """What the last layer makes of the symbols before each position, (N, T) -> (N, T, width)."""
        assert self.table is not None
        length = before.shape[1]
        read = self.table(before) + self.positions[:length] + self.code(codes).unsqueeze(1)
        hidden: Tensor = self.layers(read, mask=self.later[:length, :length], is_causal=True)
        return hidden
