"""Recurrent nets of series: a GRU reads them, another writes them step by step from what it wrote before."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from molyneux.core import Modality
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.nets.net import Net, NetEncoder, Reshape


@dataclass(frozen=True)
class RecurrentSeries(Net):
    """A GRU on each side, as TSEncoder and TSDecoder of MultiBench's published code.

    The encoder is a linear layer of all states side by side. In the decoder a linear layer makes the first state of the code, and
    the GRU reads at each step what was written before, zeros at first. What it writes is a linear layer of its state; without
    `width` it is the state itself, as published, so that all numbers lie between -1 and 1.

    Deviation: the published encoder takes the batch for the time, so that samples of a batch mix; this one does not.

    Args:
        units: of the encoder's GRU.
        width: units of the decoder's GRU; None for as many as a step has numbers.
    """

    units: int = 30
    width: int | None = 64

    kinds = frozenset({"series"})

    def __post_init__(self) -> None:
        refuse(too_small(self, "units") + ([] if self.width is None else too_small(self, "width")))

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        steps, depth = modality.shape
        return NetEncoder(modality, States(depth, self.units), nn.Flatten(), nn.Linear(steps * self.units, outputs))

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        steps, depth = modality.shape
        return nn.Sequential(Writer(inputs, parameters * depth, self.width, steps), Parameters(parameters, steps, depth))


class States(nn.Module):
    """The states of a GRU at all steps, in full precision; those beyond a length are made of zeros."""

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.gru = nn.GRU(inputs, units, batch_first=True)

    def forward(self, series: Tensor) -> Tensor:
        """(B, T, D) to (B, T, units)."""
        with torch.autocast(series.device.type, enabled=False):
            states: Tensor = self.gru(series.float())[0]
        return states


class Writer(nn.Module):
    """A GRU that reads what it wrote, from a state that a code gives."""

    def __init__(self, inputs: int, outputs: int, width: int | None, steps: int) -> None:
        super().__init__()
        self.outputs, self.steps = outputs, steps
        units = width or outputs
        self.opening, self.cell = nn.Linear(inputs, units), nn.GRUCell(outputs, units)
        self.last = nn.Identity() if width is None else nn.Linear(units, outputs)

    def forward(self, codes: Tensor) -> Tensor:
        """Codes (N, inputs) to (N, T, outputs)."""
        with torch.autocast(codes.device.type, enabled=False):
            state, written = self.opening(codes.float()), []
            word = state.new_zeros(len(codes), self.outputs)
            for _ in range(self.steps):
                state = self.cell(word, state)
                word = self.last(state)
                written.append(word)
            return torch.stack(written, 1)


class Parameters(nn.Module):
    """Several numbers for each value of a series, side by side at each step, in front of the steps."""

    def __init__(self, parameters: int, steps: int, depth: int) -> None:
        super().__init__()
        self.shape = Reshape(steps, parameters, depth)

    def forward(self, written: Tensor) -> Tensor:
        """(N, T, parameters * D) to (N, parameters, T, D)."""
        found: Tensor = self.shape(written).transpose(1, 2)
        return found
