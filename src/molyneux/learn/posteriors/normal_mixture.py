"""Mixtures of normal distributions with full covariances."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from molyneux.learn.posteriors.mixture import draw_component


class NormalMixture:
    """A mixture over codes (..., B, D) whose covariances are common to all samples. Satisfies `core.CodeDistribution`.

    Args:
        log_weights: of the C components, (..., B, C); their exponentials have sum 1.
        means: (..., B, C, D).
        scale: (C, D, D) lower triangular factors of the covariances, with a positive diagonal.
    """

    def __init__(self, log_weights: Tensor, means: Tensor, scale: Tensor) -> None:
        self.log_weights, self.means, self.scale = log_weights, means, scale

    @property
    def mean(self) -> Tensor:
        """The mean, (..., B, D)."""
        return (self.log_weights.exp().unsqueeze(-1) * self.means).sum(-2)

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Samples, (*sample_shape, ..., B, D). The gradient reaches what the drawn components are made of, not the weights."""
        components, dimensions = self.means.shape[-2:]
        weights, means = self.log_weights.exp().reshape(-1, components), self.means.reshape(-1, components, dimensions)
        choice = draw_component(weights.T, tuple(sample_shape), generator)
        noise = torch.randn((*choice.shape, dimensions), generator=generator, device=means.device, dtype=means.dtype)
        rows = torch.arange(len(means), device=means.device)
        drawn = means[rows, choice] + torch.einsum("...ij,...j->...i", self.scale[choice], noise)
        return drawn.reshape(*sample_shape, *self.means.shape[:-2], dimensions)

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats, (*leading, ..., B, D) -> (*leading, ..., B)."""
        whitened = whiten(value.unsqueeze(-2) - self.means, self.scale)
        return (self.log_weights + standard_log_density(whitened, self.scale)).logsumexp(-1)


def whiten(difference: Tensor, scale: Tensor) -> Tensor:
    """Differences (..., C, D) from means, in units of the covariances with factors `scale` (C, D, D)."""
    flat = difference.reshape(-1, *difference.shape[-2:]).permute(1, 2, 0)
    solved: Tensor = torch.linalg.solve_triangular(scale, flat, upper=False)
    return solved.permute(2, 0, 1).reshape(difference.shape)


def standard_log_density(whitened: Tensor, scale: Tensor) -> Tensor:
    """Log-density in nats (..., C) of whitened differences (..., C, D)."""
    volume = scale.diagonal(dim1=-2, dim2=-1).log().sum(-1) + 0.5 * whitened.shape[-1] * math.log(2 * math.pi)
    density: Tensor = -0.5 * whitened.square().sum(-1) - volume
    return density
