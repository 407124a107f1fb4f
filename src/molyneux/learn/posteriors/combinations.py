"""Joint posteriors from the experts of several modalities: products, mixtures, and mixtures of products.

Experts are stacked: loc and log-variance (M, B, D), with a presence mask (M, B). What an absent expert holds is never read, and
where every expert is absent the result is the prior.
"""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

from molyneux.core import ConfigError
from molyneux.learn.posteriors.diagonal import Diagonal, DiagonalNormal
from molyneux.learn.posteriors.mixtures import Mixture

MOST_ENUMERATED = 8
"""Experts up to which all subsets are taken; of more, some are drawn."""

MOST_SUBSETS = 2**MOST_ENUMERATED - 1
"""Subsets that are taken at once at most."""


def all_subsets(count: int) -> Tensor:
    """Every non-empty subset of `count` experts as rows of membership, (2^count - 1, count) bool, smallest first.

    >>> all_subsets(2).int().tolist()
    [[1, 0], [0, 1], [1, 1]]
    """
    chosen = [set(subset) for size in range(1, count + 1) for subset in combinations(range(count), size)]
    return torch.tensor([[member in subset for member in range(count)] for subset in chosen], dtype=torch.bool).reshape(-1, count)


def subsets_of(count: int, generator: torch.Generator | None = None) -> Tensor:
    """All non-empty subsets of up to 8 experts; of more, `MOST_SUBSETS` drawn uniformly; (S, count) bool, on the CPU.

    Args:
        count: number of experts.
        generator: the randomness of subsets that are drawn; without one, the same are drawn at every call.
    """
    if count <= MOST_ENUMERATED:
        return all_subsets(count)
    generator = torch.Generator().manual_seed(count) if generator is None else generator
    members = (torch.rand((MOST_SUBSETS, count), generator=generator, device=generator.device) < 0.5).cpu()
    members[:, 0] |= ~members.any(1)  # the empty subset, one draw in 2^count, becomes the first expert alone
    return members


def sampled_subsets(count: int, number: int, generator: torch.Generator | None = None) -> Tensor:
    """Each expert alone, all together, and `number` others drawn, (S, count) bool, on the CPU.

    Those drawn have 2 to `count - 1` members: the size is uniform, and the members are uniform given the size. There are none of
    fewer than three experts.
    """
    device = "cpu" if generator is None else generator.device
    rows = [torch.eye(count, dtype=torch.bool), torch.ones(min(1, count - 1), count, dtype=torch.bool)]
    for _ in range(number if count > 2 else 0):
        size = torch.randint(2, count, (), generator=generator, device=device)
        order = torch.randperm(count, generator=generator, device=device)
        rows.append((order < size).unsqueeze(0).cpu())
    return torch.cat(rows)


def product_of_experts(
    experts: Diagonal, present: Tensor, *, prior_expert: bool, members: Tensor | None = None
) -> DiagonalNormal:
    """The renormalised product of normal experts (Wu & Goodman, NeurIPS 2018, product-of-experts inference network).

    Precisions add up, and locations are averaged by precision: for subsets of experts, two matrix products.

    Args:
        experts: loc (M, B, D).
        present: (M, B) bool.
        prior_expert: whether the prior N(0, 1) is one more factor of the product.
        members: (S, M) bool, subsets of the experts; None is the product of all.

    Returns:
        The product, loc (B, D); or one for each subset, (S, B, D), of those of its members that are present.

    Raises:
        ConfigError: the experts are of another family, whose products have no closed form.
    """
    if not isinstance(experts, DiagonalNormal):
        raise ConfigError(f"only normal experts have a product in closed form, got {type(experts).__name__}: choose normal ones")
    known = experts.where(present)
    precision = (-known.log_variance).exp() * present.unsqueeze(-1)
    weighted, count = precision * known.loc, present.to(precision)
    if members is None:
        total, loc, voices = precision.sum(0), weighted.sum(0), count.sum(0)
    else:
        rows = members.to(precision)
        total, loc, voices = (torch.tensordot(rows, item, 1) for item in (precision, weighted, count))
    total = total + (1.0 if prior_expert else (voices == 0).to(total).unsqueeze(-1))
    return DiagonalNormal(loc / total, -total.log())


def mixture_of_experts(experts: Diagonal, present: Tensor) -> Mixture:
    """The mixture of the present experts with equal weights (Shi et al., NeurIPS 2019, the MoE joint variational posterior).

    Args:
        experts: loc (M, B, D), M at least 1.
        present: (M, B) bool.
    """
    return Mixture(experts.where(present), _equal_weights(present))


def mixture_of_products(
    experts: Diagonal, present: Tensor, *, prior_expert: bool = False, generator: torch.Generator | None = None
) -> Mixture:
    """The mixture of the products of all non-empty subsets of the present experts (Sutter et al., ICLR 2021, MoPoE).

    Of more than 8 experts, `MOST_SUBSETS` subsets drawn uniformly stand for all: the mean over them of any function of a product
    has the right expectation, and time and memory do not grow with 2^M.

    Args:
        experts: loc (M, B, D), M at least 1.
        present: (M, B) bool.
        prior_expert: whether each product has the prior as one more factor.
        generator: the randomness of subsets that are drawn; without one, the same are drawn at every call.

    Returns:
        A mixture of S components with equal weights. The weight is 0 for a subset with an absent member, where all subsets are
        taken, which are in the order of `all_subsets`; and for a subset without present member, where subsets are drawn.
    """
    members = subsets_of(len(present), generator).to(present.device)
    products = product_of_experts(experts, present, prior_expert=prior_expert, members=members)
    absent = torch.tensordot(members.float(), (~present).float(), 1)
    valid = absent == 0 if len(present) <= MOST_ENUMERATED else absent < members.sum(1, keepdim=True)
    return Mixture(products, _equal_weights(valid))


def _equal_weights(valid: Tensor) -> Tensor:
    """Weights (S, B) that are equal over the valid components, or over all where none is valid (those are all the prior)."""
    valid = (valid | ~valid.any(0)).float()
    return valid / valid.sum(0)
