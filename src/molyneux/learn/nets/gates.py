"""Layers with gates over time: LSTM and GRU with one bias for each gate."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

Cell = Literal["lstm", "gru"]
_GATES: dict[Cell, int] = {"lstm": 4, "gru": 3}

Memory = tuple[Tensor, ...]
"""Hidden states (layers, N, width), and after them, in an LSTM, cell states."""


class Gates(nn.Module):
    """LSTM (Hochreiter & Schmidhuber, 1997) or GRU (after Cho et al., 2014) layers over time.

    torch has two biases for each gate; here the second is 0 and not trained. They are added up, so one does the work of both, in
    every gate but one: the candidate state of a GRU is `tanh(W x + b + r * (U h))` here, and torch and Keras have a bias of its
    own beside U h, inside the reset gate r. This GRU has that bias fewer. As theirs, it resets after the product with U, where
    Cho et al. have `U (r * h)`.

    Weights start as in Keras: kernels LeCun-normal (as in the code of Zhang et al., RepL4NLP 2021), recurrent kernels
    orthogonal, biases 0, those of an LSTM's forget gates 1 (Jozefowicz et al., ICML 2015).

    Args:
        cell: the kind.
        inputs: size of what is read at each time.
        width: units of a layer.
        layers: how many, each reading the one before.
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
        self._start()

    def forward(self, inputs: Tensor, memory: Memory | None = None) -> tuple[Tensor, Memory]:
        """Hidden states of the last layer (T, N, width) and the memory after, for inputs (T, N, inputs) in 32 bits.

        Args:
            inputs: what is read.
            memory: the memory before; none is 0.
        """
        memory = self.empty(inputs.shape[1]) if memory is None else memory
        trio = zip(self.kernels, self.recurrent_kernels, self.biases, strict=True)
        weights = [part for kernel, recurrent, bias in trio for part in (kernel, recurrent, bias, self.no_bias)]
        flags = (True, self.layers, 0.0, self.training, False, False)  # biases, ..., dropout, ..., bidirectional, batch first
        if self.cell == "lstm":
            outputs, hidden, cells = torch.lstm(inputs, memory, weights, *flags)
            return outputs, (hidden.float(), cells.float())
        with torch.autocast(inputs.device.type, enabled=False):  # which torch knows for the LSTM alone
            outputs, hidden = torch.gru(inputs, memory[0], weights, *flags)
            return outputs, (hidden,)

    def empty(self, rows: int) -> Memory:
        """A memory of nothing."""
        zeros = self.no_bias.new_zeros(self.layers, rows, self.width)
        return (zeros, zeros) if self.cell == "lstm" else (zeros,)

    def _start(self) -> None:
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
