"""A net without weights: the code of an image is its pixels, on a grid of patches."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Modality, SpecError
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.nets.images import Centre, RawImage
from molyneux.learn.encoders.nets.net import Decoder, Net, NetEncoder, Reshape
from molyneux.learn.likelihoods import Laplace, Normal, ViewLikelihood
from molyneux.learn.posteriors.diagonal import raw_log_variances

_STEP = 2 / 255
"""Standard deviation of a number of a code where a model draws codes: a step of stored images, which go from -1 to 1."""


@dataclass(frozen=True)
class PixelGrid(Net):
    """The pixels of an image as its code, from -1 to 1, with all numbers of a patch in a cell of a grid; nothing is learned.

    For a diffusion model of images themselves (`MLD` with `diffusion: {tokens: {}}`): Li & He, Back to Basics: Let Denoising
    Generative Models Denoise (arXiv 2511.13720, 2025). The code of an image of 64 x 64 pixels in 3 channels has 12,288 numbers.
    Images whose sides are no multiple of a patch are padded with black. The likelihood is normal, or Laplace's.

    Args:
        patch: side of a patch in pixels.
        scale: standard deviation of the likelihood for which none is named.
    """

    patch: int = 8
    scale: float = 0.05

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        refuse([*too_small(self, "patch"), *([] if self.scale > 0 else [f"scale: expected a number above 0, got {self.scale}"])])

    def likelihood(self, modality: Modality) -> ViewLikelihood:
        """See `Net`."""
        self.check(modality)
        return Normal(self.scale)

    def code_grid(self, modality: Modality) -> tuple[int, int]:
        """See `Net`."""
        self.check(modality)
        _, height, width = modality.shape
        return -(-height // self.patch), -(-width // self.patch)

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        rows, columns = self.code_grid(modality)
        size = self._size(modality)
        self._require(modality, size if outputs == 2 * size else outputs)
        image = Centre(rows * self.patch, columns * self.patch)
        return NetEncoder(modality, image, nn.PixelUnshuffle(self.patch), nn.Flatten(), _Known(outputs - size))

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self._require(modality, inputs)
        depth, height, width = modality.shape
        cells = Reshape(depth * self.patch**2, *self.code_grid(modality))
        return nn.Sequential(cells, nn.PixelShuffle(self.patch), _Shades(), RawImage(parameters, depth, height, width))

    def decoder(self, modality: Modality, inputs: int, likelihood: ViewLikelihood) -> nn.Module:
        """See `Net`."""
        if not isinstance(likelihood, Normal | Laplace):
            got = type(likelihood).__name__
            raise SpecError(f"PixelGrid gives {modality.name} as it is: expected the likelihood Normal or Laplace, got {got}")
        return Decoder(self.body(modality, inputs, likelihood.parameters(modality)), likelihood.head(modality))

    def _size(self, modality: Modality) -> int:
        """How many numbers a code has."""
        rows, columns = self.code_grid(modality)
        return int(modality.shape[0]) * rows * columns * self.patch**2

    def _require(self, modality: Modality, size: int) -> None:
        if size != (expected := self._size(modality)):
            raise SpecError(f"PixelGrid gives {modality.name} its pixels as a code: expected {expected} dimensions, got {size}")


class _Known(nn.Module):
    """Adds the same log-variances to all codes, where a model asks for them."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.raw, self.count = float(raw_log_variances([_STEP])[0]), count

    def forward(self, codes: Tensor) -> Tensor:
        """Codes (B, D) with `count` more numbers."""
        return functional.pad(codes, (0, self.count), value=self.raw)


class _Shades(nn.Module):
    """Images -1..1 to 0..1."""

    def forward(self, image: Tensor) -> Tensor:
        """Images of any shape."""
        return torch.add(0.5, image, alpha=0.5)
