"""Codes on several levels, each given those above it, where every level is a product of experts and of its prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from molyneux.learn.posteriors.diagonal import DiagonalNormal, expert_parameters


class Levels(nn.Module):
    """The nets of L levels: of the prior of each given the one above, and of the expert of a modality on each.

    Args:
        count: L.
        size: dimensions of the code of each level.
        features: numbers that describe a modality on each level.
        width: units of the layer that reads the code above.
    """

    def __init__(self, count: int, size: int, *, features: int, width: int) -> None:
        super().__init__()
        self.count, self.size = count, size
        lower = range(count - 1)
        self.down = nn.ModuleList(nn.Sequential(nn.Linear(size, width), nn.ReLU()) for _ in lower)
        self.priors = nn.ModuleList(nn.Linear(width, 2 * size) for _ in lower)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width + features, width), nn.ReLU(), nn.Linear(width, 2 * size)) for _ in lower
        )
        self.top = nn.Linear(features, 2 * size)

    def prior_and_experts(self, level: int, above: Tensor | None, described: Tensor) -> tuple[DiagonalNormal, DiagonalNormal]:
        """The prior of a level (0 the lowest), and the experts on it, (M, ..., B, D).

        Args:
            level: which.
            above: the code of the level above, (..., B, D); None for the highest level.
            described: what describes the modalities on it, (M, ..., B, F).
        """
        if above is None:
            experts = DiagonalNormal(*expert_parameters(self.top(described)))
            return DiagonalNormal.standard(tuple(experts.loc.shape[1:]), experts.loc), experts
        hidden = self.down[level](above)
        prior = DiagonalNormal(*expert_parameters(self.priors[level](hidden)))
        shape = np.broadcast_shapes(tuple(hidden.shape[:-1]), tuple(described.shape[1:-1]))
        both = [item.expand(len(described), *shape, -1) for item in (hidden, described)]
        return prior, DiagonalNormal(*expert_parameters(self.experts[level](torch.cat(both, -1))))


@dataclass(frozen=True)
class HierarchicalNormal:
    """Codes [z_1, ..., z_L] side by side, (..., B, L D), from the lowest level to the highest. Satisfies `core.CodeDistribution`.

    `q(z_L) prod_l q(z_l|z_(l+1))`, and each factor is the product of the prior of its level and of the experts that are kept;
    where none is, all factors are the priors.

    Args:
        levels: the nets.
        described: what describes the modalities on each level, from the lowest: (M, ..., B, F).
        kept: which modalities count, (M, ..., B) bool.
    """

    levels: Levels
    described: Sequence[Tensor]
    kept: Tensor

    @property
    def mean(self) -> Tensor:
        """The mean of the highest level, and of every other given the means above it, which are not quite its mean."""
        codes: list[Tensor] = []
        for level in reversed(range(self.levels.count)):
            codes.insert(0, self._factor(level, codes[0] if codes else None)[0].loc)
        return torch.cat(codes, -1)

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Reparameterised samples, (*sample_shape, ..., B, L D)."""
        return self.draw(sample_shape, generator)[0]

    def draw(self, sample_shape: torch.Size | tuple[int, ...], generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        """Samples, and for each the sum over levels of the divergences from the priors, (*sample_shape, ..., B) nats."""
        codes: list[Tensor] = []
        rates: list[Tensor] = []
        for level in reversed(range(self.levels.count)):
            factor, prior = self._factor(level, codes[0] if codes else None)
            codes.insert(0, factor.rsample(sample_shape if len(codes) == 0 else (), generator))
            rates.append(factor.kl_to(prior).expand(codes[0].shape[:-1]))
        return torch.cat(codes, -1), torch.stack(rates).sum(0)

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats, (*leading, ..., B, L D) -> (*leading, ..., B)."""
        codes = torch.split(value, self.levels.size, -1)
        parts = [self._factor(level, above)[0].log_prob(codes[level]) for level, above in enumerate([*codes[1:], None])]
        return torch.stack(parts).sum(0)

    def _factor(self, level: int, above: Tensor | None) -> tuple[DiagonalNormal, DiagonalNormal]:
        """The distribution of the code of a level given the one above, and its prior."""
        described, kept = self.described[level], self.kept
        extra = 0 if above is None else above.dim() - (described.dim() - 1)
        if extra > 0:
            described = described.reshape(len(described), *[1] * extra, *described.shape[1:])
            kept = kept.reshape(len(kept), *[1] * extra, *kept.shape[1:])
        prior, experts = self.levels.prior_and_experts(level, above, described)
        precision = (-experts.log_variance).exp() * kept.unsqueeze(-1)
        own = (-prior.log_variance).exp()
        total = own + precision.sum(0)
        loc = (own * prior.loc + (precision * experts.loc).sum(0)) / total
        return DiagonalNormal(loc, -total.log()), prior
