"""Fully connected nets, nets over time for series, sound and videos, and the default net of each kind of modality."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import get_args

from torch import Tensor, nn

from molyneux.core import Kind, Modality
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.nets.images import Patches
from molyneux.learn.encoders.nets.net import Net, NetEncoder, Reshape, unfit_net, zeros_beyond


@dataclass(frozen=True)
class Dense(Net):
    """Fully connected layers with ReLU on both sides; fits every kind of modality.

    Symbols enter as learned vectors. A text is decoded at all positions at once, independent given the code.

    Args:
        width: units of each hidden layer.
        layers: number of hidden layers on each side.
        embedding: length of the vector of each symbol.
    """

    width: int = 256
    layers: int = 2
    embedding: int = 16

    kinds = frozenset(get_args(Kind))

    def __post_init__(self) -> None:
        refuse(too_small(self, "width", "layers", "embedding"))

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        size = modality.size * (self.embedding if modality.symbols else 1)
        layers = (Reshape(size), *self._hidden(size), nn.Linear(self.width, outputs))
        if modality.symbols:
            return SymbolEncoder(modality, nn.Embedding(len(modality.symbols), self.embedding), *layers)
        return NetEncoder(modality, *layers)

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        last = nn.Linear(self.width, parameters * modality.size)
        return nn.Sequential(*self._hidden(inputs), last, Reshape(parameters, *modality.shape))

    def _hidden(self, inputs: int) -> list[nn.Module]:
        sizes = [inputs] + [self.width] * self.layers
        return [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]


class SymbolEncoder(NetEncoder):
    """An encoder whose first layer is an embedding: beyond the lengths the vectors of the symbols are zero."""

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Raw numbers (B, outputs) of ids (B, *shape)."""
        if lengths is None or self.length_axis is None:
            return super().forward(view)
        embedding, *layers = self
        raw: Tensor = zeros_beyond(embedding(zeros_beyond(view, lengths, 1)), lengths, 1)
        for layer in layers:
            raw = layer(raw)
        return raw


@dataclass(frozen=True)
class Series(Net):
    """Three strided convolutions over time with ReLU and a fully connected layer, mirrored in the decoder.

    Args:
        channels: channels at half the rate; lower rates have two and three times as many.
        width: units of the fully connected layer.
    """

    channels: int = 32
    width: int = 256

    kinds = frozenset({"audio", "series"})

    def __post_init__(self) -> None:
        refuse(too_small(self, "channels", "width"))

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        steps, depth = _sizes(modality)
        c = self.channels
        return NetEncoder(
            modality,
            Transpose() if modality.kind == "series" else nn.Identity(),
            *(layer for a, b in pairwise((depth, c, 2 * c, 3 * c)) for layer in (nn.Conv1d(a, b, 5, 2, 2), nn.ReLU())),
            nn.Flatten(),
            nn.Linear(3 * c * -(-steps // 8), self.width),
            nn.ReLU(),
            nn.Linear(self.width, outputs),
        )

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        steps, depth = _sizes(modality)
        c, coarse = self.channels, -(-steps // 8)
        return nn.Sequential(
            nn.Linear(inputs, self.width),
            nn.ReLU(),
            nn.Linear(self.width, 3 * c * coarse),
            nn.ReLU(),
            Reshape(3 * c, coarse),
            *(layer for a, b in pairwise((3 * c, 2 * c, c)) for layer in (nn.ConvTranspose1d(a, b, 4, 2, 1), nn.ReLU())),
            nn.ConvTranspose1d(c, parameters * depth, 4, 2, 1),
            FirstSteps(steps),
            Reshape(parameters, depth, steps),
            Transpose() if modality.kind == "series" else nn.Identity(),
        )


@dataclass(frozen=True)
class Video(Net):
    """An image net reads each frame, and convolutions over time read what it makes of them; mirrored in the decoder.

    Args:
        frame: the net of a frame.
        time: the net of the sequence of frames.
        width: numbers that describe a frame.
    """

    frame: Net = field(default_factory=Patches)
    time: Net = field(default_factory=Series)
    width: int = 64

    kinds = frozenset({"video"})

    def __post_init__(self) -> None:
        refuse(too_small(self, "width") + unfit_net("frame", self.frame, "image") + unfit_net("time", self.time, "series"))

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        frame, time = self._parts(modality)
        return VideoEncoder(self.frame.encoder(frame, self.width), self.time.encoder(time, outputs))

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        frame, time = self._parts(modality)
        return VideoBody(self.time.body(time, inputs, 1), self.frame.body(frame, self.width, parameters))

    def _parts(self, modality: Modality) -> tuple[Modality, Modality]:
        """A frame, and the sequence of frames, as modalities."""
        frame = Modality(modality.name, "image", modality.shape[1:], modality.dtype)
        return frame, Modality(modality.name, "series", (modality.shape[0], self.width))


class VideoEncoder(nn.Module):
    """Frames to numbers, and sequences of these to raw numbers."""

    def __init__(self, frame: nn.Module, time: nn.Module) -> None:
        super().__init__()
        self.frame, self.time = frame, time

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Videos (B, T, C, H, W) to raw numbers (B, outputs)."""
        view = view if lengths is None else zeros_beyond(view, lengths, 1)
        frames = self.frame(view.flatten(0, 1)).reshape(*view.shape[:2], -1)
        raw: Tensor = self.time(frames, lengths)
        return raw


class VideoBody(nn.Module):
    """Codes to a sequence of numbers, and each element of it to the raw numbers of a frame."""

    def __init__(self, time: nn.Module, frame: nn.Module) -> None:
        super().__init__()
        self.time, self.frame = time, frame

    def forward(self, codes: Tensor) -> Tensor:
        """Codes (N, inputs) to raw numbers (N, parameters, T, C, H, W)."""
        frames = self.time(codes).squeeze(1)
        raw: Tensor = self.frame(frames.flatten(0, 1)).unflatten(0, frames.shape[:2]).transpose(1, 2)
        return raw


class Transpose(nn.Module):
    """Exchanges the last two axes: channels and time."""

    def forward(self, value: Tensor) -> Tensor:
        """(..., A, B) to (..., B, A)."""
        return value.transpose(-1, -2)


class FirstSteps(nn.Module):
    """Cuts off what a decoder made beyond the end."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps

    def forward(self, value: Tensor) -> Tensor:
        """(..., T') to (..., T)."""
        return value[..., : self.steps]


def _sizes(modality: Modality) -> tuple[int, int]:
    """Time steps and channels of a series (T, D) or a sound (C, T)."""
    first, second = modality.shape
    return (first, second) if modality.kind == "series" else (second, first)


def default_net(modality: Modality) -> Net:
    """The fast net of a modality's kind."""
    nets: dict[str, type[Net]] = {"image": Patches, "series": Series, "video": Video}
    return nets.get(modality.kind, Dense)()
