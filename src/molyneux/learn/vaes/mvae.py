"""MVAE: the joint posterior is a product of experts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

import torch
from torch import Tensor

from molyneux.core import ConfigError, Spec, nearest
from molyneux.learn.likelihoods import Scales, ViewLikelihood
from molyneux.learn.nets import Net
from molyneux.learn.objectives import Evidence, Weight
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, all_subsets, product_of_experts
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.vaes.multimodal_vae import MultimodalVAE
from molyneux.learn.vaes.observation import Observation

MOST_ENUMERATED = 10
"""Modalities up to which all 2^M - 1 subsets are taken in one step."""


class MVAE(MultimodalVAE):
    """Wu & Goodman, Multimodal Generative Models for Scalable Weakly-Supervised Learning (NeurIPS 2018).

    `q(z|X_S) = p(z) prod_{m in S} q(z|x_m)`, renormalised: the prior is one of the experts. The loss is the sum of negative
    bounds of several subsets S of the modalities (the sub-sampled training paradigm): all together, each alone, and
    `random_subsets` others drawn anew at every step.

    Where modalities are missing, a subset stands for what is present of it, and one of which nothing is present counts 0.

    Args:
        spec: see `MultimodalVAE`, as `latent_dim`, `beta`, `nets`, `likelihoods`, `scales`, `drawn` and `prior`.
        subsets: "sampled" as the paper; "all" takes every non-empty subset; "joint" only the whole.
        random_subsets: how many further subsets "sampled" draws where there are three modalities or more.
        reconstruct: "observed" as the paper: a subset reconstructs its own modalities. "all": every subset reconstructs
            every modality that is present, which teaches crossing from one sense to another directly; it is no longer a
            bound on the evidence of X_S. (The CdSprites+ toolkit does so.) Names: every subset reconstructs these beside its
            own, such as a caption that every picture should be able to tell, while no caption is asked for the picture.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        latent_dim: int = 24,
        beta: Weight = 1.0,
        subsets: Literal["sampled", "all", "joint"] = "sampled",
        random_subsets: int = 1,
        reconstruct: Literal["observed", "all"] | tuple[str, ...] = "observed",
        nets: Mapping[str, Net] | None = None,
        likelihoods: Mapping[str, ViewLikelihood] | None = None,
        scales: Scales = "none",
        drawn: Collection[str] = (),
        prior: ExPostMixture | None = None,
    ) -> None:
        super().__init__(
            spec,
            latent_dim=latent_dim,
            beta=beta,
            nets=nets,
            likelihoods=likelihoods,
            scales=scales,
            drawn=drawn,
            prior=prior,
        )
        count = len(spec.modalities)
        problems = []
        if subsets not in ("sampled", "all", "joint"):
            problems.append(f'subsets: expected "sampled", "all" or "joint", got {subsets!r}')
        if subsets == "all" and count > MOST_ENUMERATED:
            problems.append(f'subsets: "all" takes 2^{count} - 1 subsets at every step; use "sampled"')
        if isinstance(reconstruct, str) and reconstruct not in ("observed", "all"):
            problems.append(f'reconstruct: expected "observed", "all" or names of modalities, got {reconstruct!r}')
        named = () if isinstance(reconstruct, str) else tuple(reconstruct)
        problems += [
            f"reconstruct: no modality {name!r}; {nearest(name, spec.names)}" for name in named if name not in spec.names
        ]
        if random_subsets < 0:
            problems.append(f"random_subsets: expected at least 0, got {random_subsets}")
        if problems:
            raise ConfigError(problems)
        self.subsets, self.random_subsets = subsets, random_subsets
        self.always = frozenset(spec.names if reconstruct == "all" else named)

    def joint(self, experts: Diagonal, present: Tensor) -> DiagonalNormal:
        """The product of the present experts and the prior."""
        return product_of_experts(experts, present, prior_expert=True)

    def evidence(self, observation: Observation, generator: torch.Generator | None) -> Evidence:
        """See `MultimodalVAE`."""
        members = self._members(generator)
        voices = members.to(observation.present.device).unsqueeze(-1) & observation.present
        posteriors = self.joint(observation.experts, voices)
        counts = voices.any(1).float()
        codes = posteriors.rsample((), generator)
        distortion = {}
        for index, name in enumerate(observation.names):
            rows = torch.arange(len(members)) if name in self.always else members[:, index].nonzero().squeeze(-1)
            rows = rows.to(codes.device)
            distortion[name] = self.distortion(observation, name, codes[rows], weight=counts[rows], generator=generator)
        return Evidence(distortion, {"shared": (counts * posteriors.kl()).sum(0)})

    def _members(self, generator: torch.Generator | None) -> Tensor:
        """The subsets of this step as rows of membership, (S, M) bool, on the CPU."""
        count = len(self.spec.modalities)
        if self.subsets == "all":
            return all_subsets(count)
        whole = torch.ones(1, count, dtype=torch.bool)
        if self.subsets == "joint" or count == 1:
            return whole
        drawn = [_random_subset(count, generator) for _ in range(self.random_subsets if count > 2 else 0)]
        return torch.cat([torch.eye(count, dtype=torch.bool), whole, *drawn])


def _random_subset(count: int, generator: torch.Generator | None) -> Tensor:
    """A subset of 2 to `count - 1` members, its size uniform and its members uniform given the size, (1, count) bool."""
    device = "cpu" if generator is None else generator.device
    size = torch.randint(2, count, (), generator=generator, device=device)
    order = torch.randperm(count, generator=generator, device=device)
    return (order < size).unsqueeze(0).cpu()
