"""What experts are combined into: products, mixtures, and mixtures of products.

Experts are stacked: loc and log-variance (M, B, D), with a presence mask (M, B). What an absent expert says is never read,
and where every expert is absent the result is the prior.
"""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

from molyneux.core import ConfigError
from molyneux.learn.posteriors.diagonal import Diagonal, DiagonalNormal
from molyneux.learn.posteriors.mixture import Mixture


def all_subsets(count: int) -> Tensor:
    """Every non-empty subset of `count` experts as rows of membership, (2^count - 1, count) bool, smallest first.

    >>> all_subsets(2).int().tolist()
    [[1, 0], [0, 1], [1, 1]]
    """
    chosen = [set(subset) for size in range(1, count + 1) for subset in combinations(range(count), size)]
    return torch.tensor([[member in subset for member in range(count)] for subset in chosen], dtype=torch.bool).reshape(-1, count)


def product_of_experts(experts: Diagonal, present: Tensor, *, prior_expert: bool) -> DiagonalNormal:
    """The product of normal experts, renormalised (Wu & Goodman, NeurIPS 2018, product-of-experts inference network).

    Precisions add up, and locations are averaged by precision. Both are computed from log-precisions with a softmax, so that
    very sharp and very wide experts keep their digits.

    Args:
        experts: loc (M, B, D).
        present: (..., M, B) bool; leading axes, such as subsets of experts, become leading axes of the result.
        prior_expert: whether the prior N(0, 1) is one more factor of the product.

    Returns:
        The product, loc (..., B, D).

    Raises:
        ConfigError: the experts are of another family, whose products have no closed form.
    """
    if not isinstance(experts, DiagonalNormal):
        raise ConfigError(f"only normal experts have a product in closed form, got {type(experts).__name__}: choose normal ones")
    prior = prior_expert | ~present.any(-2, keepdim=True)
    voices = torch.cat([present, prior], dim=-2).unsqueeze(-1)
    nothing = experts.loc.new_zeros((1, *experts.loc.shape[1:]))
    log_precision = torch.cat([-experts.log_variance, nothing]).where(voices, -torch.inf)
    loc = torch.cat([experts.loc, nothing]).where(voices, 0.0)
    joint = (log_precision.softmax(-3) * loc).sum(-3)
    return DiagonalNormal(joint, -log_precision.logsumexp(-3))


def mixture_of_experts(experts: Diagonal, present: Tensor) -> Mixture:
    """The mixture of the present experts with equal weights (Shi et al., NeurIPS 2019, the MoE joint variational posterior).

    Args:
        experts: loc (M, B, D), M at least 1.
        present: (M, B) bool.
    """
    return Mixture(experts.where(present), _equal_weights(present))


def mixture_of_products(experts: Diagonal, present: Tensor, *, prior_expert: bool = False) -> Mixture:
    """The mixture of the products of all non-empty subsets of the present experts (Sutter et al., ICLR 2021, MoPoE).

    Args:
        experts: loc (M, B, D), M at least 1.
        present: (M, B) bool; a subset with an absent member has weight 0.
        prior_expert: whether each product has the prior as one more factor.

    Returns:
        A mixture with 2^M - 1 components, in the order of `all_subsets`.
    """
    members = all_subsets(len(present)).to(present.device).unsqueeze(-1)
    products = product_of_experts(experts, members & present, prior_expert=prior_expert)
    return Mixture(products, _equal_weights((~members | present).all(1)))


def _equal_weights(valid: Tensor) -> Tensor:
    """Weights (S, B) that are equal over the valid components, or over all where none is valid (those are all the prior)."""
    valid = (valid | ~valid.any(0)).float()
    return valid / valid.sum(0)
