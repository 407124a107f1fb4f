"""Strided convolutions with batch normalisation."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from torch import nn

from molyneux.core import Modality
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.nets.images import Centre, RawImage
from molyneux.learn.encoders.nets.net import Net, NetEncoder, Reshape


@dataclass(frozen=True)
class NormalisedConvolutional(Net):
    """Convolutions (kernel 4, stride 2) with batch normalisation and ReLU, and more channels where the grid is coarse.

    Radford et al., Unsupervised Representation Learning with Deep Convolutional Generative Adversarial Networks (ICLR 2016),
    section 3, with a fully connected layer before and after the code. Ioffe & Szegedy, Batch Normalization (ICML 2015): in
    training, what comes out for a sample depends on its batch, in evaluation it does not. Any image size fits; sizes that are no
    multiple of 16 are padded with black.

    Args:
        channels: of the finest grid of the encoder, 1/2 of the image, in units of which the coarser ones have 2, 8/3 and 8/3.
        width: units of the fully connected layers.
    """

    channels: int = 24
    width: int = 256

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        refuse([*too_small(self, "width"), *too_small(self, "channels", least=3)])

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        depth, height, width = modality.shape
        rows, columns = -(-height >> 4), -(-width >> 4)
        c = self.channels
        grids = (depth, c, 2 * c, 8 * c // 3, 8 * c // 3)
        layers: list[nn.Module] = [Centre(rows << 4, columns << 4)]
        for before, after in pairwise(grids):
            layers += [nn.Conv2d(before, after, 4, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
        dense = nn.Linear(grids[-1] * rows * columns, self.width)
        return NetEncoder(
            modality, *layers, nn.Flatten(), dense, nn.BatchNorm1d(self.width), nn.ReLU(), nn.Linear(self.width, outputs)
        )

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        depth, height, width = modality.shape
        rows, columns = -(-height >> 3), -(-width >> 3)
        c = self.channels
        grids = (8 * c // 3, 2 * c, 4 * c // 3)
        layers: list[nn.Module] = [nn.Linear(inputs, self.width), nn.BatchNorm1d(self.width), nn.ReLU()]
        layers += [nn.Linear(self.width, grids[0] * rows * columns), Reshape(grids[0], rows, columns)]
        layers += [nn.BatchNorm2d(grids[0]), nn.ReLU()]
        for before, after in pairwise(grids):
            layers += [nn.ConvTranspose2d(before, after, 4, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
        layers.append(nn.ConvTranspose2d(grids[-1], parameters * depth, 4, 2, 1))
        return nn.Sequential(*layers, RawImage(parameters, depth, height, width))
