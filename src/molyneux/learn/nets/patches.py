"""The fast image net: patches in, patches out, and no convolution at full resolution."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from molyneux.core import ConfigError, Modality
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.shaping import Centre, RawImage, Reshape

PATCH = 4
"""Side of a patch in pixels."""


@dataclass(frozen=True)
class Patches(Net):
    """Convolutions over 4x4 patches, made for CPUs: most of the time of an image net goes into its first and last layers.

    The encoder turns patches into channels and halves the grid twice. The decoder grows a 2x smaller grid from the code,
    upsamples it by pixel shuffling (Shi et al., CVPR 2016) and writes patches. Any image size fits; sizes that are no
    multiple of 16 are padded with black.

    Args:
        channels: channels on the finest grid (16x16 for a 64-pixel image); coarser grids have two and three times as many.
        width: units of the fully connected layers.
    """

    channels: int = 32
    width: int = 256

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        if self.channels < 1 or self.width < 1:
            raise ConfigError(f"Patches: expected channels and width of at least 1, got {self.channels} and {self.width}")

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        depth, height, width = modality.shape
        rows, columns = _grid(height), _grid(width)
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
        rows, columns = 2 * _grid(height), 2 * _grid(width)
        c = self.channels
        return nn.Sequential(
            nn.Linear(inputs, self.width),
            nn.ReLU(),
            nn.Linear(self.width, self.width),
            nn.ReLU(),
            nn.Linear(self.width, 2 * c * rows * columns),
            nn.ReLU(),
            Reshape(2 * c, rows, columns),
            nn.Conv2d(2 * c, 4 * c, 3, 1, 1),
            nn.PixelShuffle(2),
            nn.ReLU(),
            nn.Conv2d(c, parameters * depth * PATCH**2, 3, 1, 1),
            nn.PixelShuffle(PATCH),
            RawImage(parameters, depth, height, width),
        )


def _grid(size: int) -> int:
    """Cells of the coarsest grid along an axis of that many pixels."""
    return -(-size // (4 * PATCH))
