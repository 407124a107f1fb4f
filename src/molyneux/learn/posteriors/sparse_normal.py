"""Spike and slab: codes of which each dimension is almost 0, or says something."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from molyneux.learn.posteriors.diagonal import DiagonalNormal


class SparseNormal:
    """Independent dimensions, each from the spike N(0, spike^2) or from its slab. Satisfies `core.CodeDistribution`.

    Its density is that of the mixture, `w N(0, spike^2) + (1 - w) slab`, with w the probability of the spike.

    Args:
        slab: (..., B, D).
        log_odds: of the spike, log w - log(1 - w), broadcastable to (..., B, D).
        spike: standard deviation of the spike.
    """

    def __init__(self, slab: DiagonalNormal, log_odds: Tensor, spike: float) -> None:
        self.slab, self.log_odds, self.spike = slab, log_odds.expand_as(slab.loc), spike

    @property
    def mean(self) -> Tensor:
        """The mean, (..., B, D)."""
        return torch.sigmoid(-self.log_odds) * self.slab.mean

    @property
    def stddev(self) -> Tensor:
        """The standard deviation of each dimension, (..., B, D)."""
        share = torch.sigmoid(self.log_odds)
        second = share * self.spike**2 + (1 - share) * (self.slab.variance + self.slab.mean.square())
        return (second - self.mean.square()).sqrt()

    def rsample(
        self,
        sample_shape: torch.Size | tuple[int, ...] = (),
        generator: torch.Generator | None = None,
        *,
        temperature: float | None = None,
    ) -> Tensor:
        """Samples, (*sample_shape, ..., B, D): spike or slab is drawn for each dimension, then reparameterised noise.

        Args:
            sample_shape: leading axes.
            generator: the randomness.
            temperature: of the binary concrete relaxation (Maddison et al., ICLR 2017; Jang et al., ICLR 2017) through which the
                gradient reaches the probability of the spike, while the choice itself is hard (straight through). None: no
                gradient reaches it.
        """
        shape = (*sample_shape, *self.slab.loc.shape)
        device, dtype = self.slab.loc.device, self.slab.loc.dtype
        uniform = torch.rand(shape, generator=generator, device=device, dtype=dtype).clamp_(1e-7, 1 - 1e-7)
        noise = torch.randn(shape, generator=generator, device=device, dtype=dtype)
        odds = self.log_odds + uniform.logit()
        choice = (odds > 0).to(noise)
        if temperature is not None:
            soft = torch.sigmoid(odds / temperature)
            choice = choice + soft - soft.detach()
        drawn: Tensor = choice * (self.spike * noise) + (1 - choice) * (self.slab.loc + self.slab.stddev * noise)
        return drawn

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats, summed over dimensions: (*leading, ..., B, D) -> (*leading, ..., B)."""
        return self.log_prob_per_dimension(value).sum(-1)

    def log_prob_per_dimension(self, value: Tensor) -> Tensor:
        """Log-density of each dimension alone, nats: (*leading, ..., B, D)."""
        within = -0.5 * (value / self.spike).square() - math.log(self.spike) - 0.5 * math.log(2 * math.pi)
        of_slab = self.slab.log_prob_per_dimension(value)
        return torch.logaddexp(logsigmoid(self.log_odds) + within, logsigmoid(-self.log_odds) + of_slab)
