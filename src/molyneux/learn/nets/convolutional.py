"""The papers' image net: four strided convolutions on each side."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from molyneux.core import ConfigError, Modality
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.shaping import Centre, RawImage, Reshape

STRIDES = 4
"""Convolutions on each side; each halves or doubles the grid."""


@dataclass(frozen=True)
class Convolutional(Net):
    """Four convolutions (kernel 4, stride 2) with ReLU and a fully connected layer, mirrored in the decoder.

    Sejnova et al., Benchmarking Multimodal Variational Autoencoders: GeBiD Dataset and Toolkit (2022), "Model comparison
    on GeBiD", with the widths of the published code. Any image size fits; sizes that are no multiple of 16 are padded with black.

    Args:
        channels: channels of every convolution.
        width: units of the fully connected layers.
    """

    channels: int = 32
    width: int = 256

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        bad = [name for name in ("channels", "width") if getattr(self, name) < 1]
        if bad:
            raise ConfigError([f"{name}: expected at least 1, got {getattr(self, name)}" for name in bad])

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        depth, height, width = modality.shape
        rows, columns = _grid(height), _grid(width)
        parts: list[nn.Module] = [Centre(rows << STRIDES, columns << STRIDES)]
        for step in range(STRIDES):
            parts += [nn.Conv2d(self.channels if step else depth, self.channels, 4, 2, 1), nn.ReLU()]
        parts += [nn.Flatten(), nn.Linear(self.channels * rows * columns, self.width), nn.ReLU()]
        return nn.Sequential(*parts, nn.Linear(self.width, outputs))

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        depth, height, width = modality.shape
        rows, columns = _grid(height), _grid(width)
        entry = self.channels * rows * columns
        parts: list[nn.Module] = [nn.Linear(inputs, self.width), nn.ReLU(), nn.Linear(self.width, entry), nn.ReLU()]
        parts.append(Reshape(self.channels, rows, columns))
        for _ in range(STRIDES - 1):
            parts += [nn.ConvTranspose2d(self.channels, self.channels, 4, 2, 1), nn.ReLU()]
        parts.append(nn.ConvTranspose2d(self.channels, parameters * depth, 4, 2, 1))
        return nn.Sequential(*parts, RawImage(parameters, depth, height, width))


def _grid(size: int) -> int:
    """Cells of the coarsest grid along an axis of that many pixels."""
    return -(-size >> STRIDES)
