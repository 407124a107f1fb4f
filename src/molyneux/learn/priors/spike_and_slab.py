"""A prior of codes that are mostly almost 0."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from molyneux.core import ConfigError
from molyneux.learn.posteriors import DiagonalNormal, SparseNormal


@dataclass(frozen=True)
class SpikeAndSlab:
    """Each dimension by itself `weight N(0, spike^2) + (1 - weight) N(0, slab^2)`.

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
        """The prior over codes of this shape, on the device of `like`."""
        loc = torch.zeros(shape) if like is None else like.new_zeros(shape)
        log_odds = loc.new_tensor(math.log(self.weight) - math.log1p(-self.weight))
        return SparseNormal(DiagonalNormal(loc, loc.new_tensor(2 * math.log(self.slab))), log_odds, self.spike)
