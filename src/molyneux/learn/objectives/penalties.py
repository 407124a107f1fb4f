"""Objectives of models of one modality that penalise the codes of a batch: their contract, beta-VAE, CCI-VAE and DIP-VAE."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from molyneux.core import Loss, TrainingError, choice_problems
from molyneux.learn.checks import levels_below_zero, refuse
from molyneux.learn.objectives.bounds import Criterion, Estimates, Objective, S, Sampled
from molyneux.learn.objectives.weights import Weight, weight_at, weight_problems


class Penalty(Criterion[S]):
    """The loss is the distortion plus a cost of the codes, in nats per sample, as the mean over the samples it is given.

    Reported are the terms of the cost and always `rate.shared`, the divergence of the posterior from the prior. Samples in
    which the modality is absent enter no statistic and cost nothing.
    """

    fewest: int = 1
    """Present samples of a batch that its statistics need."""

    def loss(self, estimates: Estimates) -> Loss:
        """See `Criterion`; raises TrainingError if a batch has fewer present samples than the statistics need, in training."""
        sampled, present = estimates.sampled()
        rows = slice(None) if bool(present.all()) else present
        chosen = Sampled(sampled.posterior[rows], sampled.codes[rows], sampled.progress, sampled.generator)
        cost, share = self._cost(chosen), len(chosen.codes) / len(sampled.codes)
        (distortion,), (scale,) = estimates.distortion(sampled.codes).values(), estimates.scales.values()
        mean = distortion.mean()
        terms = {f"distortion.{name}": mean.detach() for name in estimates.scales}
        terms |= {name: share * term for name, term in cost.terms.items()}
        return Loss(scale * mean + share * cost.total, terms)

    def forward(self, sampled: Sampled) -> Loss:
        """The cost of the codes and its terms, detached; in full precision, which statistics of a batch need."""
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

    def _cost(self, sampled: Sampled) -> Loss:
        """The mean cost of the present samples; 0 where they are too few for a statistic, which is an error in training."""
        size = len(sampled.codes)
        if size >= self.fewest:
            cost: Loss = self(sampled)
            return cost
        if self.training and size:
            raise TrainingError(
                f"the objective needs at least {self.fewest} present samples in a batch for its statistics, got {size}: "
                "raise batch_size"
            )
        nothing = sampled.codes.new_zeros(())
        return Loss(nothing, {"rate.shared": self.rate(sampled).sum().detach() / max(1, size)})


@contextmanager
def frozen(module: nn.Module) -> Iterator[None]:
    """Treat the parameters of a module as constants in what is computed within; gradients still pass through to its inputs.

    What a distribution computes after its decoder has returned, as an autoregressive one does, has to be within too.
    """
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    for parameter in parameters:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in parameters:
            parameter.requires_grad_(True)


@dataclass(frozen=True)
class BetaVAE(Objective):
    """The divergence from the prior with weight beta: VAE (beta 1) and beta-VAE, optionally with free bits.

    Higgins et al., beta-VAE (ICLR 2017), equation 4: `beta KL(q(z|x) || p(z))`. Free bits: Kingma et al., Improved Variational
    Inference with Inverse Autoregressive Flow (NeurIPS 2016), equation 15: `sum_j max(lambda, mean over the batch of KL_j)`.

    Deviations: the paper's groups of dimensions are single dimensions here; beta weighs what is above the free bits too.

    Args:
        beta: weight of the divergence.
        free_bits: lambda, nats a dimension; 0 for none.
    """

    beta: Weight = 1.0
    free_bits: float = 0.0

    def __post_init__(self) -> None:
        refuse(weight_problems(beta=self.beta) + levels_below_zero(free_bits=self.free_bits))

    def build(self, latent_dim: int) -> Penalty[BetaVAE]:
        """See `Objective`."""
        return _WeightedDivergence(self)


class _WeightedDivergence(Penalty[BetaVAE]):
    @property
    def whole_batch(self) -> str:
        """See `Criterion`."""
        return "free bits" if self.settings.free_bits else ""

    def cost(self, sampled: Sampled, rate: Tensor) -> Loss:
        """See `Penalty`."""
        beta = weight_at(self.settings.beta, sampled.progress)
        if not self.settings.free_bits:
            return Loss(beta * rate.sum(-1).mean())
        paid = rate.mean(0).clamp_min(self.settings.free_bits).sum()
        return Loss(beta * paid, {"paid": paid.detach()})


@dataclass(frozen=True)
class CCI(Objective):
    """CCI-VAE, the distance of the divergence from a capacity C: Burgess et al., Understanding disentangling in beta-VAE (2018).

    Equation 8; `per` selects what the distance is taken of. "sample": `beta mean_i |KL_i - C|`, of each sample, as in
    "Unsupervised Representation Disentanglement of Text". "batch": `beta |mean_i KL_i - C|`, as the annealed VAE of
    disentanglement_lib, whose name for beta is gamma. The first is never the smaller one.

    Both publications raise C linearly over a number of steps: `capacity: {value: 10, steps: 5000}`; validation uses the final C.

    Args:
        beta: weight of the distance.
        capacity: C in nats.
        per: "sample" or "batch".
    """

    beta: Weight = 1.0
    capacity: Weight = 5.0
    per: Literal["sample", "batch"] = "sample"

    def __post_init__(self) -> None:
        problems = weight_problems(beta=self.beta, capacity=self.capacity)
        refuse(problems + choice_problems(per=(self.per, ("sample", "batch"))))

    def build(self, latent_dim: int) -> Penalty[CCI]:
        """See `Objective`."""
        return _Capacity(self)


class _Capacity(Penalty[CCI]):
    @property
    def whole_batch(self) -> str:
        """See `Criterion`."""
        return "the capacity of the mean divergence" if self.settings.per == "batch" else ""

    def cost(self, sampled: Sampled, rate: Tensor) -> Loss:
        """See `Penalty`."""
        beta, capacity = (weight_at(weight, sampled.progress) for weight in (self.settings.beta, self.settings.capacity))
        each = rate.sum(-1)
        gap = (each - capacity).abs().mean() if self.settings.per == "sample" else (each.mean() - capacity).abs()
        return Loss(beta * gap, {"gap": gap.detach()})


@dataclass(frozen=True)
class DIP(Objective):
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
        refuse(problems + choice_problems(kind=(self.kind, ("I", "II"))))

    def build(self, latent_dim: int) -> Penalty[DIP]:
        """See `Objective`."""
        return _Covariance(self)


class _Covariance(Penalty[DIP]):
    fewest = 2

    @property
    def whole_batch(self) -> str:
        """See `Criterion`."""
        return "covariances of codes"

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
