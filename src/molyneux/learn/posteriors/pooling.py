"""Other ways than product and mixture to pool normal experts into one posterior: weighted, dependent, by Hellinger distance.

Shapes and presence masks are those of `combinations`: experts (M, B, D), `present` (M, B); where every expert is absent, the
result is the prior.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from molyneux.core import ConfigError
from molyneux.learn.posteriors.combinations import MixturePosterior
from molyneux.learn.posteriors.diagonal import Diagonal, DiagonalNormal


def weighted_product(experts: Diagonal, present: Tensor, weights: Tensor, *, members: Tensor | None = None) -> DiagonalNormal:
    """The product of experts raised to powers that have sum 1 over the experts that are present, in each dimension.

    Cao & Fleet, Generalized Product of Experts for Automatic and Principled Fusion of Gaussian Process Predictions (2014):
    precisions are averaged by weight, so the product is never more certain than its most certain expert.

    Args:
        experts: loc (M, B, D); raises ConfigError for another family, whose products have no closed form.
        present: (M, B) bool.
        weights: (M, D), above 0; divided by their sum over the experts that are present.
        members: (S, M) bool, subsets of the experts; None is the product of all.

    Returns:
        The product, loc (B, D); or one for each subset, (S, B, D), of those of its members that are present.
    """
    known = _normal(experts).where(present)
    share = weights.unsqueeze(1) * present.unsqueeze(-1)
    precision = share * (-known.log_variance).exp()
    sums = [_summed(item, members) for item in (precision, precision * known.loc, share)]
    total, loc, whole = sums
    alone = (whole == 0).to(total)
    return DiagonalNormal(loc / (total + alone), (whole + alone).log() - (total + alone).log())


def consensus_of_experts(
    experts: Diagonal, present: Tensor, correlation: float, *, members: Tensor | None = None
) -> DiagonalNormal:
    """The consensus of dependent experts (Winkler, Combining Probability Distributions from Dependent Sources, 1981).

    In each dimension the errors of experts with standard deviations s_i are normal with covariances `C_ij = correlation s_i s_j`
    for i other than j. With a flat prior, the posterior has the variance `1 / (1' C^-1 1)` and the mean `1' C^-1 m / (1' C^-1 1)`
    of the experts' means m. With correlation 0 it is the product of experts without prior. Since all correlations are equal, C is
    inverted in closed form (Sherman & Morrison), so that subsets are matrix products.

    Args:
        experts: loc (M, B, D); raises ConfigError for another family.
        present: (M, B) bool.
        correlation: of the errors of any two experts, in [0, 1).
        members: (S, M) bool, subsets of the experts; None is the consensus of all.

    Returns:
        The consensus, loc (B, D); or one for each subset, (S, B, D), of those of its members that are present.
    """
    known = _normal(experts).where(present)
    inverse = (-0.5 * known.log_variance).exp() * present.unsqueeze(-1)
    parts = (inverse.square(), inverse, inverse.square() * known.loc, inverse * known.loc)
    squares, singles, weighted_squares, weighted = (_summed(item, members) for item in parts)
    count = _summed(present.to(inverse), members).unsqueeze(-1)
    common = correlation / (1 + (count - 1) * correlation)
    total = squares - common * singles.square()
    loc = (weighted_squares - common * singles * weighted) / (total + (count == 0).to(total))
    return DiagonalNormal(loc, -((total / (1 - correlation)) + (count == 0).to(total)).log())


def hellinger_pool(experts: Diagonal, present: Tensor) -> MixturePosterior:
    """The pool `q(z) ~ (sum_m sqrt(q(z|x_m)))^2` of the experts that are present.

    Of all densities, it has the least sum of squared Hellinger distances to the experts. It is Hoelder pooling with exponent 1/2
    (Vo & Valera, Hellinger Multimodal Variational Autoencoders, AISTATS 2026), exactly: the square root of the product of two
    normal densities is a normal density, with the mean of their natural parameters, times their Bhattacharyya coefficient. So the
    pool is a mixture of M (M + 1) / 2 normals: each expert, with weight 1, and each pair, with twice its coefficient.

    Args:
        experts: loc (M, B, D); raises ConfigError for another family.
        present: (M, B) bool.

    Returns:
        The mixture, components (M (M + 1) / 2, B, D), with weights that gradients reach.
    """
    known = _normal(experts).where(present)
    first, second = torch.triu_indices(len(present), len(present), device=present.device)
    one, two = known[first], known[second]
    precisions = [(-item.log_variance).exp() for item in (one, two)]
    total = precisions[0] + precisions[1]
    loc = (precisions[0] * one.loc + precisions[1] * two.loc) / total
    log_variance = math.log(2) - total.log()
    between = (one.loc - two.loc).square() / (one.variance + two.variance)
    overlap = (0.5 * log_variance - 0.25 * (one.log_variance + two.log_variance) - 0.25 * between).sum(-1)
    double = torch.where(first == second, 0.0, math.log(2)).unsqueeze(-1)
    valid = present[first] & present[second]
    scores = (overlap + double).masked_fill(~(valid | ~valid.any(0)), -torch.inf)
    log_weights = scores.log_softmax(0)
    return MixturePosterior(DiagonalNormal(loc, log_variance), log_weights.exp(), log_weights)


def moment_matched(mixture: MixturePosterior) -> DiagonalNormal:
    """The normal distribution with the mean and the variances of a mixture, loc (B, D)."""
    mean, weights, parts = mixture.mean, mixture.weights.unsqueeze(-1), mixture.components
    variance = (weights * (parts.variance + (parts.mean - mean).square())).sum(0)
    return DiagonalNormal(mean, variance.log())


def _normal(experts: Diagonal) -> DiagonalNormal:
    if not isinstance(experts, DiagonalNormal):
        raise ConfigError(f"only normal experts are pooled in closed form, got {type(experts).__name__}: choose normal ones")
    return experts


def _summed(each: Tensor, members: Tensor | None) -> Tensor:
    """Sums over the experts, (M, ...) -> (...), or over those of each subset, (S, ...)."""
    return each.sum(0) if members is None else torch.tensordot(members.to(each), each, 1)
