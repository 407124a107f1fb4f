"""The normal likelihood of brightness and chromaticity."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Size, Tensor

from molyneux.core import Modality, SpecError
from molyneux.learn.checks import refuse
from molyneux.learn.likelihoods.correlated import FLOOR, CovarianceHead, moments
from molyneux.learn.likelihoods.likelihood import ViewDistribution, ViewLikelihood, single

__all__ = ["ChromaticNormal", "ChromaticViews", "chromatic", "coloured"]

_DARKEST = 0.5 / 255
"""The brightness below which pixels count as black, half a step of stored images: their chromaticity is that of grey."""

_PLANE = ((2**-0.5, -(2**-0.5), 0.0), (6**-0.5, 6**-0.5, -2 * 6**-0.5))
"""Two directions of colour, orthogonal to grey and to each other."""


def chromatic(image: Tensor) -> Tensor:
    """Brightness and chromaticity of images 0..1, (..., 3, H, W) to (..., 3, H, W).

    The brightness of a pixel is its largest channel. Its chromaticity is all channels over the largest one, seen along grey: two
    numbers, 0 for grey. What is lit or shaded changes the first alone.
    """
    brightness = image.amax(-3, keepdim=True)
    colour = torch.where(brightness < _DARKEST, 1.0, image / brightness.clamp_min(_DARKEST))
    return torch.cat([brightness, torch.einsum("kc,...chw->...khw", image.new_tensor(_PLANE), colour)], -3)


def coloured(numbers: Tensor) -> Tensor:
    """The image 0..1 of brightness and chromaticity, (..., 3, H, W): the inverse of `chromatic`, but for black pixels."""
    colour = torch.einsum("kc,...khw->...chw", numbers.new_tensor(_PLANE), numbers[..., 1:, :, :])
    colour = colour + 1 - colour.amax(-3, keepdim=True)
    return (colour * numbers[..., :1, :, :]).clamp(0, 1)


class ChromaticViews(ViewDistribution):
    """Images with normal brightness and chromaticity around `loc`, all pixels independent.

    Args:
        loc: brightness and chromaticity (..., B, 3, H, W).
        factor: (3, 3) lower triangular factor of their covariance, in which brightness is apart.
        batch_shape: (..., B).
        weight: of the brightness in `log_prob` once the covariance was fitted.
        report: called with the detached covariance that was fitted; given where it is to be fitted.
    """

    def __init__(
        self, loc: Tensor, factor: Tensor, batch_shape: Size, *, weight: float, report: Callable[[Tensor], None] | None = None
    ) -> None:
        self.loc, self.factor, self.weight, self.report = loc, factor, weight, report
        self.weighted = False
        super().__init__(batch_shape, loc.shape[len(batch_shape) :])

    @property
    def mean(self) -> Tensor:
        """The image of mean brightness and chromaticity, (..., B, 3, H, W)."""
        return coloured(self.loc)

    @property
    def mode(self) -> Tensor:
        """The same as `mean`."""
        return self.mean

    def log_prob(self, value: Tensor) -> Tensor:
        """Nats of images (B, 3, H, W), (..., B).

        A density of images, unless the covariance was fitted to them: then brightness counts by its weight, as in training.
        """
        with torch.autocast(self.loc.device.type, enabled=False):
            residuals = (chromatic(value) - self.loc).flatten(-2)
            squared = torch.linalg.solve_triangular(self.factor, residuals, upper=False).square()
        constants = self.factor.diagonal().log() + 0.5 * math.log(2 * math.pi)
        if self.weighted:
            nats = -0.5 * squared.sum(-1) - self.event_shape[1:].numel() * constants
            counted: Tensor = self.weight * nats[..., 0] + nats[..., 1:].sum(-1)
            return counted
        each = -0.5 * squared - constants.unsqueeze(-1)
        light = value.amax(-3).flatten(-2)
        dark = light < _DARKEST
        # The map from a pixel to these numbers has the volume 1 / (sqrt(3) brightness^2). Of black pixels, whose chromaticity is
        # not known, the density is that of the brightness over a surface of the cube they lie in, 3 brightness^2 at most.
        volume = torch.where(dark, math.log(3) + 2 * math.log(_DARKEST), 0.5 * math.log(3) + 2 * light.clamp_min(_DARKEST).log())
        density: Tensor = (each[..., 0, :] + each[..., 1:, :].sum(-2).masked_fill(dark, 0) - volume).sum(-1)
        return density

    def fitted(self, value: Tensor, weight: Tensor) -> ChromaticViews:
        """With the variance of brightness and the covariance of chromaticity of highest likelihood, if they are to be fitted.

        The gradient runs through them too (Rybkin et al., Simple and Effective VAE Training with Calibrated Decoders, ICML 2021).
        """
        if self.report is None:
            return self
        with torch.autocast(self.loc.device.type, enabled=False):
            residuals = (chromatic(value) - self.loc).flatten(-2)
            apart = residuals.new_tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
            covariance = moments(residuals, weight) * apart + FLOOR * torch.eye(3, device=self.loc.device)
            factor = torch.linalg.cholesky(covariance)
        self.report(covariance.detach())
        found = ChromaticViews(self.loc, factor, self.batch_shape, weight=self.weight)
        found.weighted = True
        return found

    def _draw(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        noise = torch.randn(shape, generator=generator, device=self.loc.device)
        return coloured(self.loc + (self.factor @ noise.flatten(-2)).reshape(shape))


class ChromaticHead(CovarianceHead):
    """Brightness and chromaticity of each pixel, and the covariance of both."""

    def __init__(self, weight: float) -> None:
        super().__init__(3)
        self.weight = weight

    def forward(self, raw: Tensor, batch_shape: Size) -> ChromaticViews:
        """See `Head`."""
        factor, report = self.current()
        return ChromaticViews(single(raw, batch_shape), factor, batch_shape, weight=self.weight, report=report)


@dataclass(frozen=True)
class ChromaticNormal(ViewLikelihood):
    """Normal likelihood of the brightness and the chromaticity of images in colour, the best one of each training batch.

    Texture, light and shade change the brightness of a thing and not its chromaticity (channels over the largest one), which so
    shows its outline. Brightness has one variance and chromaticity one covariance, each the best for a batch (see
    `CorrelatedNormal`). Neighbouring pixels of a texture are not independent, as this likelihood takes them to be, so that it
    pays for a code of every texture; `weight` below 1 corrects this in training: 1/16 counts 4 x 4 pixels as one. In evaluation
    the log-likelihood is a density of images, with a weight of 1: losses of training and validation are not comparable.
    Pixels below half a step of stored images (1/510) count as black. Their chromaticity is that of grey in training; their
    density is that of the brightness alone, and within that cube of colours it integrates to at most what the brightness has
    there.

    Args:
        weight: of the log-likelihood of the brightness in training.
    """

    weight: float = 1 / 16

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        refuse([] if 0 < self.weight <= 1 else [f"weight: expected a number above 0, at most 1, got {self.weight}"])

    def check(self, modality: Modality) -> None:
        """Raise SpecError for images without three channels too."""
        super().check(modality)
        if modality.shape[0] != 3:
            raise SpecError(
                f"ChromaticNormal describes images of 3 channels, but {modality.name} has {modality.shape[0]}: use another one"
            )

    def head(self, modality: Modality) -> ChromaticHead:
        """See `ViewLikelihood`."""
        self.check(modality)
        return ChromaticHead(self.weight)
