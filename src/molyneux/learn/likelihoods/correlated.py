"""The normal likelihood of images whose channels are correlated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Size, Tensor

from molyneux.core import Modality
from molyneux.learn.likelihoods.likelihood import LikelihoodHead, LocatedViews, ViewLikelihood, single

__all__ = ["CorrelatedNormal", "CorrelatedViews"]

FLOOR = 1e-6
"""Smallest variance of a direction of the fit, in units of squared values."""


def moments(residuals: Tensor, weight: Tensor) -> Tensor:
    """Mean product of each two channels, (C, C), of residuals (..., B, C, pixels), by weights that broadcast to (..., B)."""
    weight = weight.expand(residuals.shape[:-2])
    total = (weight.sum() * residuals.shape[-1]).clamp_min(torch.finfo(residuals.dtype).tiny)
    return (residuals @ residuals.mT * weight[..., None, None]).flatten(0, -3).sum(0) / total


class CorrelatedViews(LocatedViews):
    """Images around `loc` (..., B, C, H, W) whose pixels are independent and have one covariance of channels.

    Args:
        loc: the means.
        factor: (C, C) lower triangular factor of the covariance.
        batch_shape: (..., B).
        report: called with the detached covariance that was fitted; given where it is to be fitted.
    """

    def __init__(self, loc: Tensor, factor: Tensor, batch_shape: Size, *, report: Callable[[Tensor], None] | None = None) -> None:
        self.loc, self.factor, self.report = loc, factor, report
        super().__init__(batch_shape, loc.shape[len(batch_shape) :])

    @property
    def stddev(self) -> Tensor:
        """Standard deviations of the channels, (C, 1, 1)."""
        return self.factor.square().sum(1).sqrt()[:, None, None]

    def log_prob(self, value: Tensor) -> Tensor:
        """Nats of images (B, C, H, W), (..., B)."""
        channels, pixels = len(self.factor), self.event_shape[1:].numel()
        with torch.autocast(self.loc.device.type, enabled=False):
            whitened: Tensor = torch.linalg.solve_triangular(self.factor, self._residuals(value), upper=False)
        volume = self.factor.diagonal().log().sum() + 0.5 * channels * math.log(2 * math.pi)
        squared: Tensor = whitened.square().sum((-1, -2))
        return -0.5 * squared - pixels * volume

    def fitted(self, value: Tensor, weight: Tensor) -> CorrelatedViews:
        """With the covariance of highest likelihood for these images, if it is to be fitted; otherwise itself.

        The gradient runs through the covariance too: it is that of `H W / 2 log det S`, as that of Rybkin et al. (ICML 2021) is
        that of `D log s`.
        """
        if self.report is None:
            return self
        with torch.autocast(self.loc.device.type, enabled=False):
            residuals = self._residuals(value)
            covariance = moments(residuals, weight) + FLOOR * torch.eye(len(self.factor), device=self.loc.device)
            factor = torch.linalg.cholesky(covariance)
        self.report(covariance.detach())
        return CorrelatedViews(self.loc, factor, self.batch_shape)

    def _residuals(self, value: Tensor) -> Tensor:
        """Differences from the means, (..., B, C, H W)."""
        return (value - self.loc).flatten(-2)

    def _draw(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        noise = torch.randn(shape, generator=generator, device=self.loc.device)
        return self.loc + (self.factor @ noise.flatten(-2)).reshape(shape)


class CovarianceHead(LikelihoodHead):
    """A head with one covariance of channels for all pixels, the running mean of those fitted to batches in training."""

    covariance: Tensor
    optimal = True

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.register_buffer("covariance", torch.eye(channels))

    def current(self) -> tuple[Tensor, Callable[[Tensor], None] | None]:
        """The lower triangular factor of the covariance, and in training what is called with one that was fitted."""
        return torch.linalg.cholesky(self.covariance.float()), self._remember if self.training else None

    def _remember(self, covariance: Tensor) -> None:
        self.covariance.lerp_(covariance, 0.05)


class CorrelatedHead(CovarianceHead):
    """One location for each value, and the covariance of channels."""

    def forward(self, raw: Tensor, batch_shape: Size) -> CorrelatedViews:
        """See `LikelihoodHead`."""
        factor, report = self.current()
        return CorrelatedViews(single(raw, batch_shape), factor, batch_shape, report=report)


@dataclass(frozen=True)
class CorrelatedNormal(ViewLikelihood):
    """Normal likelihood of images with one covariance of the channels for all pixels, the best one of each training batch.

    `Normal("optimal")` with as many scales as there are directions of colour (Rybkin et al., Simple and Effective VAE Training
    with Calibrated Decoders, ICML 2021, have one). What errors have in common, such as grey texture that no code can hold, gets a
    large variance and counts little; errors in other directions count much. In evaluation the running mean of the covariance of
    the batches is used.
    """

    kinds = frozenset({"image"})

    def head(self, modality: Modality) -> CorrelatedHead:
        """See `ViewLikelihood`."""
        self.check(modality)
        return CorrelatedHead(modality.shape[0])
