"""Codes whose covariance is the prior's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from molyneux.core import ConfigError, Loss
from molyneux.learn.objectives.objective import Objective, Penalty, Sampled
from molyneux.learn.objectives.weight import Weight, weight_at, weight_problems


@dataclass(frozen=True)
class CovarianceMatch(Objective):
    """DIP-VAE: Kumar et al., Variational Inference of Disentangled Latent Concepts from Unlabeled Observations (ICLR 2018).

    `beta KL + off_diagonal sum_{i != j} C_ij^2 + diagonal sum_i (C_ii - 1)^2`, equations 6 and 7, where C is over the batch: for
    kind "I" the covariance of the posterior means, for kind "II" that of the codes, which is larger by the mean posterior
    variance (law of total covariance). C is divided by N, as in disentanglement_lib.

    disentanglement_lib calls `off_diagonal` `lambda_od` (its study: 1, 2, 5, 10, 20, 50) and gives `diagonal` as a multiple of
    it, `lambda_d_factor`: 10 for kind I and 1 for kind II, which is what is taken where `diagonal` is left out.

    Args:
        kind: "I" or "II".
        off_diagonal: weight of the covariances.
        diagonal: weight of the distances of the variances from 1; by default 10 (I) or 1 (II) times `off_diagonal`.
        beta: weight of the divergence.
    """

    kind: Literal["I", "II"] = "I"
    off_diagonal: Weight = 10.0
    diagonal: Weight | None = None
    beta: Weight = 1.0

    def __post_init__(self) -> None:
        problems = weight_problems(off_diagonal=self.off_diagonal, beta=self.beta)
        problems += [] if self.diagonal is None else weight_problems(diagonal=self.diagonal)
        if self.kind not in ("I", "II"):
            problems.append(f'kind: expected "I" or "II", got {self.kind!r}')
        if problems:
            raise ConfigError(problems)

    def build(self, latent_dim: int) -> Penalty:
        """See `Objective`."""
        return _Covariance(self)


class _Covariance(Penalty):
    fewest = 2

    def __init__(self, settings: CovarianceMatch) -> None:
        super().__init__()
        self.settings = settings

    def cost(self, sampled: Sampled, rate: Tensor) -> Loss:
        """See `Penalty`."""
        settings, posterior = self.settings, sampled.posterior
        centred = posterior.mean - posterior.mean.mean(0)
        covariance = centred.T @ centred / len(centred)
        variances = covariance.diagonal()
        off_diagonal = (covariance - variances.diag()).square().sum()
        if settings.kind == "II":
            variances = variances + posterior.variance.mean(0)
        diagonal = (variances - 1).square().sum()
        beta, first = (weight_at(weight, sampled.progress) for weight in (settings.beta, settings.off_diagonal))
        factor = 10.0 if settings.kind == "I" else 1.0
        second = factor * first if settings.diagonal is None else weight_at(settings.diagonal, sampled.progress)
        total = beta * rate.sum(-1).mean() + first * off_diagonal + second * diagonal
        return Loss(total, {"off_diagonal": off_diagonal.detach(), "diagonal": diagonal.detach()})
