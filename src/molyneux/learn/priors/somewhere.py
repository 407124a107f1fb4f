"""Codes that are observed for some samples of a batch only."""

from __future__ import annotations

import torch
from torch import Tensor

from molyneux.core import CodeDistribution, ConditionalCode


class Somewhere:
    """One distribution where a modality is present, the prior given the shared code elsewhere. Satisfies `ConditionalCode`.

    Args:
        present: (B,) bool.
        observed: distribution of codes (B, P), used where present.
        prior: of those that are absent.
    """

    def __init__(self, present: Tensor, observed: CodeDistribution, prior: CodeDistribution | ConditionalCode) -> None:
        self.present, self.observed, self.prior = present, observed, prior

    def given(self, shared: Tensor) -> CodeDistribution:
        """The distribution given shared codes (..., B, D)."""
        prior = self.prior.given(shared) if isinstance(self.prior, ConditionalCode) else self.prior
        return Rows(self.present, self.observed, prior, tuple(shared.shape[:-2]))


class Rows:
    """Codes (B, D), sample by sample of one of two distributions. Satisfies `core.CodeDistribution`.

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
