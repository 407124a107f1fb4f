"""The contract of an objective: what a model of one modality minimises beside the distortion of its views."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from molyneux.core import CodeDistribution, Loss, Progress
from molyneux.learn.posteriors import Diagonal, DiagonalNormal


@dataclass(frozen=True)
class Sampled:
    """What was sampled of a batch: of its N present samples, since what is absent enters no statistic.

    Args:
        posterior: the posteriors, loc (N, D).
        codes: one sample of each, (N, D).
        progress: where training stands.
        generator: the randomness of whatever else is drawn.
    """

    posterior: Diagonal
    codes: Tensor
    progress: Progress
    generator: torch.Generator | None = None


class Objective(ABC):
    """Settings of a penalty; a frozen dataclass, checked at construction."""

    @abstractmethod
    def build(self, latent_dim: int) -> Penalty:
        """The penalty on codes of so many dimensions."""


class Penalty(nn.Module, ABC):
    """What codes cost, in nats per sample, as the mean over the samples it is given.

    Its terms are reported under their names, and always `rate.shared`: the divergence of the posterior from the prior, whatever
    is minimised. What it learns itself, such as a discriminator, is trained by the same optimiser as the model.
    """

    fewest: int = 1
    """Present samples of a batch that its statistics need."""
    own_prior: bool = False
    """Whether the prior is another than N(0, 1)."""

    def forward(self, sampled: Sampled) -> Loss:
        """What the codes cost, and the terms, detached; in full precision, which statistics of a batch need."""
        with torch.autocast(sampled.codes.device.type, enabled=False):
            rate = self.rate(sampled)
            cost = self.cost(sampled, rate)
        return Loss(cost.total, {"rate.shared": rate.sum(-1).mean().detach(), **cost.terms})

    @abstractmethod
    def cost(self, sampled: Sampled, rate: Tensor) -> Loss:
        """What is minimised, and the terms beside the rate, whose parts by dimension are given, (N, D) nats."""

    def rate(self, sampled: Sampled) -> Tensor:
        """Divergence of each dimension's posterior from the prior, (N, D) nats; here in closed form from N(0, 1)."""
        return sampled.posterior.kl_per_dimension()

    def prior(self, size: int, like: Tensor) -> CodeDistribution:
        """The prior over codes of `size` samples with the dimensions of `like` (..., D), on its device."""
        return DiagonalNormal.standard((size, like.shape[-1]), like)
