"""Codes that are known: what a deterministic encoder gives."""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor

from molyneux.core import NotApplicableError
from molyneux.learn.posteriors.diagonal import Diagonal


class Point(Diagonal):
    """All mass on one code. Every sample is that code, and it has no density and no divergence from a prior.

    Args:
        loc: the codes, (..., B, D).
    """

    standard_log_variance = -torch.inf

    def __init__(self, loc: Tensor, log_variance: Tensor | None = None) -> None:
        super().__init__(loc, loc.new_tensor(-torch.inf) if log_variance is None else log_variance)

    def where(self, keep: Tensor) -> Self:
        """The same codes where `keep` (..., B) holds, 0 elsewhere, where there is no code."""
        return type(self)(torch.where(keep.unsqueeze(-1), self.loc, 0.0))

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """The code again and again, (*sample_shape, ..., B, D)."""
        return self.loc.expand(*sample_shape, *self.loc.shape)

    def log_prob_per_dimension(self, value: Tensor) -> Tensor:
        """Raises NotApplicableError: a point has no density."""
        raise NotApplicableError("the codes of a deterministic encoder have no density: use a VAE")

    def kl_per_dimension(self) -> Tensor:
        """Raises NotApplicableError: the divergence of a point from any density is infinite."""
        raise NotApplicableError("the codes of a deterministic encoder have no divergence from a prior: use a VAE")

    def _noise(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        raise NotApplicableError("the codes of a deterministic encoder have no noise")
