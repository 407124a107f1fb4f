"""The fast image net: a narrow convolutional encoder, and a decoder that paints patches."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from torch import Tensor, nn

from molyneux.core import ConfigError, Modality
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.planes import PlanePainter
from molyneux.learn.nets.shaping import Centre, RawImage

PATCH = 4
"""Side of a patch in pixels."""

_COARSEST = 16
"""Pixels to a side of a cell of the encoder's coarsest grid."""


@dataclass(frozen=True)
class Patches(Net):
    """An image net made for CPUs, where most of the time of a convolutional net goes into its layers at full resolution.

    The encoder halves the grid four times by convolution, with few channels where the grid is fine. The decoder has no
    convolution: see `PlanePainter`. Figures at any place and angle stay sharp. Any image size fits; sizes that are no
    multiple of 16 are padded with black.

    Args:
        channels: channels of the encoder's second grid (16x16 for 64 pixels); the grid before has half as many, those after
            two and three times as many.
        planes: planes that a code makes.
        hidden: units of the net that makes a patch.
        width: units of the fully connected layers.
    """

    channels: int = 32
    planes: int = 64
    hidden: int = 96
    width: int = 256

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        names = ("channels", "planes", "hidden", "width")
        bad = [name for name in names if getattr(self, name) < 1]
        if bad:
            raise ConfigError([f"{name}: expected at least 1, got {getattr(self, name)}" for name in bad])

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        depth, height, width = modality.shape
        rows, columns = -(-height // _COARSEST), -(-width // _COARSEST)
        sizes = (depth, max(1, self.channels // 2), self.channels, 2 * self.channels, 3 * self.channels)
        halvings = [layer for a, b in pairwise(sizes) for layer in (nn.Conv2d(a, b, 4, 2, 1), nn.ReLU())]
        return nn.Sequential(
            Centre(rows * _COARSEST, columns * _COARSEST),
            *halvings,
            nn.Flatten(),
            nn.Linear(sizes[-1] * rows * columns, self.width),
            nn.ReLU(),
            nn.Linear(self.width, outputs),
        )

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        depth, height, width = modality.shape
        rows, columns = -(-height // PATCH), -(-width // PATCH)
        values = parameters * depth
        return nn.Sequential(
            nn.Linear(inputs, self.width),
            nn.ReLU(),
            nn.Linear(self.width, self.width),
            nn.ReLU(),
            PlanePainter(self.width, self.planes, self.hidden, rows=rows, columns=columns, values=PATCH * PATCH * values),
            Unpatch(rows, columns, values),
            RawImage(parameters, depth, height, width),
        )


class Unpatch(nn.Module):
    """Pixels of every patch to images, (N, rows * columns, 16 * values) -> (N, values, 4 rows, 4 columns)."""

    def __init__(self, rows: int, columns: int, values: int) -> None:
        super().__init__()
        self.rows, self.columns, self.values = rows, columns, values

    def forward(self, pixels: Tensor) -> Tensor:
        """The images."""
        tiles = pixels.reshape(-1, self.rows, self.columns, PATCH, PATCH, self.values)
        rows = tiles.permute(0, 5, 1, 3, 2, 4)
        return rows.reshape(-1, self.values, PATCH * self.rows, PATCH * self.columns)
