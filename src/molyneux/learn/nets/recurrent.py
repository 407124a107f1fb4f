"""The recurrent text net: an LSTM or GRU reads, another writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from molyneux.core import ConfigError, Modality
from molyneux.core.views import counted_positions
from molyneux.learn.likelihoods import ViewLikelihood
from molyneux.learn.nets.gates import Cell, Gates, linear
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.writing import (
    Decoding,
    SymbolTable,
    TextWriter,
    Vectors,
    check_likelihood,
    choice_problems,
    writing_problems,
)

Coupling = Literal["init", "concat", "init+concat", "concat-only"]


@dataclass(frozen=True)
class Recurrent(Net):
    """LSTM or GRU layers on each side; the decoder writes symbol by symbol, given the code and the symbols before.

    Bowman et al., Generating Sentences from a Continuous Space (CoNLL 2016). Sizes and weights as published by Zhang, Prokhorov
    and Shareghi, Unsupervised Representation Disentanglement of Text (RepL4NLP 2021): the encoder's hidden state at the `end`
    of a text, one linear layer. Weights start as in Keras: vectors of symbols uniform in -0.05..0.05, kernels LeCun-normal,
    recurrent kernels orthogonal, other layers Glorot-uniform, biases 0, of forget gates 1; mean and log-variance are one layer,
    so its Glorot limit is that of both together. A text without a `start` begins with a learned vector; in one without an
    `end`, padding is read and written like any symbol.

    Args:
        cell: "lstm" or "gru".
        embedding: length of the vector of each symbol.
        width: units of each layer.
        layers: layers on each side.
        coupling: how the decoder gets the code: "init": a linear layer makes the first hidden state of it (cell states start
            at 0); "concat": it stands beside every symbol that is read, and states start at 0; "init+concat": both;
            "concat-only": it is all that is read, at every position ("Concat w/o Emb"): positions are then independent.
        shared_embedding: whether both sides have the same vectors of symbols.
        word_dropout: share of the symbols before that are replaced by an unknown one, in training, when the decoder scores a
            text (Bowman et al., section 3.1); it makes the code worth listening to.
        decoding: how the one text to show is found: "greedy", the most probable symbol after the other, or "beam".
        beams: beams of the search.
    """

    cell: Cell = "lstm"
    embedding: int = 16
    width: int = 64
    layers: int = 1
    coupling: Coupling = "init"
    shared_embedding: bool = True
    word_dropout: float = 0.0
    decoding: Decoding = "greedy"
    beams: int = 5

    kinds = frozenset({"text"})

    def __post_init__(self) -> None:
        names = ("embedding", "width", "layers")
        problems = [f"{name}: expected at least 1, got {getattr(self, name)}" for name in names if getattr(self, name) < 1]
        problems += choice_problems("cell", self.cell, get_args(Cell))
        problems += choice_problems("coupling", self.coupling, get_args(Coupling))
        if self.shared_embedding not in (True, False):
            problems.append(f"shared_embedding: expected true or false, got {self.shared_embedding!r}")
        problems += writing_problems(self)
        if self.coupling == "concat-only" and self.word_dropout > 0:
            problems.append("word_dropout: expected 0 with the coupling concat-only, which reads no symbols before")
        if problems:
            raise ConfigError(problems)

    def pair(self, modality: Modality, *, outputs: int, inputs: int, likelihood: ViewLikelihood) -> tuple[nn.Module, nn.Module]:
        """See `Net`."""
        if not self.shared_embedding or self.coupling == "concat-only":
            return super().pair(modality, outputs=outputs, inputs=inputs, likelihood=likelihood)
        self.check(modality)
        check_likelihood(likelihood, modality)
        table = self._table(modality)
        return RecurrentReader(self, modality, table, outputs), RecurrentWriter(self, modality, table, inputs)

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        return RecurrentReader(self, modality, Vectors(len(modality.symbols), self.embedding), outputs)

    def decoder(self, modality: Modality, inputs: int, likelihood: ViewLikelihood) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        check_likelihood(likelihood, modality)
        table = None if self.coupling == "concat-only" else self._table(modality)
        return RecurrentWriter(self, modality, table, inputs)

    def _table(self, modality: Modality) -> SymbolTable:
        return SymbolTable(modality, self.embedding, unknown=self.word_dropout > 0)


class RecurrentReader(nn.Module):
    """Symbols to raw numbers: what is remembered at the last position that counts."""

    def __init__(self, net: Recurrent, modality: Modality, table: Vectors, outputs: int) -> None:
        super().__init__()
        self.modality, self.table = modality, table
        self.gates = Gates(net.cell, net.embedding, width=net.width, layers=net.layers)
        self.last = linear(net.width, outputs)

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (B, L) to raw numbers (B, outputs)."""
        hidden, _ = self.gates(self.table(ids.t()))
        last = counted_positions(self.modality, ids).sum(-1) - 1
        raw: Tensor = self.last(hidden[last, torch.arange(len(ids), device=ids.device)])
        return raw


class RecurrentWriter(TextWriter):
    """Codes to texts; see `Recurrent` for what it makes of the code."""

    def __init__(self, net: Recurrent, modality: Modality, table: SymbolTable | None, inputs: int) -> None:
        super().__init__(modality, table, net)
        self.beside = net.coupling != "init"
        reads = (0 if table is None else net.embedding) + (inputs if self.beside else 0)
        self.gates = Gates(net.cell, reads, width=net.width, layers=net.layers)
        self.opening = linear(inputs, net.layers * net.width) if net.coupling.startswith("init") else None
        self.last = linear(net.width, len(modality.symbols))

    def logits(self, codes: Tensor, before: Tensor) -> Tensor:
        """See `TextWriter`."""
        hidden, _ = self.gates(self._inputs(codes, before), self._opened(codes))
        logits: Tensor = self.last(hidden)
        return logits

    def begin(self, codes: Tensor) -> tuple[Tensor, ...]:
        """The memory, rows first, and the codes."""
        return (*(part.transpose(0, 1) for part in self._opened(codes)), codes)

    def step(self, symbols: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """See `Writer`."""
        *memory, codes = state
        before = tuple(part.transpose(0, 1).contiguous() for part in memory)
        hidden, after = self.gates(self._inputs(codes, symbols.unsqueeze(0)), before)
        return self.last(hidden[0]).float(), (*(part.transpose(0, 1) for part in after), codes)

    def _inputs(self, codes: Tensor, before: Tensor) -> Tensor:
        """What is read at each position, (L, N, reads)."""
        beside = codes.float().expand(*before.shape, -1)
        if self.table is None:
            return beside
        symbols: Tensor = self.table(before)
        return torch.cat([symbols, beside], dim=-1) if self.beside else symbols

    def _opened(self, codes: Tensor) -> tuple[Tensor, ...]:
        """The memory before the first symbol."""
        nothing = self.gates.empty(len(codes))
        if self.opening is None:
            return nothing
        hidden = self.opening(codes).float().unflatten(-1, (self.gates.layers, self.gates.width))
        return (hidden.transpose(0, 1).contiguous(), *nothing[1:])
