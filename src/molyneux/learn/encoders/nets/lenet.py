"""The LeNet of MultiBench and its mirror image, DeLeNet, which paints a picture from a code."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from torch import Tensor, nn

from molyneux.core import Modality
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.nets.net import Net, NetEncoder, Reshape


@dataclass(frozen=True)
class MirroredLeNet(Net):
    """Convolutions with batch normalisation, ReLU and pooling; transposed ones with batch normalisation and ReLU in the decoder.

    LeNetEncoder and DeLeNet of MultiBench's published code. The encoder has a 5x5 convolution and `layers` 3x3 ones that double
    the channels, and a linear layer. The decoder has a linear layer to maps of 1x1, `layers` transposed convolutions (kernel 4,
    stride 2) that halve the channels, and one of kernel 8 and stride 4; the middle of what it paints is the picture: of 34x34
    pixels for 28x28 (3 layers), of 130x130 for 112x112 (5 layers). Maps begin larger where a picture asks for more.

    Args:
        channels: of the first convolution.
        layers: further convolutions.
    """

    channels: int = 6
    layers: int = 3

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        refuse(too_small(self, "channels", "layers"))

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`; maps of one row or column are not pooled along it, and those of one pixel not normalised."""
        self.check(modality)
        depth, rows, columns = modality.shape
        parts: list[nn.Module] = []
        for number, (a, b) in enumerate(pairwise((depth, *self._channels()))):
            kernel = 3 if number else 5
            parts += [nn.Conv2d(a, b, kernel, padding=kernel // 2, bias=False)]
            parts += [nn.BatchNorm2d(b)] if rows * columns > 1 else []
            window = (min(2, rows), min(2, columns))
            parts += [nn.ReLU(), nn.MaxPool2d(window)]
            rows, columns = rows // window[0], columns // window[1]
        return NetEncoder(modality, *parts, nn.Flatten(), nn.Linear(self._channels()[-1] * rows * columns, outputs))

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        depth, *sides = modality.shape
        channels = self._channels()[::-1]
        rows, columns = (max(1, -(-(side - 2) // (4 * 2**self.layers))) for side in sides)
        parts: list[nn.Module] = []
        for a, b in pairwise(channels):
            parts += [nn.ConvTranspose2d(a, b, 4, 2, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU()]
        last = nn.ConvTranspose2d(channels[-1], parameters * depth, 8, 4, 1, bias=False)
        entry = (nn.Linear(inputs, channels[0] * rows * columns), Reshape(channels[0], rows, columns))
        return nn.Sequential(*entry, *parts, last, Middle(*sides), Reshape(parameters, *modality.shape))

    def _channels(self) -> list[int]:
        return [self.channels * 2**layer for layer in range(self.layers + 1)]


class Middle(nn.Module):
    """Cuts the middle out of maps."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.rows, self.columns = rows, columns

    def forward(self, maps: Tensor) -> Tensor:
        """(..., H', W') to (..., H, W)."""
        top, left = (maps.shape[-2] - self.rows) // 2, (maps.shape[-1] - self.columns) // 2
        return maps[..., top : top + self.rows, left : left + self.columns]
