"""The divergence from the prior, weighted, and with some of it free."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from molyneux.core import ConfigError, Loss
from molyneux.learn.objectives.objective import Objective, Penalty, Sampled
from molyneux.learn.objectives.warmup import levels_below_zero
from molyneux.learn.objectives.weight import Weight, weight_at, weight_problems


@dataclass(frozen=True)
class Divergence(Objective):
    """The divergence from the prior with weight beta: VAE (beta 1) and beta-VAE, with free bits where wanted.

    Higgins et al., beta-VAE (ICLR 2017), equation 4: `beta KL(q(z|x) || p(z))`. Free bits: Kingma et al., Improved Variational
    Inference with Inverse Autoregressive Flow (NeurIPS 2016), equation 15: `sum_j max(lambda, mean over the batch of KL_j)`, so a
    dimension that tells less than lambda costs as if it told lambda, and nothing presses it to tell even less.

    Deviations: the paper's groups of dimensions are single dimensions here; beta weighs what is above the free bits too.

    Args:
        beta: weight of the divergence.
        free_bits: lambda, nats a dimension; 0 for none.
    """

    beta: Weight = 1.0
    free_bits: float = 0.0

    def __post_init__(self) -> None:
        problems = weight_problems(beta=self.beta) + levels_below_zero(free_bits=self.free_bits)
        if problems:
            raise ConfigError(problems)

    def build(self, latent_dim: int) -> Penalty:
        """See `Objective`."""
        return _WeightedDivergence(self)


class _WeightedDivergence(Penalty):
    def __init__(self, settings: Divergence) -> None:
        super().__init__()
        self.settings = settings

    def cost(self, sampled: Sampled, rate: Tensor) -> Loss:
        """See `Penalty`."""
        beta = weight_at(self.settings.beta, sampled.progress)
        if not self.settings.free_bits:
            return Loss(beta * rate.sum(-1).mean())
        paid = rate.mean(0).clamp_min(self.settings.free_bits).sum()
        return Loss(beta * paid, {"paid": paid.detach()})
