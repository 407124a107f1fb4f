"""MVAE: the joint posterior is a product of experts."""

from __future__ import annotations

from typing import Literal, Unpack

import torch
from torch import Tensor

from molyneux.core import Spec, choice_problems
from molyneux.learn.checks import levels_below_zero
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, product_of_experts, sampled_subsets, subsets_of
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation, unknown_names
from molyneux.learn.vaes.stacked import StackedPosteriors


class MVAE(MultimodalVAE):
    """Wu & Goodman, Multimodal Generative Models for Scalable Weakly-Supervised Learning (NeurIPS 2018).

    `q(z|X_S) = p(z) prod_{m in S} q(z|x_m)`, renormalised. The loss is the sum of the negative bounds of several subsets S of the
    modalities (the sub-sampled training paradigm); where some are missing, a subset stands for what is present of it.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        subsets: "sampled" as the paper: all together, each alone, and `random_subsets` others drawn at every step; "all": every
            non-empty subset (of more than 8 modalities: 255 drawn at every step, which count for all); "joint": only the whole.
        random_subsets: how many further subsets "sampled" draws where there are three modalities or more.
        reconstruct: "observed" as the paper: a subset reconstructs its own modalities. "all", as the CdSprites+ toolkit, or
            names: every subset reconstructs these too, which is no longer a bound on the log-likelihood of X_S.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        subsets: Literal["sampled", "all", "joint"] = "sampled",
        random_subsets: int = 1,
        reconstruct: Literal["observed", "all"] | tuple[str, ...] = "observed",
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        always = {"observed": (), "all": spec.names}.get(reconstruct, ()) if isinstance(reconstruct, str) else reconstruct
        problems = choice_problems(subsets=(subsets, ("sampled", "all", "joint"))) + unknown_names(spec, {"reconstruct": always})
        if isinstance(reconstruct, str):
            problems += choice_problems(reconstruct=(reconstruct, ("observed", "all")))
        with reporting(problems + levels_below_zero(random_subsets=random_subsets)):
            super().__init__(spec, **shared)
        self.subsets, self.random_subsets, self.always = subsets, random_subsets, frozenset(always)

    def joint(self, experts: Diagonal, present: Tensor) -> DiagonalNormal:
        """The product of the present experts and the prior."""
        return product_of_experts(experts, present, prior_expert=True)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The product of each subset; see `MultimodalVAE`."""
        members = self._members(generator).to(observation.present.device)
        product = product_of_experts(observation.experts, observation.present, prior_expert=True, members=members)
        weight = (torch.tensordot(members.float(), observation.present.float(), 1) > 0).float()
        if self.subsets == "all":
            weight = weight * (2 ** members.shape[1] - 1) / len(members)
        own = {name: members[:, i].nonzero().squeeze(-1) for i, name in enumerate(observation.names) if name not in self.always}
        return StackedPosteriors(product, weight, reconstructs=own)

    def _members(self, generator: torch.Generator | None) -> Tensor:
        """The subsets of this step as rows of membership, (S, M) bool, on the CPU."""
        count = len(self.spec.modalities)
        if self.subsets == "sampled":
            return sampled_subsets(count, self.random_subsets, generator)
        return subsets_of(count, generator) if self.subsets == "all" else torch.ones(1, count, dtype=torch.bool)
