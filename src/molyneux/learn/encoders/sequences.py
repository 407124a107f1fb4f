"""Encoders of sequences: recurrent layers, transformer layers with positions, and causal convolutions.

The parts are the states at each step. What lies beyond a length enters no state, whatever the readout.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Kind, Modality, choice_problems
from molyneux.learn.checks import dropout_problems, head_problems, refuse, too_small
from molyneux.learn.encoders.encoding import Encoder, Encoding, ViewEncoder
from molyneux.learn.encoders.nets.net import zeros_beyond
from molyneux.learn.encoders.nets.recurrent import Cell
from molyneux.learn.encoders.nets.transformer import time_positions
from molyneux.learn.encoders.steps import ViewSteps, step_mask, step_mean
from molyneux.learn.encoders.texts import reordered, states_at, turned

SEQUENCES: frozenset[Kind] = frozenset({"audio", "series", "set", "text", "video"})
Readout = Literal["last", "mean", "all"]


class SequenceEncoder(Encoder):
    """Steps to states, and a vector read from these.

    Args:
        modality: of the views.
        steps: makes the steps.
        width: numbers of a state.
        readout: "last" takes the state at the last step, "mean" the mean over the steps, "all" all states side by side, with
            zeros beyond the length.
    """

    def __init__(self, modality: Modality, steps: ViewSteps, width: int, readout: Readout) -> None:
        vector = width * (steps.count if readout == "all" else 1)
        super().__init__(modality, vector=vector, width=width, grid=(1, steps.count))
        self.steps, self.readout = steps, readout

    def read(self, states: Tensor, counts: Tensor) -> Encoding:
        """The encoding of states (B, T, W), of which the first `counts` (B,) are there."""
        parts = zeros_beyond(states, counts, 1)
        if self.readout == "all":
            vector = parts.flatten(1)
        else:
            vector = states_at(parts, counts) if self.readout == "last" else step_mean(parts, counts)
        return Encoding(vector, parts, step_mask(counts, states.shape[1]))


@dataclass(frozen=True)
class RecurrentSteps(ViewEncoder):
    """GRU or LSTM layers over the steps.

    Args:
        cell: "gru" or "lstm".
        width: units of each layer and direction.
        layers: of each direction.
        bidirectional: whether a second stack reads the steps from the last to the first; "last" then takes the state of each
            direction where it ends.
        outputs: numbers of a linear layer over each state; None for none.
        readout: "last", "mean" or "all" states.
        embedding: numbers of a word.
    """

    cell: Cell = "gru"
    width: int = 128
    layers: int = 1
    bidirectional: bool = False
    outputs: int | None = None
    readout: Readout = "last"
    embedding: int = 32

    kinds = SEQUENCES

    def __post_init__(self) -> None:
        problems = too_small(self, "width", "layers", "embedding") + ([] if self.outputs is None else too_small(self, "outputs"))
        refuse(problems + choice_problems(cell=(self.cell, get_args(Cell)), readout=(self.readout, get_args(Readout))))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return RecurrentStepsEncoder(modality, self)


class RecurrentStepsEncoder(SequenceEncoder):
    """See `RecurrentSteps`."""

    def __init__(self, modality: Modality, settings: RecurrentSteps) -> None:
        steps = ViewSteps(modality, settings.embedding)
        width = settings.width * (1 + settings.bidirectional)
        super().__init__(modality, steps, settings.outputs or width, settings.readout)
        kind = nn.GRU if settings.cell == "gru" else nn.LSTM
        self.directions = nn.ModuleList(
            kind(steps.width, settings.width, settings.layers, batch_first=True) for _ in range(1 + settings.bidirectional)
        )
        self.linear = nn.Identity() if settings.outputs is None else nn.Linear(width, settings.outputs)

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        values, counts = self.steps(view, lengths)
        forward, *backward = self.directions
        states = [run(forward, values)]
        ends = [states_at(states[0], counts)]
        for layers in backward:
            order = turned(counts, values.shape[1])
            found = run(layers, reordered(values, order))
            ends.append(states_at(found, counts))
            states.append(reordered(found, order))
        encoding = self.read(self.linear(torch.cat(states, -1)), counts)
        if self.readout != "last" or not backward:
            return encoding
        vector = self.linear(torch.cat(ends, -1)) * (counts > 0).unsqueeze(1)
        return Encoding(vector, encoding.parts, encoding.mask)


def run(layers: nn.Module, values: Tensor) -> Tensor:
    """States (B, T, W) of recurrent layers over values (B, T, D), in 32 bits; no values have no states."""
    with torch.autocast(values.device.type, enabled=False):
        states: Tensor = layers(values.float())[0]
    return states


@dataclass(frozen=True)
class TransformerSteps(ViewEncoder):
    """Transformer layers over the steps, with sinusoidal positions; Vaswani et al. (NeurIPS 2017), sections 3.1 and 3.5.

    Args:
        width: of the layers; a multiple of `heads`.
        heads: attention heads.
        layers: transformer layers.
        feedforward: units of the inner layer.
        dropout: share of units dropped in training.
        positions: whether positions are added. A set has none in any case. (MultiBench's published code has none.)
        norm_first: whether layers normalise before they compute (Xiong et al., ICML 2020) instead of after.
        readout: "mean", "last" or "all" states.
        embedding: numbers of a word.
    """

    width: int = 64
    heads: int = 4
    layers: int = 2
    feedforward: int = 256
    dropout: float = 0.0
    positions: bool = True
    norm_first: bool = True
    readout: Readout = "mean"
    embedding: int = 32

    kinds = SEQUENCES

    def __post_init__(self) -> None:
        problems = too_small(self, "width", "heads", "layers", "feedforward", "embedding")
        problems += dropout_problems(dropout=self.dropout) + choice_problems(readout=(self.readout, get_args(Readout)))
        refuse(problems or head_problems(width=self.width, heads=self.heads))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return TransformerStepsEncoder(modality, self)


class TransformerStepsEncoder(SequenceEncoder):
    """See `TransformerSteps`."""

    positions: Tensor

    def __init__(self, modality: Modality, settings: TransformerSteps) -> None:
        steps, width = ViewSteps(modality, settings.embedding), settings.width
        super().__init__(modality, steps, width, settings.readout)
        self.entry = nn.Linear(steps.width, width, bias=False)
        self.layers = transformer_layers(
            width, settings.heads, settings.layers, settings.feedforward, settings.dropout, norm_first=settings.norm_first
        )
        placed = settings.positions and modality.kind != "set"
        self.register_buffer("positions", positions_of(steps.count, width) * placed, persistent=False)

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        values, counts = self.steps(view, lengths)
        hidden = unattended(step_mask(counts, self.steps.count))
        states = self.layers(self.entry(values) + self.positions, src_key_padding_mask=hidden)
        return self.read(states, counts)


def transformer_layers(
    width: int, heads: int, layers: int, feedforward: int, dropout: float, *, norm_first: bool = True
) -> nn.TransformerEncoder:
    """Transformer layers over sequences (B, T, width); those that normalise first have a last normalisation."""
    layer = nn.TransformerEncoderLayer(width, heads, feedforward, dropout, batch_first=True, norm_first=norm_first)
    norm = nn.LayerNorm(width) if norm_first else None
    return nn.TransformerEncoder(layer, layers, norm, enable_nested_tensor=False)


def unattended(mask: Tensor) -> Tensor:
    """The positions that nothing attends to, (B, N) bool, for those that there are; the first where there is none at all.

    A softmax over no positions would be NaN. What a sequence without any position gives is multiplied by 0 afterwards.
    """
    hidden = ~mask
    hidden[:, 0] &= mask.any(1)
    return hidden


def positions_of(count: int, width: int) -> Tensor:
    """Sines and cosines of the positions of a sequence, (count, width), of any width."""
    return time_positions(count, width + width % 2)[:, :width]


@dataclass(frozen=True)
class CausalConvolution(ViewEncoder):
    """Residual blocks of dilated causal convolutions (TCN); Bai et al., An Empirical Evaluation (2018), section 3.

    Block b has two convolutions of dilation `2^b`, each with ReLU and dropout, and a residual connection, with a convolution of
    kernel 1 where the widths differ. A state depends on the steps before alone.

    Deviation: without weight normalisation; weights start as in He et al. (ICCV 2015).

    Args:
        channels: of each block.
        kernel: steps that a convolution sees.
        dropout: share of channels dropped in training.
        readout: "last", "mean" or "all" states.
        embedding: numbers of a word.
    """

    channels: tuple[int, ...] = (64, 64, 64, 128)
    kernel: int = 3
    dropout: float = 0.0
    readout: Readout = "last"
    embedding: int = 32

    kinds = SEQUENCES - {"set"}

    def __post_init__(self) -> None:
        problems = too_small(self, "kernel", "embedding") + dropout_problems(dropout=self.dropout)
        problems += choice_problems(readout=(self.readout, get_args(Readout)))
        if not self.channels or any(size < 1 for size in self.channels):
            problems.append(f"channels: expected those of each block, at least 1, got {self.channels}")
        refuse(problems)

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return CausalConvolutionEncoder(modality, self)


class CausalConvolutionEncoder(SequenceEncoder):
    """See `CausalConvolution`."""

    def __init__(self, modality: Modality, settings: CausalConvolution) -> None:
        steps = ViewSteps(modality, settings.embedding)
        super().__init__(modality, steps, settings.channels[-1], settings.readout)
        sizes = (steps.width, *settings.channels)
        self.blocks = nn.Sequential(
            *(CausalBlock(a, b, settings.kernel, 2**level, settings.dropout) for level, (a, b) in enumerate(pairwise(sizes)))
        )

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        values, counts = self.steps(view, lengths)
        return self.read(self.blocks(values.transpose(1, 2)).transpose(1, 2), counts)


class CausalBlock(nn.Module):
    """A residual block of `CausalConvolution`, figure 1 (b)."""

    def __init__(self, inputs: int, outputs: int, kernel: int, dilation: int, dropout: float) -> None:
        super().__init__()
        self.reach = (kernel - 1) * dilation
        convolutions = [nn.Conv1d(a, outputs, kernel, dilation=dilation) for a in (inputs, outputs)]
        for convolution in convolutions:
            nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
        self.convolutions = nn.ModuleList(convolutions)
        self.dropout = nn.Dropout1d(dropout)
        self.shortcut = nn.Identity() if inputs == outputs else nn.Conv1d(inputs, outputs, 1)

    def forward(self, values: Tensor) -> Tensor:
        """Values (B, inputs, T) to (B, outputs, T)."""
        changed = values
        for convolution in self.convolutions:
            changed = self.dropout(convolution(functional.pad(changed, (self.reach, 0))).relu())
        result: Tensor = (changed + self.shortcut(values)).relu()
        return result
