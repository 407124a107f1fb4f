"""Distributions over codes with independent dimensions: normal and Laplace, by location and log-variance, and a point mass.

Shapes: leading axes, B samples, D dimensions. Experts of M modalities are one such distribution with loc (M, B, D).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

import torch
from torch import Tensor

from molyneux.core import NotApplicableError

LOG_VARIANCE_BOUND = 10.0
"""Log-variances of experts stay in (-10, 10)."""


def expert_parameters(raw: Tensor) -> tuple[Tensor, Tensor]:
    """Location and log-variance of a posterior from the output of an encoder, (..., 2 D) -> two of (..., D), float32.

    The log-variance is bounded softly, `10 tanh(raw / 10)`: the identity near 0, so that the prior (log-variance 0) is easy to
    reach, and never so large or small that a product of experts loses its digits.
    """
    loc, log_variance = raw.float().chunk(2, dim=-1)
    return loc, LOG_VARIANCE_BOUND * torch.tanh(log_variance / LOG_VARIANCE_BOUND)


def raw_log_variances(stddevs: Sequence[float]) -> Tensor:
    """What an encoder gives, (D,), that `expert_parameters` reads as these standard deviations, within exp(-5)..exp(5)."""
    log_variances = 2 * torch.tensor(stddevs, dtype=torch.float64).log()
    return (LOG_VARIANCE_BOUND * (log_variances / LOG_VARIANCE_BOUND).atanh()).float()


class Diagonal(ABC):
    """A distribution over codes (..., B, D) with independent dimensions. Satisfies `core.CodeDistribution`.

    Args:
        loc: location, (..., B, D).
        log_variance: natural logarithm of the variance, broadcastable to `loc`.
    """

    standard_log_variance: ClassVar[float]
    """Log-variance of the family's standard distribution, which is the prior."""

    def __init__(self, loc: Tensor, log_variance: Tensor) -> None:
        self.loc, self.log_variance = loc, log_variance.expand_as(loc)

    @classmethod
    def standard(cls, shape: tuple[int, ...], like: Tensor | None = None) -> Self:
        """The prior: the family's standard distribution with codes of this shape, on the device of `like`."""
        loc = torch.zeros(shape) if like is None else like.new_zeros(shape)
        return cls(loc, torch.full_like(loc, cls.standard_log_variance))

    @property
    def mean(self) -> Tensor:
        """The mean, (..., B, D)."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The variance, (..., B, D)."""
        return self.log_variance.exp()

    @property
    def stddev(self) -> Tensor:
        """The standard deviation, (..., B, D)."""
        return (0.5 * self.log_variance).exp()

    def __getitem__(self, index: int | slice | Tensor | tuple[Tensor, ...] | None) -> Self:
        """The distribution at `index` of the leading axes."""
        return type(self)(self.loc[index], self.log_variance[index])

    def detach(self) -> Self:
        """The same distribution with parameters that are constants."""
        return type(self)(self.loc.detach(), self.log_variance.detach())

    def where(self, keep: Tensor) -> Self:
        """The same distribution where `keep` (..., B) holds, the prior elsewhere; what is not kept may be NaN."""
        chosen = keep.unsqueeze(-1)
        log_variance = torch.where(chosen, self.log_variance, self.standard_log_variance)
        return type(self)(torch.where(chosen, self.loc, 0.0), log_variance)

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Reparameterised samples, (*sample_shape, ..., B, D)."""
        noise = self._noise((*sample_shape, *self.loc.shape), generator)
        return self.loc + self.stddev * noise

    def kl(self) -> Tensor:
        """Kullback-Leibler divergence to the prior in nats, (..., B)."""
        return self.kl_per_dimension().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats, summed over dimensions: (*leading, ..., B, D) -> (*leading, ..., B)."""
        return self.log_prob_per_dimension(value).sum(-1)

    @abstractmethod
    def log_prob_per_dimension(self, value: Tensor) -> Tensor:
        """Log-density of each dimension alone, nats: (*leading, ..., B, D)."""

    @abstractmethod
    def kl_per_dimension(self) -> Tensor:
        """Closed-form divergence to the prior, each dimension alone, (..., B, D) nats."""

    def _noise(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        """Noise of location 0 and variance 1; here normal."""
        return torch.randn(shape, generator=generator, device=self.loc.device, dtype=self.loc.dtype)


class DiagonalNormal(Diagonal):
    """Independent normal dimensions; the prior is N(0, 1)."""

    standard_log_variance = 0.0

    def log_prob_per_dimension(self, value: Tensor) -> Tensor:
        """See `Diagonal.log_prob_per_dimension`."""
        squared = (value - self.loc).square() * (-self.log_variance).exp()
        return -0.5 * (squared + self.log_variance + math.log(2 * math.pi))

    def kl_per_dimension(self) -> Tensor:
        """See `Diagonal`; Kingma & Welling, Auto-Encoding Variational Bayes (2014), appendix B."""
        return 0.5 * (self.loc.square() + torch.expm1(self.log_variance) - self.log_variance)

    def kl_to(self, other: DiagonalNormal) -> Tensor:
        """Kullback-Leibler divergence to another normal distribution in nats, (..., B); leading axes broadcast."""
        ratio = self.log_variance - other.log_variance
        distance = (self.loc - other.loc).square() * (-other.log_variance).exp()
        return 0.5 * (distance + torch.expm1(ratio) - ratio).sum(-1)


class DiagonalLaplace(Diagonal):
    """Independent Laplace dimensions; the prior is Laplace(0, 1), whose variance is 2."""

    standard_log_variance = math.log(2.0)

    @property
    def _log_scale(self) -> Tensor:
        return 0.5 * (self.log_variance - math.log(2.0))

    def log_prob_per_dimension(self, value: Tensor) -> Tensor:
        """See `Diagonal.log_prob_per_dimension`."""
        distance = (value - self.loc).abs() * (-self._log_scale).exp()
        return -(distance + self._log_scale + math.log(2.0))

    def kl_per_dimension(self) -> Tensor:
        """See `Diagonal.kl_per_dimension`: with scale b, `|loc| + b exp(-|loc| / b) - 1 - ln b`."""
        log_scale, distance = self._log_scale, self.loc.abs()
        scale = log_scale.exp()
        return distance + scale * (-distance / scale).exp() - 1.0 - log_scale

    def _noise(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        # The difference of two exponentials is Laplace(0, 1), and no logarithm of 0 can occur.
        draws = torch.empty((2, *shape), device=self.loc.device, dtype=self.loc.dtype).exponential_(generator=generator)
        noise: Tensor = (draws[0] - draws[1]) / math.sqrt(2.0)
        return noise


class Point(Diagonal):
    """A point mass: every sample is the same code. It has no density and no divergence from a prior.

    Args:
        loc: the codes, (..., B, D).
    """

    standard_log_variance = -torch.inf

    def __init__(self, loc: Tensor, log_variance: Tensor | None = None) -> None:
        super().__init__(loc, loc.new_tensor(-torch.inf) if log_variance is None else log_variance)

    def where(self, keep: Tensor) -> Self:
        """The same codes where `keep` (..., B) holds, 0 elsewhere, where there is no code."""
        return type(self)(torch.where(keep.unsqueeze(-1), self.loc, 0.0))

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """The code, repeated: (*sample_shape, ..., B, D)."""
        return self.loc.expand(*sample_shape, *self.loc.shape)

    def log_prob_per_dimension(self, value: Tensor) -> Tensor:
        """Raises NotApplicableError: a point has no density."""
        raise NotApplicableError("the codes of a deterministic encoder have no density: use a VAE")

    def kl_per_dimension(self) -> Tensor:
        """Raises NotApplicableError: the divergence of a point from any density is infinite."""
        raise NotApplicableError("the codes of a deterministic encoder have no divergence from a prior: use a VAE")
