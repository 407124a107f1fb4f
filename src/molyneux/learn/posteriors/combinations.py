"""Distributions that combine others: mixtures, and joint posteriors from the experts of several modalities.

Experts are stacked: loc and log-variance (M, B, D), with a presence mask (M, B). What an absent expert holds is never read, and
where every expert is absent the result is the prior.
"""

from __future__ import annotations

import math
from itertools import combinations

import torch
from torch import Tensor

from molyneux.core import CodeDistribution, ConditionalCode, ConfigError
from molyneux.learn.posteriors.diagonal import Diagonal, DiagonalNormal

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

    Without a generator, the same are drawn at every call.
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
        experts: loc (M, B, D); raises ConfigError for another family, whose products have no closed form.
        present: (M, B) bool.
        prior_expert: whether the prior N(0, 1) is one more factor of the product.
        members: (S, M) bool, subsets of the experts; None is the product of all.

    Returns:
        The product, loc (B, D); or one for each subset, (S, B, D), of those of its members that are present.
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


def mixture_of_experts(experts: Diagonal, present: Tensor) -> MixturePosterior:
    """The mixture of the present experts with equal weights (Shi et al., NeurIPS 2019, the MoE joint variational posterior)."""
    return MixturePosterior(experts.where(present), _equal_weights(present))


def mixture_of_products(
    experts: Diagonal, present: Tensor, *, prior_expert: bool = False, generator: torch.Generator | None = None
) -> MixturePosterior:
    """The mixture of the products of all non-empty subsets of the present experts (Sutter et al., ICLR 2021, MoPoE).

    Of more than 8 experts, the subsets that `subsets_of` draws stand for all: the mean over them of any function of a product
    has the right expectation, and time and memory do not grow with 2^M.

    Returns:
        A mixture of S components with equal weights. The weight is 0 for a subset with an absent member, where all subsets are
        taken, which are in the order of `all_subsets`; and for a subset without present member, where subsets are drawn.
    """
    members = subsets_of(len(present), generator).to(present.device)
    products = product_of_experts(experts, present, prior_expert=prior_expert, members=members)
    absent = torch.tensordot(members.float(), (~present).float(), 1)
    valid = absent == 0 if len(present) <= MOST_ENUMERATED else absent < members.sum(1, keepdim=True)
    return MixturePosterior(products, _equal_weights(valid))


def _equal_weights(valid: Tensor) -> Tensor:
    """Weights (S, B) that are equal over the valid components, or over all where none is valid (those are all the prior)."""
    valid = (valid | ~valid.any(0)).float()
    return valid / valid.sum(0)


def draw_component(
    weights: Tensor, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None
) -> Tensor:
    """Numbers of components drawn for each sample with probabilities proportional to `weights`, (*sample_shape, B).

    Weights (S, B) are not negative; a component of weight 0 is not drawn, unless a sample has no other.
    """
    count, size = weights.shape
    uniform = torch.rand((*sample_shape, size), generator=generator, device=weights.device)
    steps = weights.cumsum(0)
    bounds = steps.reshape(count, *[1] * len(sample_shape), size)
    return (bounds <= uniform * steps[-1]).sum(0).clamp_max(count - 1)


class MixturePosterior:
    """A mixture over codes (B, D). Satisfies `core.CodeDistribution`.

    Args:
        components: S stacked distributions, loc (S, B, D).
        weights: (S, B), with sum 1 over S for each sample.
        log_weights: their logarithms, where a gradient is to reach weights that may be 0.
    """

    def __init__(self, components: Diagonal, weights: Tensor, log_weights: Tensor | None = None) -> None:
        self.components, self.weights = components, weights
        self.log_weights = weights.log() if log_weights is None else log_weights

    def detach(self) -> MixturePosterior:
        """The same distribution with parameters that are constants."""
        return MixturePosterior(self.components.detach(), self.weights.detach(), self.log_weights.detach())

    @property
    def mean(self) -> Tensor:
        """The mean, (B, D)."""
        return (self.weights.unsqueeze(-1) * self.components.mean).sum(0)

    @property
    def stddev(self) -> Tensor:
        """The standard deviation of each dimension, (B, D)."""
        spread = self.components.variance + (self.components.mean - self.mean).square()
        return (self.weights.unsqueeze(-1) * spread).sum(0).sqrt()

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Samples, (*sample_shape, B, D): a component is drawn for each, then reparameterised noise.

        The gradient reaches the parameters of the components drawn, not the weights.
        """
        choice = draw_component(self.weights, sample_shape, generator)
        return self.components[choice, torch.arange(self.weights.shape[1], device=choice.device)].rsample((), generator)

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density of the whole mixture in nats, (*leading, B, D) -> (*leading, B)."""
        each = self.components.log_prob(value.unsqueeze(-3)) + self.log_weights
        return each.logsumexp(-2)

    def kl_bound(self) -> Tensor:
        """Upper bound by convexity on the divergence to the prior, (B,) nats: the weighted mean of those of the components."""
        return (self.weights * self.components.kl()).sum(0)


class NormalMixture:
    """A mixture over codes (..., B, D) whose covariances are common to all samples. Satisfies `core.CodeDistribution`.

    Args:
        log_weights: of the C components, (..., B, C); their exponentials have sum 1.
        means: (..., B, C, D).
        scale: (C, D, D) lower triangular factors of the covariances, with a positive diagonal.
    """

    def __init__(self, log_weights: Tensor, means: Tensor, scale: Tensor) -> None:
        self.log_weights, self.means, self.scale = log_weights, means, scale

    @property
    def mean(self) -> Tensor:
        """The mean, (..., B, D)."""
        return (self.log_weights.exp().unsqueeze(-1) * self.means).sum(-2)

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Samples, (*sample_shape, ..., B, D). The gradient reaches what the drawn components are made of, not the weights."""
        components, dimensions = self.means.shape[-2:]
        weights, means = self.log_weights.exp().reshape(-1, components), self.means.reshape(-1, components, dimensions)
        choice = draw_component(weights.T, tuple(sample_shape), generator)
        noise = torch.randn((*choice.shape, dimensions), generator=generator, device=means.device, dtype=means.dtype)
        rows = torch.arange(len(means), device=means.device)
        drawn = means[rows, choice] + torch.einsum("...ij,...j->...i", self.scale[choice], noise)
        return drawn.reshape(*sample_shape, *self.means.shape[:-2], dimensions)

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats, (*leading, ..., B, D) -> (*leading, ..., B)."""
        whitened = whiten(value.unsqueeze(-2) - self.means, self.scale)
        return (self.log_weights + standard_log_density(whitened, self.scale)).logsumexp(-1)


def whiten(difference: Tensor, scale: Tensor) -> Tensor:
    """Differences (..., C, D) from means, in units of the covariances with factors `scale` (C, D, D)."""
    flat = difference.reshape(-1, *difference.shape[-2:]).permute(1, 2, 0)
    solved: Tensor = torch.linalg.solve_triangular(scale, flat, upper=False)
    return solved.permute(2, 0, 1).reshape(difference.shape)


def standard_log_density(whitened: Tensor, scale: Tensor) -> Tensor:
    """Log-density in nats (..., C) of whitened differences (..., C, D)."""
    volume = scale.diagonal(dim1=-2, dim2=-1).log().sum(-1) + 0.5 * whitened.shape[-1] * math.log(2 * math.pi)
    density: Tensor = -0.5 * whitened.square().sum(-1) - volume
    return density


class WhereDistribution:
    """One of two distributions over codes (B, D), chosen for each sample as by `torch.where`. Satisfies `core.CodeDistribution`.

    Args:
        choice: (B,) bool.
        first: distribution of the samples chosen.
        second: of the others, (*leading, B, D).
        leading: axes of the second that the first lacks.
    """

    def __init__(self, choice: Tensor, first: CodeDistribution, second: CodeDistribution, leading: tuple[int, ...] = ()) -> None:
        self.choice, self.first, self.second, self.leading = choice, first, second, leading

    @property
    def mean(self) -> Tensor:
        """The mean, (*leading, B, D)."""
        return torch.where(self.choice.unsqueeze(-1), self.first.mean, self.second.mean)

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Samples, (*sample_shape, *leading, B, D)."""
        first = self.first.rsample((*sample_shape, *self.leading), generator)
        return torch.where(self.choice.unsqueeze(-1), first, self.second.rsample(sample_shape, generator))

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats, (..., B, D) -> (..., B)."""
        return torch.where(self.choice, self.first.log_prob(value), self.second.log_prob(value))


class WhereConditional:
    """`WhereDistribution` whose second distribution may depend on the shared code. Satisfies `core.ConditionalCode`."""

    def __init__(self, choice: Tensor, first: CodeDistribution, second: CodeDistribution | ConditionalCode) -> None:
        self.choice, self.first, self.second = choice, first, second

    def given(self, shared: Tensor) -> CodeDistribution:
        """The distribution given shared codes (..., B, D)."""
        second = self.second.given(shared) if isinstance(self.second, ConditionalCode) else self.second
        return WhereDistribution(self.choice, self.first, second, tuple(shared.shape[:-2]))
