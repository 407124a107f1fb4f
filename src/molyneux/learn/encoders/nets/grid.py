"""Convolutions whose code lies on a coarse grid over the image."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from molyneux.core import Modality, SpecError
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.nets.images import Centre, RawImage
from molyneux.learn.encoders.nets.net import Net, NetEncoder, Reshape

CELL = 8
"""Side of a cell in pixels: three convolutions halve the grid."""


@dataclass(frozen=True)
class GridConvolutional(Net):
    """Convolutions with batch normalisation and ReLU whose code has some numbers for each cell of 8 x 8 pixels.

    The code of an image of 64 x 64 pixels lies on a grid of 8 x 8, and its size is a multiple of 64, such as 512. Each number
    tells of its cell and what surrounds it, so that small things are learned as soon as large ones, wherever they are: no layer
    connects all pixels. Esser et al., Taming Transformers for High-Resolution Image Synthesis (CVPR 2021), section 3.1, and
    Rombach et al., High-Resolution Image Synthesis with Latent Diffusion Models (CVPR 2022), section 3.1, have such codes; here
    without attention, adversarial and perceptual losses. Residual blocks: He et al., Deep Residual Learning (CVPR 2016).

    A code of many numbers with little in each has no useful samples from a standard normal prior: draw it from a model that is
    fitted to the codes (`MLD`). Images whose sides are no multiple of 8 are padded with black.

    Args:
        channels: of the finest grid of the encoder, 1/2 of the image; the coarser ones have twice and three times as many, those
            of the decoder 3, 2 and 4/3 times.
        blocks: residual blocks on the grid of the code, on each side.
    """

    channels: int = 24
    blocks: int = 2

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        refuse([*too_small(self, "blocks"), *too_small(self, "channels", least=3)])

    def code_grid(self, modality: Modality) -> tuple[int, int]:
        """See `Net`."""
        self.check(modality)
        _, height, width = modality.shape
        return -(-height // CELL), -(-width // CELL)

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        rows, columns = self.code_grid(modality)
        c = self.channels
        layers: list[nn.Module] = [Centre(rows * CELL, columns * CELL)]
        for before, after in pairwise((modality.shape[0], c, 2 * c, 3 * c)):
            layers += [nn.Conv2d(before, after, 4, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
        layers += [NormalisedResidual(3 * c) for _ in range(self.blocks)]
        layers.append(nn.Conv2d(3 * c, self._depth(modality, outputs), 1))
        return NetEncoder(modality, *layers, nn.Flatten())

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        rows, columns = self.code_grid(modality)
        depth, height, width = modality.shape
        code, c = self._depth(modality, inputs), self.channels
        layers: list[nn.Module] = [Reshape(code, rows, columns)]
        layers += [nn.Conv2d(code, 3 * c, 3, 1, 1, bias=False), nn.BatchNorm2d(3 * c), nn.ReLU()]
        layers += [NormalisedResidual(3 * c) for _ in range(self.blocks)]
        for before, after in pairwise((3 * c, 2 * c, 4 * c // 3)):
            layers += [nn.ConvTranspose2d(before, after, 4, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
        layers.append(nn.ConvTranspose2d(4 * c // 3, parameters * depth, 4, 2, 1))
        return nn.Sequential(*layers, RawImage(parameters, depth, height, width))

    def _depth(self, modality: Modality, size: int) -> int:
        """How many of `size` numbers there are for each cell."""
        rows, columns = self.code_grid(modality)
        if size % (rows * columns):
            raise SpecError(
                f"GridConvolutional gives {modality.name} a code on a grid of {rows} x {columns}: "
                f"expected a number of dimensions that {rows * columns} divides, got {size}"
            )
        return size // (rows * columns)


class NormalisedResidual(nn.Module):
    """Two normalised convolutions, added to their input."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for _ in range(2):
            layers += [nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU()]
        self.layers = nn.Sequential(*layers[:-1])

    def forward(self, grid: Tensor) -> Tensor:
        """Features of the same shape, (B, channels, rows, columns)."""
        return torch.relu(grid + self.layers(grid))
