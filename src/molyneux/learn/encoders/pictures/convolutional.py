"""Convolutional encoders of pictures: LeNet, VGG-11, residual networks, and strided convolutions of robotics.

The parts are the positions of the last maps, row by row, or the vector alone where layers of weights follow on them. The hidden
layers are the means of the maps of each stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from molyneux.core import Modality, SpecError
from molyneux.learn.checks import dropout_problems, refuse, too_small
from molyneux.learn.encoders.encoding import Encoder, Encoding, ViewEncoder
from molyneux.learn.encoders.general import whole
from molyneux.learn.encoders.layers import he_normal
from molyneux.learn.encoders.pictures.pooled_convolutions import PooledConvolutions
from molyneux.learn.encoders.pictures.small import Residual, channel_problems
from molyneux.learn.encoders.steps import BatchNorm2d


class StagedEncoder(Encoder):
    """Stages of convolutions, and a vector made of the last maps.

    Args:
        modality: of the pictures.
        stages: each makes maps of smaller maps.
        last: the last maps (B, C, H, W) to a vector (B, D).
    """

    def __init__(self, modality: Modality, stages: Sequence[nn.Module], last: nn.Module) -> None:
        shapes = []
        with torch.no_grad():
            training = [stage.training for stage in stages]
            maps = torch.zeros(1, *modality.shape)
            for stage in stages:
                maps = stage.eval()(maps)
                shapes.append(maps.shape[1:])
            vector = last.eval()(maps).shape[1]
        channels, weighted = tuple(shape[0] for shape in shapes), bool([*last.parameters()])
        width, grid = (vector, (1, 1)) if weighted else (channels[-1], tuple(shapes[-1][1:]))
        super().__init__(modality, vector=vector, width=width, grid=grid, layers=(*channels, vector))
        self.stages, self.last, self.weighted = nn.ModuleList(stages), last, weighted
        self.train(all(training))

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        maps, layers = view, []
        for stage in self.stages:
            maps = stage(maps)
            layers.append(maps.mean((2, 3)))
        vector = self.last(maps)
        parts = vector.unsqueeze(1) if self.weighted else maps.flatten(2).transpose(1, 2)
        return Encoding(vector, parts, torch.ones_like(parts[..., 0], dtype=torch.bool), layers=(*layers, vector))


@dataclass(frozen=True)
class LeNet(ViewEncoder):
    """Convolutions without bias, each with batch normalisation, ReLU and 2x2 maximum pooling; the vector is the last maps.

    The LeNet of MFAS and MultiBench for AV-MNIST (Perez-Rua et al., CVPR 2019): a 5x5 convolution, then 3x3 convolutions that
    double the channels. With 6 channels, 3 further layers make 48 numbers of 28x28 pixels, 5 make 192 of 112x112.

    Args:
        channels: of the first convolution.
        layers: further convolutions.
    """

    channels: int = 6
    layers: int = 3

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        refuse(too_small(self, "channels") + too_small(self, "layers", least=0))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        fitting(self, modality, 2 ** (self.layers + 1), "lower its layers")
        sizes = (modality.shape[0], *(self.channels * 2**layer for layer in range(self.layers + 1)))
        stages = [PooledConvolutions(convolution(a, b, 5 if not number else 3)) for number, (a, b) in enumerate(pairwise(sizes))]
        return StagedEncoder(modality, stages, nn.Flatten())


@dataclass(frozen=True)
class VGG11(ViewEncoder):
    """The convolutions of VGG-11 with batch normalisation, and a linear layer; Simonyan & Zisserman (ICLR 2015), table 1, A.

    Maps are averaged to a grid of 7x7 before the linear layer, as in MultiBench's slim version. Weights start at random, as in He
    et al. (ICCV 2015): none are downloaded.

    Args:
        width: numbers of the vector.
        share: channels, as a share of the published ones.
    """

    width: int = 128
    share: float = 1.0

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        problems = too_small(self, "width")
        refuse(problems + ([] if 1 / 64 <= self.share <= 4 else [f"share: expected a number from 1/64 to 4, got {self.share}"]))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        fitting(self, modality, 32, "choose LeNet or ResNet")
        inputs, stages = modality.shape[0], []
        for channels, count in ((64, 1), (128, 1), (256, 2), (512, 2), (512, 2)):
            outputs = max(1, round(channels * self.share))
            sizes = pairwise((inputs, *[outputs] * count))
            stages.append(PooledConvolutions(*(convolution(a, b, 3, bias=True) for a, b in sizes)))
            inputs = outputs
        return StagedEncoder(modality, stages, AveragedGrid(7, inputs, self.width))


class AveragedGrid(nn.Module):
    """A linear layer of maps that are averaged to, or repeated on, a square grid."""

    def __init__(self, side: int, channels: int, width: int) -> None:
        super().__init__()
        self.grid, self.linear = nn.AdaptiveAvgPool2d(side), nn.Linear(channels * side * side, width)

    def forward(self, maps: Tensor) -> Tensor:
        """Maps (B, C, H, W) to (B, width)."""
        vector: Tensor = self.linear(self.grid(maps).flatten(1))
        return vector


@dataclass(frozen=True)
class ResNet(ViewEncoder):
    """A residual network; the vector is the mean of the last maps. He et al. (CVPR 2016), section 3.3, basic blocks.

    With channels (64, 128, 256, 512) and 2 blocks it has the blocks of ResNet-18. Deviation: the first convolution is 3x3 with
    the stride `stem` and has no pooling, for pictures of 28 to 128 pixels.

    Args:
        channels: of each stage; each after the first halves the grid.
        blocks: of each stage.
        stem: stride of the first convolution; None makes it so large that the last grid has at most 8 rows and columns.
        dropout: share of the vector dropped in training.
    """

    channels: tuple[int, ...] = (32, 64, 128)
    blocks: int = 1
    stem: int | None = None
    dropout: float = 0.0

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        problems = channel_problems(self.channels) + too_small(self, "blocks") + dropout_problems(dropout=self.dropout)
        refuse(problems + ([] if self.stem is None else too_small(self, "stem")))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        halvings, longest = 2 ** (len(self.channels) - 1), max(modality.shape[1:])
        stem = self.stem or max(1, -(-longest // (8 * halvings)))
        stages: list[nn.Module] = []
        for number, (a, b) in enumerate(pairwise((self.channels[0], *self.channels))):
            blocks = [ResidualBlock(a if not block else b, b, 2 if number and not block else 1) for block in range(self.blocks)]
            first = [] if number else [convolution(modality.shape[0], a, 3, stride=stem)]
            stages.append(nn.Sequential(*first, *blocks))
        pooled = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(self.dropout))
        return StagedEncoder(modality, stages, pooled)


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions whose result is added to what they were given; where shapes differ, to a 1x1 convolution of it."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = convolution(inputs, outputs, 3, stride=stride)
        self.second = nn.Sequential(he_normal(nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)), BatchNorm2d(outputs))
        same = inputs == outputs and stride == 1
        projection = (nn.Conv2d(inputs, outputs, 1, stride, bias=False), BatchNorm2d(outputs))
        self.shortcut = nn.Identity() if same else nn.Sequential(*projection)

    def forward(self, maps: Tensor) -> Tensor:
        """Maps (B, inputs, H, W) to (B, outputs, H / stride, W / stride)."""
        result: Tensor = (self.second(self.first(maps)) + self.shortcut(maps)).relu()
        return result


@dataclass(frozen=True)
class RobotCamera(ViewEncoder):
    """Convolutions of stride 2 with leaky ReLU 0.1 and a linear layer; Lee et al., Making Sense of Vision and Touch (ICRA 2019).

    The encoders of a robot's pictures and depth maps of 128x128 pixels, with the sizes of the published code of both that paper
    and MultiBench: see the constants `CAMERA` and `DEPTH`.

    Args:
        channels: of each convolution.
        kernels: side of each.
        width: numbers of the vector.
    """

    channels: tuple[int, ...] = (16, 32, 64, 64, 128, 128)
    kernels: tuple[int, ...] = (7, 5, 5, 3, 3, 3)
    width: int = 256

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        problems = channel_problems(self.channels) + channel_problems(self.kernels, len(self.channels)) + too_small(self, "width")
        refuse(dict.fromkeys(problems))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        fitting(self, modality, 2 ** len(self.channels), "give it fewer channels and kernels")
        sizes = pairwise((modality.shape[0], *self.channels))
        stages = [
            nn.Sequential(he_normal(nn.Conv2d(a, b, kernel, 2, (kernel - 1) // 2)), nn.LeakyReLU(0.1))
            for (a, b), kernel in zip(sizes, self.kernels, strict=True)
        ]
        rows, columns = modality.shape[1:]
        for kernel in self.kernels:
            rows, columns = ((side + 2 * ((kernel - 1) // 2) - kernel) // 2 + 1 for side in (rows, columns))
        last = nn.Sequential(nn.Flatten(), nn.Linear(self.channels[-1] * rows * columns, self.width))
        return StagedEncoder(modality, stages, last)


@dataclass(frozen=True)
class PushLayers(ViewEncoder):
    """The layers of a step of MuJoCo Push: convolutions of a picture, or none; a linear layer; and a residual block.

    Lee et al., Multimodal Sensor Fusion with Differentiable Filters (IROS 2020), as sized in the published code of MultiBench: a
    5x5 convolution of 32 channels with ReLU, a residual block of two 3x3 convolutions, and 3x3 convolutions to 16 and 8 channels;
    at the end a residual block of two linear layers with ReLU.

    Args:
        width: numbers of the vector.
    """

    width: int = 64

    kinds = frozenset({"image", "tabular"})

    def __post_init__(self) -> None:
        refuse(too_small(self, "width"))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        maps: list[nn.Module] = []
        if modality.kind == "image":
            maps = [_same(modality.shape[0], 32, 5), nn.ReLU(), Residual(_same(32, 32), nn.ReLU(), _same(32, 32)), nn.ReLU()]
            maps += [_same(32, 16), nn.ReLU(), _same(16, 8)]
        inputs, width = modality.size // modality.shape[0] * 8 if maps else modality.size, self.width
        block = Residual(he_normal(nn.Linear(width, width)), nn.ReLU(), nn.Linear(width, width))
        entry = he_normal(nn.Linear(inputs, width))
        return WholeEncoder(modality, nn.Sequential(*maps, nn.Flatten(), entry, nn.ReLU(), block, nn.ReLU()), width)


class WholeEncoder(Encoder):
    """Layers from views to vectors, which are their only parts."""

    def __init__(self, modality: Modality, layers: nn.Module, width: int) -> None:
        super().__init__(modality, vector=width, width=width, grid=(1, 1))
        self.layers = layers

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        return whole(self.layers(view))


def _same(inputs: int, outputs: int, kernel: int = 3) -> nn.Conv2d:
    return he_normal(nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2))


CAMERA = RobotCamera()
"""The encoder of colour pictures of Vision & Touch."""

DEPTH = RobotCamera((32, 64, 64, 64, 128, 128), (3, 3, 4, 3, 3, 3))
"""The encoder of depth maps of Vision & Touch."""


def convolution(inputs: int, outputs: int, kernel: int, *, stride: int = 1, bias: bool = False) -> nn.Sequential:
    """A convolution with batch normalisation and ReLU, which keeps the grid but for the stride."""
    layer = he_normal(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=bias))
    return nn.Sequential(layer, BatchNorm2d(outputs), nn.ReLU())


def fitting(settings: ViewEncoder, modality: Modality, least: int, advice: str) -> None:
    """Raise SpecError for pictures of which a side is shorter than so many pixels."""
    if min(modality.shape[1:]) < least:
        name, sides = type(settings).__name__, " x ".join(map(str, modality.shape[1:]))
        raise SpecError(f"{name}: expected pictures of at least {least} pixels a side, got {sides} of {modality.name}: {advice}")
