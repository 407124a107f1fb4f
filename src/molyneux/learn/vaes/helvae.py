"""HELVAE: the joint posterior is the pool of the experts that is nearest to them in Hellinger distance."""

from __future__ import annotations

from typing import Literal, Unpack

import torch
from torch import Tensor

from molyneux.core import Spec, choice_problems
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, MixturePosterior, hellinger_pool, moment_matched
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors


class HELVAE(MultimodalVAE):
    """Vo & Valera, Hellinger Multimodal Variational Autoencoders (AISTATS 2026).

    `q(z|X) ~ (sum_m sqrt(q(z|x_m)))^2`, Hoelder pooling with exponent 1/2: between the product of experts, which one sharp expert
    decides, and their mixture, which never becomes more certain. It is replaced by the normal distribution with its mean and
    variances. One bound, without subsets: `E_{q(z|X)} sum_m log p(x_m|z) - KL(q(z|X) || p(z))`.

    Follows the authors' code; deviation: no constant is added to variances. `pooling="exact"` needs no approximation, since the
    pool is a mixture of M (M + 1) / 2 normals: it decodes a sample of each, weighted, and estimates the divergence with them.

    Where modalities are missing, the pool is of the experts that are present.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        pooling: "moments" as the paper, or "exact".
    """

    def __init__(
        self, spec: Spec, *, pooling: Literal["moments", "exact"] = "moments", **shared: Unpack[MultimodalSettings]
    ) -> None:
        with reporting(choice_problems(pooling=(pooling, ("moments", "exact")))):
            super().__init__(spec, **shared)
        self.pooling = pooling

    def joint(self, experts: Diagonal, present: Tensor) -> DiagonalNormal | MixturePosterior:
        """The pool of the present experts, or the normal distribution with its moments."""
        pool = hellinger_pool(experts, present)
        return pool if self.pooling == "exact" else moment_matched(pool)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The normal distribution, or each component of the pool, weighed by its density; see `MultimodalVAE`."""
        joint = self.joint(observation.experts, observation.present)
        some = observation.present.any(0, keepdim=True).float()
        if isinstance(joint, MixturePosterior):
            return StackedPosteriors(joint.components, joint.weights * some, density=joint)
        return StackedPosteriors(joint[None], some)
