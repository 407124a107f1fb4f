"""The contract of a prior over codes, and priors that are known before training."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from molyneux.core import CodeDistribution, ConfigError, Posterior
from molyneux.learn.posteriors import DiagonalNormal, SparseNormal


@dataclass(frozen=True)
class LatentDims:
    """The latent groups of a model: dimensions of the shared code, and of the private code of each modality that has one."""

    shared: int
    private: Mapping[str, int] = field(default_factory=dict)


class Prior(nn.Module, ABC):
    """The distribution of shared and private codes before anything is observed."""

    @abstractmethod
    def of(self, size: int) -> Posterior:
        """The distribution of the codes of `size` samples; private ones may depend on the shared one (`core.ConditionalCode`)."""


class IndependentPrior(Prior):
    """Shared and private codes are independent and have the same kind of distribution.

    Args:
        distribution: gives the distribution of codes of a shape (B, D), on the device and of the type of a tensor, such as
            `DiagonalNormal.standard`, `DiagonalLaplace.standard` or `SpikeAndSlab().of`.
        dims: the latent groups.
    """

    _like: Tensor

    def __init__(self, distribution: Callable[[tuple[int, ...], Tensor], CodeDistribution], dims: LatentDims) -> None:
        super().__init__()
        self.distribution, self.dims = distribution, dims
        self.register_buffer("_like", torch.empty(0), persistent=False)

    def of(self, size: int) -> Posterior:
        """See `Prior`."""
        private = {name: self.distribution((size, dim), self._like) for name, dim in self.dims.private.items()}
        return Posterior(self.distribution((size, self.dims.shared), self._like), private)


@dataclass(frozen=True)
class SpikeAndSlab:
    """A prior of sparse codes: each dimension is independently `weight N(0, spike^2) + (1 - weight) N(0, slab^2)`.

    Mathieu et al., Disentangling Disentanglement in Variational Autoencoders (ICML 2019), section 5.3, with the values of the
    authors' code.

    Args:
        weight: probability of the spike.
        spike: standard deviation of the spike.
        slab: standard deviation of the slab.
    """

    weight: float = 0.8
    spike: float = 0.05
    slab: float = 1.0

    def __post_init__(self) -> None:
        problems = [
            f"{name}: expected a number above 0, got {value}"
            for name, value in (("spike", self.spike), ("slab", self.slab))
            if not 0 < value < math.inf
        ]
        if not 0 < self.weight < 1:
            problems.append(f"weight: expected a probability between 0 and 1, got {self.weight}")
        if problems:
            raise ConfigError(problems)

    def of(self, shape: tuple[int, ...], like: Tensor | None = None) -> SparseNormal:
        """The distribution of codes of this shape, on the device of `like`."""
        loc = torch.zeros(shape) if like is None else like.new_zeros(shape)
        log_odds = loc.new_tensor(math.log(self.weight) - math.log1p(-self.weight))
        return SparseNormal(DiagonalNormal(loc, loc.new_tensor(2 * math.log(self.slab))), log_odds, self.spike)
