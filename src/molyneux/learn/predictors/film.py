"""FiLM: the text scales and shifts the feature maps of the picture."""

from __future__ import annotations

from typing import Unpack

from torch import Tensor, nn

from molyneux.core import Spec
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder
from molyneux.learn.encoders.layers import he_normal
from molyneux.learn.encoders.pictures.small import StridedCNN, grid_coordinates
from molyneux.learn.encoders.texts import RecurrentWords
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor

TRUNK, WORDS, HEAD = StridedCNN(coordinates=False), RecurrentWords("gru", width=128), Head(256)


class FiLM(PictureTextPredictor):
    """The text scales and shifts every feature map of residual blocks; Perez et al., FiLM (AAAI 2018), equations 1 and 2.

    FiLM: Visual Reasoning with a General Conditioning Layer, figure 3: after a 3x3 convolution `blocks` residual blocks, each a
    1x1 convolution with ReLU, a 3x3 convolution, normalisation without weights of its own, `(1 + gamma) F + beta`, ReLU and the
    sum; gamma and beta are linear in the text. The first, 1x1 and last convolutions see the coordinates; then the maximum over
    all positions.

    Deviation: 64 channels where the paper has 128, 128 units of the GRU for 4,096, 128 channels before the maximum for 512.

    Args:
        spec: see `Predictor`.
        blocks: residual blocks.
        width: channels of the blocks.
        last: channels of the convolution before the maximum.
        trunk: encoder of the picture, whose parts lie on a grid.
        words: encoder of the text.
        head: see `Head`.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        blocks: int = 4,
        width: int = 64,
        last: int = 128,
        trunk: ViewEncoder = TRUNK,
        words: ViewEncoder = WORDS,
        head: Head = HEAD,
        **inputs: Unpack[Inputs],
    ) -> None:
        sizes = {"blocks": blocks, "width": width, "last": last}
        refuse(f"{name}: expected at least 1, got {value}" for name, value in sizes.items() if value < 1)
        super().__init__(spec, trunk, words, **inputs)
        grid = self.picture.grid
        self.entry = Placed(self.picture.width, width, grid, kernel=3)
        self.modulation = nn.Linear(self.words.vector, 2 * blocks * width)
        self.blocks = nn.ModuleList(ModulatedBlock(width, grid) for _ in range(blocks))
        self.last = Placed(width, last, grid)
        self.answer_from(last, head)

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """The maximum over positions after the last convolution, (B, last)."""
        maps = picture.parts.transpose(1, 2).reshape(len(picture.parts), -1, *self.picture.grid)
        maps = self.entry(maps)
        modulation = self.modulation(text.vector).reshape(len(maps), len(self.blocks), 2, -1, 1, 1)
        for number, block in enumerate(self.blocks):
            gamma, beta = modulation[:, number].unbind(1)
            maps = block(maps, gamma, beta)
        features: Tensor = self.last(maps).amax((2, 3))
        return features


class Placed(nn.Module):
    """A convolution of maps with two more maps, their coordinates from -1 to 1, and ReLU.

    The coordinates are the same for every sample, so their share is computed once.
    """

    coordinates: Tensor

    def __init__(self, inputs: int, outputs: int, grid: tuple[int, int], *, kernel: int = 1) -> None:
        super().__init__()
        self.of_maps = he_normal(nn.Conv2d(inputs, outputs, kernel, padding="same"))
        self.of_coordinates = he_normal(nn.Conv2d(2, outputs, kernel, padding="same", bias=False))
        self.register_buffer("coordinates", grid_coordinates(*grid).t().reshape(1, 2, *grid), persistent=False)

    def forward(self, maps: Tensor) -> Tensor:
        """Maps (B, inputs, H, W) to maps (B, outputs, H, W)."""
        result: Tensor = (self.of_maps(maps) + self.of_coordinates(self.coordinates)).relu()
        return result


class ModulatedBlock(nn.Module):
    """A residual block with feature-wise linear modulation, figure 3 (right)."""

    def __init__(self, width: int, grid: tuple[int, int]) -> None:
        super().__init__()
        self.first = Placed(width, width, grid)
        self.second = he_normal(nn.Conv2d(width, width, 3, padding=1, bias=False))
        self.norm = nn.BatchNorm2d(width, affine=False)

    def forward(self, maps: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
        """Maps (B, width, H, W) to the same shape, by gamma and beta (B, width, 1, 1)."""
        entry = self.first(maps)
        changed = self.norm(self.second(entry))
        result: Tensor = entry + ((1 + gamma) * changed + beta).relu()
        return result
