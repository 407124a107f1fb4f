"""CoDE-VAE: subsets of experts whose errors are correlated, with learned weights of the subsets."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, Unpack

import torch
from torch import Tensor, nn

from molyneux.core import Batch, Loss, Progress, Spec, choice_problems
from molyneux.learn.checks import levels_below_zero
from molyneux.learn.posteriors import MOST_ENUMERATED, Diagonal, DiagonalNormal, consensus_of_experts, subsets_of
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors
from molyneux.learn.vaes.subsets import drawn_members

_MOST_OF_ALL = 5
"""Modalities up to which the bounds of all subsets are computed by default: 31, each of which decodes all modalities."""

_DRAWN = (
    f"CoDEVAE, subsets: auto: of more than {_MOST_OF_ALL} modalities each sample draws one subset, which counts for all; "
    "subsets: all takes the bounds of all subsets, as the paper, and many times as long"
)


class CoDEVAE(MultimodalVAE):
    """Mancisidor, Jenssen, Yu & Kampffmeyer, Aggregation of Dependent Expert Distributions in Multimodal VAEs (ICML 2025).

    The posterior given a subset S of the modalities is the consensus of its experts, whose errors are correlated
    (`consensus_of_experts`). The bound is `sum_S pi_S (E_{q(z|X_S)} sum_m log p(x_m|z) - KL(q(z|X_S) || p(z)))` over all
    non-empty subsets, each of which reconstructs all modalities, with learned weights pi of sum 1, and their entropy is added
    `entropy` times, so that no subset is left untrained. The posterior given some modalities is their consensus.

    Follows the authors' code, whose values are the defaults (correlation 0.5, entropy 1000). Deviations: one correlation for all
    pairs of experts; the entropy counts as its distance from the largest possible, log(2^M - 1), which changes no gradient.

    Where modalities are missing, subsets with an absent member are left out, and the weights of the others divided by their sum.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        correlation: of the errors of any two experts, in [0, 1); with 0, subsets are products of experts.
        entropy: weight of the entropy of the subsets' weights.
        subsets: "all" as the paper (of more than 8 modalities: 255 drawn at every step, which count for all), or "drawn": one
            subset for each sample, which counts for all. The cost of a step then does not grow with 2^M: of 10 modalities it
            takes a sixteenth of the time. "auto" is "all" of up to 5 modalities and "drawn" of more, which `fit` tells.
    """

    most_modalities: ClassVar[int | None] = 12
    members: Tensor
    logits: Tensor

    def __init__(
        self,
        spec: Spec,
        *,
        correlation: float = 0.5,
        entropy: float = 1000.0,
        subsets: Literal["auto", "all", "drawn"] = "auto",
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        problems = (
            [] if 0 <= correlation < 1 else [f"correlation: expected a number of at least 0 and below 1, got {correlation}"]
        )
        problems += levels_below_zero(entropy=entropy) + choice_problems(subsets=(subsets, ("auto", "all", "drawn")))
        with reporting(problems):
            super().__init__(spec, **shared)
        self.correlation, self.entropy = correlation, entropy
        count = len(spec.modalities)
        chosen: Literal["all", "drawn"] = "drawn" if count > _MOST_OF_ALL else "all"
        self.subsets = chosen if subsets == "auto" else subsets
        self.training_notes: tuple[str, ...] = (_DRAWN,) if subsets == "auto" and chosen == "drawn" else ()
        numbers = torch.arange(1, 2**count)
        self.register_buffer("members", (numbers.unsqueeze(-1) >> torch.arange(count) & 1).bool(), persistent=False)
        if count > 1:
            self.logits = nn.Parameter(torch.zeros(len(numbers)))
        else:
            self.register_buffer("logits", torch.zeros(1))

    def joint(self, experts: Diagonal, present: Tensor) -> DiagonalNormal:
        """The consensus of the present experts."""
        return consensus_of_experts(experts, present, self.correlation)

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """See `MultimodalVAE`; `entropy_gap` is the distance of the entropy of the subsets' weights from the largest."""
        found = super().loss(batch, progress, generator)
        observed = torch.stack([batch.mask(name) for name in self.spec.names]).any(0).float().mean()
        log_share = self.logits.log_softmax(0)
        gap = (math.log(len(log_share)) + (log_share.exp() * log_share).sum()) * observed.to(log_share)
        return Loss(found.total + self.entropy * gap, {**found.terms, "entropy_gap": gap.detach()})

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The consensus of each subset, or of one for each sample; see `MultimodalVAE`."""
        experts, present, correlation = observation.experts, observation.present, self.correlation
        count, size = present.shape
        if self.subsets == "drawn":
            kept = present & drawn_members(count, size, generator).to(present.device)
            weight = self._drawn_shares(present, self._powers(kept).sum(0, keepdim=True), 1)
            return StackedPosteriors(self.joint(experts, kept)[None], weight)
        members = subsets_of(count, generator).to(present.device)
        powers = self._powers(members.T)
        if count <= MOST_ENUMERATED:
            weight = self.shares(present)[powers.sum(0).long() - 1]
        else:
            weight = self._drawn_shares(present, torch.tensordot(powers.T, present.float(), 1), len(members))
        return StackedPosteriors(consensus_of_experts(experts, present, correlation, members=members), weight)

    def shares(self, present: Tensor) -> Tensor:
        """Weights of all subsets, which have sum 1 over those that are present (M, B), or 0 where none is: (2^M - 1, B).

        Subset i has the members that are the bits of i + 1.
        """
        absent = torch.tensordot(self.members.float(), (~present).float(), 1) > 0
        none = absent.all(0)
        scores = self.logits.unsqueeze(-1).masked_fill(absent & ~none, -torch.inf)
        shares: Tensor = scores.softmax(0) * ~none
        return shares

    def _drawn_shares(self, present: Tensor, numbers: Tensor, draws: int) -> Tensor:
        """What subsets count, (S, B), of which `draws` were drawn uniformly, to have the mean over all as their expectation.

        Args:
            present: (M, B) bool.
            numbers: of what is present of the subsets drawn, i + 1 for subset i, 0 where nothing is; (S, B). Each subset of n
                present modalities has the probability `2^(M - n) / (2^M - 1)`.
            draws: S.
        """
        count = len(present)
        shares = self.shares(present).gather(0, numbers.long().sub(1).clamp_min(0)) * (numbers > 0)
        found: Tensor = shares * (2**count - 1) / (2.0 ** (count - present.sum(0)) * draws)
        return found

    @staticmethod
    def _powers(members: Tensor) -> Tensor:
        """2^m for the members (M, ...) of subsets, 0 for the others."""
        powers = 2.0 ** torch.arange(len(members), device=members.device)
        return members * powers.reshape(-1, *[1] * (members.dim() - 1))
