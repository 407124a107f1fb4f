"""MVAE: the joint posterior is a product of experts."""

from __future__ import annotations

from typing import Literal, Unpack

import torch
from torch import Tensor

from molyneux.core import Spec, choice_problems
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, product_of_experts
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation, unknown_names
from molyneux.learn.vaes.stacked import StackedPosteriors
from molyneux.learn.vaes.subsets import Subsets, subset_bounds, subset_problems


class MVAE(MultimodalVAE):
    """Wu & Goodman, Multimodal Generative Models for Scalable Weakly-Supervised Learning (NeurIPS 2018).

    `q(z|X_S) = p(z) prod_{m in S} q(z|x_m)`, renormalised. The loss is the sum of the negative bounds of several subsets S of the
    modalities (the sub-sampled training paradigm); where some are missing, a subset stands for what is present of it.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        subsets: "sampled" as the paper: all together, each alone, and `random_subsets` others drawn at every step; "singles":
            without these others; "all": every non-empty subset (of more than 8 modalities: 255 drawn at every step, which count
            for all); "joint": only the whole; "drawn": one subset for each sample, which counts for all.
        random_subsets: how many further subsets "sampled" draws where there are three modalities or more.
        reconstruct: "observed" as the paper: a subset reconstructs its own modalities. "all", as the CdSprites+ toolkit, or
            names: every subset reconstructs these too, which is no longer a bound on the log-likelihood of X_S.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        subsets: Subsets = "sampled",
        random_subsets: int = 1,
        reconstruct: Literal["observed", "all"] | tuple[str, ...] = "observed",
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        always = {"observed": (), "all": spec.names}.get(reconstruct, ()) if isinstance(reconstruct, str) else reconstruct
        problems = subset_problems(subsets, random_subsets, len(spec.modalities)) + unknown_names(spec, {"reconstruct": always})
        if isinstance(reconstruct, str):
            problems += choice_problems(reconstruct=(reconstruct, ("observed", "all")))
        with reporting(problems):
            super().__init__(spec, **shared)
        self.subsets, self.random_subsets, self.always = subsets, random_subsets, frozenset(always)

    def joint(self, experts: Diagonal, present: Tensor) -> DiagonalNormal:
        """The product of the present experts and the prior."""
        return product_of_experts(experts, present, prior_expert=True)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The product of each subset; see `MultimodalVAE`."""

        def product(experts: Diagonal, present: Tensor, members: Tensor | None) -> DiagonalNormal:
            return product_of_experts(experts, present, prior_expert=True, members=members)

        return subset_bounds(
            product,
            observation,
            self.subsets,
            random_subsets=self.random_subsets,
            always=self.always,
            generator=generator,
        )
