"""OutlinesAndColours: a picture in two streams, of which one cannot see colours and the other cannot see outlines."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Modality
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.encoding import Encoder, Encoding, ViewEncoder
from molyneux.learn.encoders.pictures import StridedCNN, padded_pictures

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
