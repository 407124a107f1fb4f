"""Mixtures over codes, and distributions that differ from sample to sample of a batch."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from molyneux.core import CodeDistribution, ConditionalCode
from molyneux.learn.posteriors.diagonal import Diagonal


def draw_component(
    weights: Tensor, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None
) -> Tensor:
    """Numbers of components drawn for each sample with probabilities proportional to `weights`, (*sample_shape, B).

    Args:
        weights: (S, B), non-negative; a component of weight 0 is not drawn, unless a sample has no other.
        sample_shape: how many draws for each sample.
        generator: the randomness.
    """
    count, size = weights.shape
    uniform = torch.rand((*sample_shape, size), generator=generator, device=weights.device)
    steps = weights.cumsum(0)
    bounds = steps.reshape(count, *[1] * len(sample_shape), size)
    return (bounds <= uniform * steps[-1]).sum(0).clamp_max(count - 1)


class Mixture:
    """A mixture over codes (B, D). Satisfies `core.CodeDistribution`.

    Args:
        components: S stacked distributions, loc (S, B, D).
        weights: (S, B), non-negative, with sum 1 over S for each sample; a component of weight 0 is never drawn.
    """

    def __init__(self, components: Diagonal, weights: Tensor) -> None:
        self.components, self.weights = components, weights

    @property
    def mean(self) -> Tensor:
        """The mean, (B, D)."""
        return (self.weights.unsqueeze(-1) * self.components.mean).sum(0)

    @property
    def stddev(self) -> Tensor:
        """The standard deviation of each dimension, (B, D)."""
        spread = self.components.variance + (self.components.mean - self.mean).square()
        return (self.weights.unsqueeze(-1) * spread).sum(0).sqrt()

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Samples, (*sample_shape, B, D): a component is drawn for each, then reparameterised noise.

        The gradient reaches the parameters of the components drawn; it says nothing about the weights.
        """
        choice = draw_component(self.weights, sample_shape, generator)
        return self.components[choice, torch.arange(self.weights.shape[1], device=choice.device)].rsample((), generator)

    def stratified(self, k: int = 1, generator: torch.Generator | None = None) -> Tensor:
        """`k` reparameterised samples of every component, (k, S, B, D); weigh them with `weights`."""
        return self.components.rsample((k,), generator)

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density of the whole mixture in nats, (*leading, B, D) -> (*leading, B)."""
        each = self.components.log_prob(value.unsqueeze(-3)) + self.weights.log()
        return each.logsumexp(-2)

    def kl_bound(self) -> Tensor:
        """Upper bound on the divergence to the prior, (B,) nats: the weighted mean of the components' divergences.

        It holds because the divergence is convex in its first argument; Sutter et al. (Generalized Multimodal ELBO, ICLR 2021)
        train with it.
        """
        return (self.weights * self.components.kl()).sum(0)


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


class WhereDistribution:
    """One of two distributions over codes (B, D), chosen for each sample as by `torch.where`. Satisfies `core.CodeDistribution`.

    Args:
        choice: (B,) bool.
        first: distribution of the samples chosen.
        second: of the others, (*leading, B, D).
        leading: axes of the second that the first lacks.
    """

    def __init__(self, choice: Tensor, first: CodeDistribution, second: CodeDistribution, leading: tuple[int, ...] = ()) -> None:
        self.choice, self.first, self.second, self.leading = choice, first, second, leading

    @property
    def mean(self) -> Tensor:
        """The mean, (*leading, B, D)."""
        return torch.where(self.choice.unsqueeze(-1), self.first.mean, self.second.mean)

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Samples, (*sample_shape, *leading, B, D)."""
        first = self.first.rsample((*sample_shape, *self.leading), generator)
        return torch.where(self.choice.unsqueeze(-1), first, self.second.rsample(sample_shape, generator))

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats, (..., B, D) -> (..., B)."""
        return torch.where(self.choice, self.first.log_prob(value), self.second.log_prob(value))


class WhereConditional:
    """`WhereDistribution` whose second distribution may depend on the shared code. Satisfies `core.ConditionalCode`.

    Args:
        choice: (B,) bool, such as where a modality is present.
        first: distribution of the codes (B, P) of the samples chosen.
        second: of the others, such as a prior.
    """

    def __init__(self, choice: Tensor, first: CodeDistribution, second: CodeDistribution | ConditionalCode) -> None:
        self.choice, self.first, self.second = choice, first, second

    def given(self, shared: Tensor) -> CodeDistribution:
        """The distribution given shared codes (..., B, D)."""
        second = self.second.given(shared) if isinstance(self.second, ConditionalCode) else self.second
        return WhereDistribution(self.choice, self.first, second, tuple(shared.shape[:-2]))
