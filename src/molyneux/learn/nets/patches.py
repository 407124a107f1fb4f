"""The fast image net: patches in, patches out, and no convolution at full resolution."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from molyneux.core import ConfigError, Modality
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.shaping import Centre, RawImage

PATCH = 4
"""Side of a patch in pixels."""


@dataclass(frozen=True)
class Patches(Net):
    """An image net made for CPUs, where most of the time of a convolutional net goes into its first and last layers.

    The encoder turns 4x4 patches into channels and halves the grid twice by convolution. The decoder has no convolution at
    all: a code makes planes over the image, rectified planes are half-planes with an edge, and at each patch a small fully
    connected net makes pixels of the heights of the planes there. Edges can lie anywhere and turn freely, so figures at any
    place and angle stay sharp. Any image size fits; sizes that are no multiple of 16 are padded with black.

    Args:
        channels: channels of the encoder's finest grid (16x16 for 64 pixels); coarser grids have two and three times as many.
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
        rows, columns = -(-height // (4 * PATCH)), -(-width // (4 * PATCH))
        c = self.channels
        return nn.Sequential(
            Centre(rows * 4 * PATCH, columns * 4 * PATCH),
            nn.Conv2d(depth, c, PATCH, PATCH),
            nn.ReLU(),
            nn.Conv2d(c, 2 * c, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(2 * c, 3 * c, 3, 2, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(3 * c * rows * columns, self.width),
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
            Planes(self.width, self.planes, rows, columns),
            nn.ReLU(),
            nn.Linear(self.planes, self.hidden),
            nn.ReLU(),
            nn.Linear(self.hidden, PATCH * PATCH * values),
            Unpatch(rows, columns, values),
            RawImage(parameters, depth, height, width),
        )


class Planes(nn.Module):
    """Features to planes over the image, (N, width) -> (N, rows * columns, planes): `a x + b y + c` at every patch.

    The slopes and heights a, b, c of each plane are linear in the features.
    """

    SPAN = 3.0
    """Coordinates run from -3 to 3, so that slopes of usual size make steep edges."""

    positions: Tensor

    def __init__(self, width: int, planes: int, rows: int, columns: int) -> None:
        super().__init__()
        self.coefficients, self.planes = nn.Linear(width, 3 * planes), planes
        y, x = (self.SPAN * ((torch.arange(count) + 0.5) / count * 2 - 1) for count in (rows, columns))
        grid = torch.meshgrid(y, x, indexing="ij")
        self.register_buffer("positions", torch.stack([grid[1], grid[0], torch.ones(rows, columns)], -1).flatten(0, 1), False)

    def forward(self, features: Tensor) -> Tensor:
        """Heights of the planes at every patch."""
        coefficients = self.coefficients(features).reshape(len(features), 3, self.planes)
        return torch.matmul(self.positions.to(coefficients.dtype), coefficients)


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
