"""Objectives that penalise the total correlation of codes: beta-TCVAE (by minibatch) and FactorVAE (by a discriminator)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from molyneux.core import ConfigError, Loss, TrainingError, choice_problems
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.objectives.bounds import Objective, Sampled
from molyneux.learn.objectives.penalties import Penalty, frozen
from molyneux.learn.objectives.weights import Weight, weight_at, weight_problems
from molyneux.learn.posteriors import Diagonal, DiagonalNormal


@dataclass(frozen=True)
class BetaTCVAE(Objective):
    """beta-TCVAE: Chen et al., Isolating Sources of Disentanglement in Variational Autoencoders (NeurIPS 2018), equation 4.

    `alpha I(z; x) + beta KL(q(z) || prod_j q(z_j)) + gamma sum_j KL(q(z_j) || p(z_j))`: mutual information, total correlation and
    divergence of each dimension, whose sum is the divergence from the prior. The aggregated posterior q(z), and each q(z_j), is
    estimated from the batch: "weighted" as section 4.1 (minibatch-weighted sampling), "stratified" as appendix C.2, which is
    without bias in q(z). Without `samples`, the batch is taken for the whole data set.

    Deviations: the sum of the three is taken in closed form and only what the weights add to it is estimated, as in
    disentanglement_lib, so with weights of 1 there is no noise: the same in expectation. Without `samples`, its total correlation
    and ours differ by the constant (D - 1) ln B, which it leaves out. In the stratified weights a sample's own posterior counts
    1/N, as the appendix says, and not that of the first sample, as in the authors' code.

    The published weights of minibatch-weighted sampling, 1/(N B), add up to 1/N and not to 1, which adds constants to the parts
    (see `_reported`). The loss has them, as published; what is reported as `information`, `total_correlation` and `dimensions`
    has weights of 1/B, so the information is at most ln B.

    Args:
        beta: weight of the total correlation.
        alpha: weight of the mutual information.
        gamma: weight of the divergences of the dimensions.
        samples: N, the size of the data set.
        estimator: "weighted" or "stratified".
    """

    beta: Weight = 6.0
    alpha: Weight = 1.0
    gamma: Weight = 1.0
    samples: int | None = None
    estimator: Literal["weighted", "stratified"] = "weighted"

    def __post_init__(self) -> None:
        problems = weight_problems(beta=self.beta, alpha=self.alpha, gamma=self.gamma)
        if self.samples is not None and self.samples < 1:
            problems.append(f"samples: expected at least 1 or nothing, got {self.samples}")
        problems += choice_problems(estimator=(self.estimator, ("weighted", "stratified")))
        if self.estimator == "stratified" and self.samples is None:
            problems.append("samples: is missing: stratified weights need the size of the data set")
        refuse(problems)

    def build(self, latent_dim: int) -> Penalty[BetaTCVAE]:
        """See `Objective`."""
        return _Decomposition(self)


class DivergenceParts(NamedTuple):
    """The three parts of the divergence, nats."""

    information: Tensor
    total_correlation: Tensor
    dimensions: Tensor


def decompose(posterior: Diagonal, codes: Tensor, log_weights: Tensor) -> DivergenceParts:
    """The parts of the divergence of a batch; see `aggregated`. Raises ConfigError if the posteriors are not normal."""
    if not isinstance(posterior, DiagonalNormal):
        raise ConfigError(
            f"the total correlation is estimated of normal posteriors, got {type(posterior).__name__}: choose normal ones"
        )
    joint, product = aggregated(posterior, codes, log_weights)
    own = posterior.log_prob(codes).mean()
    prior = DiagonalNormal.standard(tuple(codes.shape), codes).log_prob(codes).mean()
    return DivergenceParts(own - joint, joint - product, product - prior)


def stratified_weights(size: int, samples: int) -> Tensor:
    """What posterior j counts for sample i in a batch of `size` from `samples`, (size, size); rows have the sum 1.

    With M = size - 1 and N samples: 1/N for i itself, (N - M) / (N M) for one other, 1/M for the rest.
    """
    others = size - 1
    weights = torch.full((size, size), 1 / others).fill_diagonal_(1 / samples)
    at = torch.arange(size)
    weights[at, (at + 1) % size] = (samples - others) / (samples * others)
    return weights


class _Decomposition(Penalty[BetaTCVAE]):
    @property
    def whole_batch(self) -> str:
        """See `Criterion`."""
        return "the total correlation of codes"

    def __init__(self, settings: BetaTCVAE) -> None:
        super().__init__(settings)
        self.fewest = 2 if settings.estimator == "stratified" else 1

    def cost(self, sampled: Sampled, rate: Tensor) -> Loss:
        """See `Penalty`."""
        settings = self.settings
        parts = decompose(sampled.posterior, sampled.codes, self._log_weights(sampled.codes))
        weights = (weight_at(weight, sampled.progress) for weight in (settings.alpha, settings.beta, settings.gamma))
        added = [(weight - 1) * part for weight, part in zip(weights, parts, strict=True) if weight != 1]
        total = torch.stack([rate.sum(-1).mean(), *added]).sum()
        reported = self._reported(parts, sampled.codes.shape[-1])
        return Loss(total, {name: part.detach() for name, part in reported._asdict().items()})

    def _reported(self, parts: DivergenceParts, dimensions: int) -> DivergenceParts:
        """The parts with weights that add up to 1: without the constants that 1/(N B) brings into them."""
        settings = self.settings
        if settings.samples is None or settings.estimator == "stratified":
            return parts
        excess = math.log(settings.samples)
        return DivergenceParts(
            parts.information - excess,
            parts.total_correlation - (dimensions - 1) * excess,
            parts.dimensions + dimensions * excess,
        )

    def _log_weights(self, codes: Tensor) -> Tensor:
        size, samples = len(codes), self.settings.samples
        if samples is None:
            return codes.new_tensor(-math.log(size))
        if size > samples:
            raise TrainingError(f"samples: expected the size of the data set, got {samples} for a batch of {size}: correct it")
        if self.settings.estimator == "weighted":
            return codes.new_tensor(-math.log(size * samples))
        return stratified_weights(size, samples).log().to(codes)


def aggregated(posterior: DiagonalNormal, codes: Tensor, log_weights: Tensor) -> tuple[Tensor, Tensor]:
    """Means over the batch of log-densities of codes under the aggregated posterior of their batch, nats.

    Args:
        posterior: loc (B, D).
        codes: (B, D).
        log_weights: logarithms of what posterior j counts for code i, broadcastable to (B, B); no gradient reaches them.

    Returns:
        That of whole codes, `log sum_j w_ij q(z_i | x_j)`, and the sum of those of their dimensions, each alone,
        `sum_d log sum_j w_ij q(z_id | x_j)`.
    """
    joint, product = _MeanLogDensities.apply(codes, posterior.loc, posterior.log_variance, log_weights)  # type: ignore[no-untyped-call]
    return joint, product


class _MeanLogDensities(torch.autograd.Function):
    """All pairs, one dimension after the other, so that they stay in near memory; a quarter of the time of one formula.

    The derivative of a log of a sum is the mean of those of its parts with their shares of the sum, which are what is kept.
    """

    @staticmethod
    def forward(ctx: Any, codes: Tensor, loc: Tensor, log_variance: Tensor, log_weights: Tensor) -> tuple[Tensor, Tensor]:
        z, centre, spread = (item.detach().T.contiguous() for item in (codes, loc, log_variance))
        dimensions, size = z.shape
        half, offset = 0.5 * (-spread).exp(), -0.5 * (spread + math.log(2 * math.pi))
        together = log_weights.to(z).expand(size, size).clone()
        shares, product = z.new_empty(dimensions, size, size), z.new_zeros(())
        for d in range(dimensions):
            each = torch.sub(z[d].unsqueeze(1), centre[d], out=shares[d])
            each.square_().mul_(-half[d]).add_(offset[d])
            together += each
            each += log_weights
            total = each.logsumexp(1, keepdim=True)
            product += total.mean()
            each.sub_(total).exp_()
        total = together.logsumexp(1, keepdim=True)
        ctx.save_for_backward(z, centre, half, shares, together.sub_(total).exp_())
        return total.mean(), product

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        z, centre, half, shares, share = ctx.saved_tensors
        of_joint, of_product = (gradient / z.shape[1] for gradient in gradients)
        by_codes, by_loc, by_log_variance = torch.empty_like(z), torch.empty_like(z), torch.empty_like(z)
        for d in range(len(z)):
            weight = (share * of_joint).add_(shares[d] * of_product)
            difference = z[d].unsqueeze(1) - centre[d]
            by_log_variance[d] = -0.5 * weight.sum(0)
            weight.mul_(difference)
            by_codes[d], by_loc[d] = -2 * (weight @ half[d]), 2 * half[d] * weight.sum(0)
            by_log_variance[d] += half[d] * weight.mul_(difference).sum(0)
        return by_codes.T, by_loc.T, by_log_variance.T, None


@dataclass(frozen=True)
class FactorVAE(Objective):
    """FactorVAE: Kim & Mnih, Disentangling by Factorising (ICML 2018), equation 2.

    `KL + gamma TC`, where the total correlation of the codes is the mean log-odds that a discriminator gives them of being codes
    and not codes whose dimensions were permuted across the batch, each by itself (algorithm 1). The discriminator learns to tell
    the two apart in the same step: it is a constant in the cost of the codes, and the codes are constants in its own loss, so
    both get the gradients that two optimisers would compute.

    Deviations: one optimiser with one learning rate for both, where the paper gives the discriminator its own (1e-4, betas 0.5
    and 0.9); clipping is by the norm of all gradients together. One batch serves both, as in disentanglement_lib. One log-odds
    in place of two logits. In evaluation the discriminator's loss is reported and counts nothing.

    Args:
        gamma: weight of the total correlation.
        width: units of each hidden layer of the discriminator.
        layers: its hidden layers, with leaky ReLU (0.2).
    """

    gamma: Weight = 10.0
    width: int = 1000
    layers: int = 6

    def __post_init__(self) -> None:
        refuse(weight_problems(gamma=self.gamma) + too_small(self, "width", "layers"))

    def build(self, latent_dim: int) -> Penalty[FactorVAE]:
        """See `Objective`."""
        return _Discriminated(self, latent_dim)


def permute_dimensions(codes: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Codes (B, D) with every dimension permuted across the batch by itself."""
    order = torch.rand(codes.shape, generator=generator, device=codes.device).argsort(0)
    return codes.gather(0, order)


class _Discriminated(Penalty[FactorVAE]):
    @property
    def whole_batch(self) -> str:
        """See `Criterion`."""
        return "the total correlation of codes"

    fewest = 2

    def __init__(self, settings: FactorVAE, latent_dim: int) -> None:
        super().__init__(settings)
        sizes = [latent_dim, *[settings.width] * settings.layers]
        hidden = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.LeakyReLU(0.2))]
        self.discriminator = nn.Sequential(*hidden, nn.Linear(settings.width, 1))

    def cost(self, sampled: Sampled, rate: Tensor) -> Loss:
        """See `Penalty`."""
        with frozen(self.discriminator):
            total_correlation = self._log_odds(sampled.codes).mean()
        codes = sampled.codes.detach()
        real, permuted = self._log_odds(codes), self._log_odds(permute_dimensions(codes, sampled.generator))
        own = 0.5 * (softplus(-real).mean() + softplus(permuted).mean())
        total = rate.sum(-1).mean() + weight_at(self.settings.gamma, sampled.progress) * total_correlation
        terms = {"total_correlation": total_correlation.detach(), "discriminator": own.detach()}
        return Loss(total + own if self.training else total, terms)

    def _log_odds(self, codes: Tensor) -> Tensor:
        odds: Tensor = self.discriminator(codes).squeeze(-1)
        return odds
