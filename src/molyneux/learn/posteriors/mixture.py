"""Mixtures of diagonal distributions, with a component chosen for each sample."""

from __future__ import annotations

import torch
from torch import Tensor

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
