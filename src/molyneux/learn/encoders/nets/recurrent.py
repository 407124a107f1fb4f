"""The recurrent text net: an LSTM or GRU encodes a text, another decodes it symbol by symbol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from molyneux.core import Modality, choice_problems
from molyneux.core.views import counted_positions
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.nets.autoregressive import (
    AutoregressiveNet,
    DecoderEmbedding,
    Decoding,
    SymbolEmbedding,
    TextDecoder,
)
from molyneux.learn.encoders.nets.net import zeros_beyond
from molyneux.learn.likelihoods import ViewLikelihood

Coupling = Literal["init", "concat", "init+concat", "concat-only"]
Cell = Literal["lstm", "gru"]
_GATES: dict[Cell, int] = {"lstm": 4, "gru": 3}

State = tuple[Tensor, ...]
"""Hidden states (layers, N, width), and after them, in an LSTM, cell states."""


@dataclass(frozen=True)
class Recurrent(AutoregressiveNet):
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
        layers: on each side.
        coupling: how the decoder gets the code: "init": a linear layer makes the first hidden state of it (cell states start
            at 0); "concat": it stands beside every symbol that is read, and states start at 0; "init+concat": both;
            "concat-only": it is all that is read, at every position ("Concat w/o Emb"): positions are then independent.
        shared_embedding: whether both sides have the same vectors of symbols.
        word_dropout: share of the symbols before that are replaced by an unknown one, in training, when the decoder scores a
            text (Bowman et al., section 3.1), so that it depends more on the code.
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

    def __post_init__(self) -> None:
        problems = too_small(self, "embedding", "width", "layers")
        problems += choice_problems(cell=(self.cell, get_args(Cell)), coupling=(self.coupling, get_args(Coupling)))
        if self.shared_embedding not in (True, False):
            problems.append(f"shared_embedding: expected true or false, got {self.shared_embedding!r}")
        problems += self.decoding_problems()
        if self.coupling == "concat-only" and self.word_dropout > 0:
            problems.append("word_dropout: expected 0 with the coupling concat-only, which reads no symbols before")
        refuse(problems)

    def pair(self, modality: Modality, *, outputs: int, inputs: int, likelihood: ViewLikelihood) -> tuple[nn.Module, nn.Module]:
        """See `Net`."""
        if not self.shared_embedding or self.coupling == "concat-only":
            return super().pair(modality, outputs=outputs, inputs=inputs, likelihood=likelihood)
        self.check_likelihood(modality, likelihood)
        table = self._table(modality)
        return RecurrentEncoder(self, modality, table, outputs), RecurrentDecoder(self, modality, table, inputs)

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        return RecurrentEncoder(self, modality, SymbolEmbedding(len(modality.symbols), self.embedding), outputs)

    def decoder(self, modality: Modality, inputs: int, likelihood: ViewLikelihood) -> nn.Module:
        """See `Net`."""
        self.check_likelihood(modality, likelihood)
        table = None if self.coupling == "concat-only" else self._table(modality)
        return RecurrentDecoder(self, modality, table, inputs)

    def _table(self, modality: Modality) -> DecoderEmbedding:
        return DecoderEmbedding(modality, self.embedding, unknown=self.word_dropout > 0)


class RecurrentEncoder(nn.Module):
    """Symbols to raw numbers: a linear layer of the hidden state at the last position that counts."""

    def __init__(self, net: Recurrent, modality: Modality, table: SymbolEmbedding, outputs: int) -> None:
        super().__init__()
        self.modality, self.table = modality, table
        self.recurrent = RecurrentLayers(net.cell, net.embedding, width=net.width, layers=net.layers)
        self.last = linear(net.width, outputs)

    def forward(self, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Ids (B, L) to raw numbers (B, outputs)."""
        ids = ids if lengths is None else zeros_beyond(ids, lengths, 1)
        hidden, _ = self.recurrent(self.table(ids.t()))
        last = counted_positions(self.modality, ids, lengths).sum(-1).clamp(min=1) - 1
        raw: Tensor = self.last(hidden[last, torch.arange(len(ids), device=ids.device)])
        return raw


class RecurrentDecoder(TextDecoder):
    """Codes to texts; see `Recurrent` for how it gets the code."""

    def __init__(self, net: Recurrent, modality: Modality, table: DecoderEmbedding | None, inputs: int) -> None:
        super().__init__(modality, table, net)
        self.beside = net.coupling != "init"
        reads = (0 if table is None else net.embedding) + (inputs if self.beside else 0)
        self.recurrent = RecurrentLayers(net.cell, reads, width=net.width, layers=net.layers)
        self.opening = linear(inputs, net.layers * net.width) if net.coupling.startswith("init") else None
        self.last = linear(net.width, len(modality.symbols))

    def logits(self, codes: Tensor, before: Tensor) -> Tensor:
        """See `TextDecoder`."""
        hidden, _ = self.recurrent(self._inputs(codes, before), self._initial_state(codes))
        logits: Tensor = self.last(hidden)
        return logits

    def begin(self, codes: Tensor) -> tuple[Tensor, ...]:
        """The state, texts first, and the codes."""
        return (*(part.transpose(0, 1) for part in self._initial_state(codes)), codes)

    def step(self, symbols: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """See `AutoregressiveDecoder`."""
        *hidden, codes = state
        before = tuple(part.transpose(0, 1).contiguous() for part in hidden)
        outputs, after = self.recurrent(self._inputs(codes, symbols.unsqueeze(0)), before)
        return self.last(outputs[0]).float(), (*(part.transpose(0, 1) for part in after), codes)

    def _inputs(self, codes: Tensor, before: Tensor) -> Tensor:
        """What is read at each position, (L, N, reads)."""
        beside = codes.float().expand(*before.shape, -1)
        if self.table is None:
            return beside
        symbols: Tensor = self.table(before)
        return torch.cat([symbols, beside], dim=-1) if self.beside else symbols

    def _initial_state(self, codes: Tensor) -> tuple[Tensor, ...]:
        """The state before the first symbol."""
        nothing = self.recurrent.zeros(len(codes))
        if self.opening is None:
            return nothing
        hidden = self.opening(codes).float().unflatten(-1, (self.recurrent.layers, self.recurrent.width))
        return (hidden.transpose(0, 1).contiguous(), *nothing[1:])


class RecurrentLayers(nn.Module):
    """LSTM (Hochreiter & Schmidhuber, 1997) or GRU (after Cho et al., 2014) layers over time.

    Of torch's two biases for each gate, which are added up, the second is 0 and not trained here. In the candidate state of a GRU
    this makes a difference: it is `tanh(W x + b + r * (U h))`, where torch and Keras have a bias inside the reset gate r too. As
    theirs, it resets after the product with U, where Cho et al. have `U (r * h)`.

    Weights start as in Keras: kernels LeCun-normal (as in the code of Zhang et al., RepL4NLP 2021), recurrent kernels
    orthogonal, biases 0, those of an LSTM's forget gates 1 (Jozefowicz et al., ICML 2015).
    """

    no_bias: Tensor

    def __init__(self, cell: Cell, inputs: int, *, width: int, layers: int) -> None:
        super().__init__()
        self.cell, self.width, self.layers = cell, width, layers
        rows = _GATES[cell] * width
        self.kernels = nn.ParameterList(torch.empty(rows, width if layer else inputs) for layer in range(layers))
        self.recurrent_kernels = nn.ParameterList(torch.empty(rows, width) for _ in range(layers))
        self.biases = nn.ParameterList(torch.zeros(rows) for _ in range(layers))
        self.register_buffer("no_bias", torch.zeros(rows), persistent=False)
        self._initialise()

    def forward(self, inputs: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Hidden states of the last layer (T, N, width) and the state after, for inputs (T, N, inputs) in 32 bits.

        The state before is 0 where none is given.
        """
        state = self.zeros(inputs.shape[1]) if state is None else state
        trio = zip(self.kernels, self.recurrent_kernels, self.biases, strict=True)
        weights = [part for kernel, recurrent, bias in trio for part in (kernel, recurrent, bias, self.no_bias)]
        flags = (True, self.layers, 0.0, self.training, False, False)  # biases, ..., dropout, ..., bidirectional, batch first
        if self.cell == "lstm":
            outputs, hidden, cells = torch.lstm(inputs, state, weights, *flags)
            return outputs, (hidden.float(), cells.float())
        with torch.autocast(inputs.device.type, enabled=False):  # which torch knows for the LSTM alone
            outputs, hidden = torch.gru(inputs, state[0], weights, *flags)
            return outputs, (hidden,)

    def zeros(self, rows: int) -> State:
        """The state of zeros."""
        zeros = self.no_bias.new_zeros(self.layers, rows, self.width)
        return (zeros, zeros) if self.cell == "lstm" else (zeros,)

    def _initialise(self) -> None:
        for kernel, recurrent, bias in zip(self.kernels, self.recurrent_kernels, self.biases, strict=True):
            lecun_normal(kernel)
            nn.init.orthogonal_(recurrent)
            if self.cell == "lstm":
                nn.init.ones_(bias[self.width : 2 * self.width])


def lecun_normal(weight: Tensor) -> None:
    """Draw a kernel (outputs, inputs) as Keras does: normal, cut at two deviations, of variance 1 / inputs."""
    deviation = weight.shape[1] ** -0.5 / 0.87962566103423978  # of a standard normal cut at 2
    nn.init.trunc_normal_(weight, std=deviation, a=-2 * deviation, b=2 * deviation)


def linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer that starts as in Keras: Glorot-uniform weights, biases 0."""
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer
