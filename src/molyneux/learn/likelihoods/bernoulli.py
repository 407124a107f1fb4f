"""Bernoulli views: values between 0 and 1, such as the channels of an image."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Size, Tensor
from torch.nn import functional

from molyneux.core import Modality
from molyneux.learn.likelihoods.likelihood import Head, ViewDistribution, ViewLikelihood, single


class BernoulliViews(ViewDistribution):
    """Independent Bernoulli values, by logits (..., B, *event).

    Targets may lie anywhere in 0..1: the log-probability is then the negative cross-entropy, whose optimum is still the
    target, but which is no density over the continuum and does not reach 0.
    """

    def __init__(self, logits: Tensor, batch_shape: Size) -> None:
        self.logits = logits
        super().__init__(batch_shape, logits.shape[len(batch_shape) :])

    @property
    def mean(self) -> Tensor:
        """Probability of a 1, (..., B, *event)."""
        return self.logits.sigmoid()

    @property
    def mode(self) -> Tensor:
        """The more probable of 0 and 1, (..., B, *event)."""
        return (self.logits > 0).to(self.logits)

    def log_prob(self, value: Tensor) -> Tensor:
        """Nats of views (B, *event), summed over the event, (..., B)."""
        # One fused kernel: four times as fast as `value * logits - softplus(logits)` on a CPU.
        target = value.expand_as(self.logits)
        return -self._sum(functional.binary_cross_entropy_with_logits(self.logits, target, reduction="none"))

    def _draw(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        uniform = torch.rand(shape, generator=generator, device=self.logits.device)
        return (uniform < self.mean).to(self.logits)


class BernoulliHead(Head):
    """One logit for each value."""

    def forward(self, raw: Tensor, batch_shape: Size) -> BernoulliViews:
        """See `Head`."""
        return BernoulliViews(single(raw, batch_shape), batch_shape)


@dataclass(frozen=True)
class Bernoulli(ViewLikelihood):
    """Bernoulli likelihood of values between 0 and 1."""

    kinds = frozenset({"image"})

    def head(self, modality: Modality) -> BernoulliHead:
        """See `ViewLikelihood`."""
        self.check(modality)
        return BernoulliHead()
