"""Small encoders of pictures: the convolutions of the ShapeWorld paper, strided and patch-wise ones, and one of two streams."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Modality, choice_problems
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.encoding import Encoder, Encoding, ViewEncoder
from molyneux.learn.encoders.layers import he_normal

Norm = Literal["batch", "group"]


@dataclass(frozen=True)
class PaperCNN(ViewEncoder):
    """The convolutions of Kuhnle & Copestake, ShapeWorld (2017): 5x5, 3x3 and 3x3, each followed by 2x2 pooling.

    Stride 1, "same" padding, bias and ReLU; two maximum poolings, then an average. Pictures of 64x64 pixels have 8x8 regions,
    and the vector is all of them. There is no normalisation. Sizes that are no multiple of 8 are padded with black. Weights
    start as in He et al. (ICCV 2015); see `published_weights` for the others.

    Args:
        channels: of the three convolutions; the paper's co-attention has (16, 32, 32).
    """

    channels: tuple[int, int, int] = (16, 32, 64)

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        refuse(channel_problems(self.channels, 3))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        sizes = (modality.shape[0], *self.channels)
        layers: list[nn.Module] = []
        for (before, after), kernel in zip(pairwise(sizes), (5, 3, 3), strict=True):
            convolution = nn.Conv2d(before, after, kernel, padding="same")
            layers += [he_normal(convolution), nn.MaxPool2d(2), nn.ReLU()]  # they commute, and this order is faster
        layers[-2:] = [nn.ReLU(), nn.AvgPool2d(2)]
        return MapEncoder(modality, nn.Sequential(*layers), self.channels[-1], 8, coordinates=False)


@dataclass(frozen=True)
class StridedCNN(ViewEncoder):
    """Convolutions of stride 2 with normalisation and ReLU, and residual blocks on the last grid: fast on a CPU.

    A picture of 64x64 pixels becomes 8x8 regions with three convolutions. The coordinates of the regions, from -1 to 1, are two
    more numbers of each (as in Perez et al., AAAI 2018, and Santoro et al., NeurIPS 2017).

    Args:
        channels: of each convolution; each halves the grid.
        blocks: residual blocks of two 3x3 convolutions on the last grid.
        norm: "batch" normalisation, or "group" normalisation in groups of 8 channels, which does not depend on the batch.
        coordinates: whether regions have their coordinates.
    """

    channels: tuple[int, ...] = (24, 48, 64)
    blocks: int = 0
    norm: Norm = "batch"
    coordinates: bool = True

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        problems = channel_problems(self.channels) + too_small(self, "blocks", least=0)
        problems += choice_problems(norm=(self.norm, get_args(Norm)))
        if self.norm == "group" and any(number % 8 for number in self.channels):
            problems.append(f"channels: expected multiples of 8 with group normalisation, got {self.channels}")
        refuse(problems)

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        layers, step = self.layers(modality.shape[0]), 2 ** len(self.channels)
        return MapEncoder(modality, layers, self.channels[-1], step, coordinates=self.coordinates)

    def layers(self, inputs: int) -> nn.Sequential:
        """Convolutions and residual blocks, from maps (B, inputs, H, W) to the last grid."""
        sizes, last = (inputs, *self.channels), self.channels[-1]
        kernels = (5, *(3,) * (len(self.channels) - 1))
        layers = [self._layer(a, b, kernel, 2) for (a, b), kernel in zip(pairwise(sizes), kernels, strict=True)]
        layers += [Residual(self._layer(last, last), self._layer(last, last)) for _ in range(self.blocks)]
        return nn.Sequential(*layers)

    def _layer(self, inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> nn.Module:
        convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
        norm = nn.BatchNorm2d(outputs) if self.norm == "batch" else nn.GroupNorm(outputs // 8, outputs)
        return nn.Sequential(convolution, norm, nn.ReLU())


@dataclass(frozen=True)
class PixelPatches(ViewEncoder):
    """Square patches of pixels, each through the same linear layer; Dosovitskiy et al., ViT (ICLR 2021), equation 1.

    Args:
        side: of a patch, in pixels; pictures are padded with black to a multiple of it.
        width: numbers of a patch.
        coordinates: whether patches have their coordinates, from -1 to 1, as two more numbers.
    """

    side: int = 8
    width: int = 64
    coordinates: bool = True

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        refuse(too_small(self, "side", "width"))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        layer = nn.Conv2d(modality.shape[0], self.width, self.side, self.side)
        return MapEncoder(modality, layer, self.width, self.side, coordinates=self.coordinates)


class Residual(nn.Module):
    """Layers whose result is added to what they were given; He et al., Deep Residual Learning (CVPR 2016), equation 1."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, maps: Tensor) -> Tensor:
        """Maps (B, C, H, W) to the same shape."""
        changed: Tensor = self.layers(maps)
        return maps + changed


class MapEncoder(Encoder):
    """Layers from pictures to feature maps, whose positions are the regions of the picture, with or without coordinates.

    Args:
        modality: of the pictures.
        layers: pictures (B, C, H, W) to maps (B, channels, ceil(H / step), ceil(W / step)).
        channels: of the maps.
        step: pixels between regions, along each axis.
        coordinates: whether regions have their coordinates.
    """

    coordinates: Tensor

    def __init__(self, modality: Modality, layers: nn.Module, channels: int, step: int, *, coordinates: bool) -> None:
        rows, columns = (-(-size // step) for size in modality.shape[1:])
        width = channels + 2 * coordinates
        super().__init__(modality, vector=rows * columns * width, width=width, grid=(rows, columns))
        self.layers, self.step = layers, step
        self.register_buffer("coordinates", grid_coordinates(rows, columns)[:, : 2 * coordinates], persistent=False)

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        maps = self.layers(padded_pictures(view, self.step))
        parts = maps.flatten(2).transpose(1, 2)
        if self.coordinates.shape[1]:
            parts = torch.cat([parts, self.coordinates.to(parts.dtype).expand(len(view), -1, -1)], -1)
        mask = torch.ones(parts.shape[:2], dtype=torch.bool, device=parts.device)
        return Encoding(parts.flatten(1), parts, mask)


def grid_coordinates(rows: int, columns: int) -> Tensor:
    """Coordinates of the centres of a grid's cells, row by row, (rows * columns, 2): x and y within -1 to 1."""
    y, x = ((torch.arange(count) + 0.5) / count * 2 - 1 for count in (rows, columns))
    down, right = torch.meshgrid(y, x, indexing="ij")
    return torch.stack([right, down], -1).flatten(0, 1)


def padded_pictures(view: Tensor, step: int) -> Tensor:
    """Pictures with black at the right and below, up to a multiple of `step` pixels."""
    down, right = (-size % step for size in view.shape[2:])
    return functional.pad(view, (0, right, 0, down)) if down or right else view


def channel_problems(channels: tuple[int, ...], count: int | None = None) -> list[str]:
    """A problem unless these are so many, or any number of, numbers of channels."""
    if channels and all(isinstance(number, int) and number >= 1 for number in channels) and count in (None, len(channels)):
        return []
    many = "numbers of channels" if count is None else f"{count} numbers of channels"
    return [f"channels: expected {many}, at least 1 each, got {channels}"]


POOLED = 4
"""Pixels over which colours are averaged, along each axis, before the last of their layers."""


@dataclass(frozen=True)
class OutlinesAndColours(ViewEncoder):
    """Two streams: outlines from the brightness of pixels, and colours pixel by pixel.

    The first stream sees the largest channel of each pixel (the value of HSV), so that red and white of one shade are the same to
    it: strided convolutions with normalisation and residual blocks, as `StridedCNN`. The second has convolutions of one pixel
    only, averages of 4x4 pixels and the maximum of these in each region, so that shapes are the same to it. What is learned of a
    colour can therefore not depend on shapes, nor the other way round, which a network that sees both will learn where some
    combinations never occur in training: a square that is red is then no square to it. Predictors such as `ConceptModules`
    keep the streams apart (`Encoder.streams`); to others they are one.

    Args:
        channels: of the convolutions of the stream of outlines; each halves the grid.
        blocks: residual blocks of two 3x3 convolutions on the last grid.
        colours: numbers of the stream of colours.
    """

    channels: tuple[int, ...] = (16, 32, 64)
    blocks: int = 1
    colours: int = 24

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        problems = too_small(self, "blocks", least=0) + too_small(self, "colours")
        if len(self.channels) < 2 or any(type(number) is not int or number < 1 for number in self.channels):
            problems.append(f"channels: expected at least two numbers of channels, at least 1 each, got {self.channels}")
        refuse(problems)

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return OutlinesAndColoursEncoder(self, modality)


class OutlinesAndColoursEncoder(Encoder):
    """See `OutlinesAndColours`. Sizes that are no multiple of a region are padded with black."""

    def __init__(self, settings: OutlinesAndColours, modality: Modality) -> None:
        last, step = settings.channels[-1], 2 ** len(settings.channels)
        rows, columns = (-(-size // step) for size in modality.shape[1:])
        width = last + settings.colours
        super().__init__(modality, vector=rows * columns * width, width=width, grid=(rows, columns))
        self.streams, self.step = (last, settings.colours), step
        self.outlines = StridedCNN(settings.channels, blocks=settings.blocks).layers(1)
        half = max(1, settings.colours * 2 // 3)
        pointwise = _pointwise(modality.shape[0], half), _pointwise(half, settings.colours)
        again = _pointwise(settings.colours, settings.colours)
        self.colours = nn.Sequential(nn.AvgPool2d(2), *pointwise, nn.AvgPool2d(POOLED // 2), again)

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        view = padded_pictures(view, self.step)
        outlines = self.outlines(view.amax(1, keepdim=True))
        colours = functional.max_pool2d(self.colours(view), self.step // POOLED) if self.step > POOLED else self.colours(view)
        parts = torch.cat([maps.flatten(2).transpose(1, 2) for maps in (outlines, colours.to(outlines.dtype))], -1)
        return Encoding(parts.flatten(1), parts, torch.ones(parts.shape[:2], dtype=torch.bool, device=parts.device))


def _pointwise(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())
