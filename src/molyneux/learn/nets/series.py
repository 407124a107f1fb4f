"""The net for series and sound: strided convolutions over time."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from molyneux.core import ConfigError, Modality
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.shaping import Reshape


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
        bad = [name for name in ("channels", "width") if getattr(self, name) < 1]
        if bad:
            raise ConfigError([f"{name}: expected at least 1, got {getattr(self, name)}" for name in bad])

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        steps, depth = _sizes(modality)
        c = self.channels
        return nn.Sequential(
            Transpose() if modality.kind == "series" else nn.Identity(),
            nn.Conv1d(depth, c, 5, 2, 2),
            nn.ReLU(),
            nn.Conv1d(c, 2 * c, 5, 2, 2),
            nn.ReLU(),
            nn.Conv1d(2 * c, 3 * c, 5, 2, 2),
            nn.ReLU(),
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
            nn.ConvTranspose1d(3 * c, 2 * c, 4, 2, 1),
            nn.ReLU(),
            nn.ConvTranspose1d(2 * c, c, 4, 2, 1),
            nn.ReLU(),
            nn.ConvTranspose1d(c, parameters * depth, 4, 2, 1),
            FirstSteps(steps),
            Reshape(parameters, depth, steps),
            Transpose() if modality.kind == "series" else nn.Identity(),
        )


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
