"""gPoE: a product of experts with learned weights."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor, nn

from molyneux.core import Spec
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, weighted_product
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors
from molyneux.learn.vaes.subsets import Subsets, subset_bounds, subset_problems


class GPoE(MultimodalVAE):
    """Lawry Aguila, Chapman & Altmann, Multi-modal Variational Autoencoders for Normative Modelling (MICCAI 2023): gPoE-MVAE.

    `q(z|X) ~ prod_m q(z|x_m)^a_m`, the generalised product of experts of Cao & Fleet (2014), with a learned weight `a_m` for each
    expert and dimension, which sum to 1 over the experts. The bound is `E_q sum_m log p(x_m|z) - KL(q(z|X) || p(z))`. A plain
    product becomes more certain with every expert, also where they say the same; this one is an average of precisions.

    Deviations: the weights are a softmax of parameters, which holds the sum of 1 that the paper asks for (the published code
    clamps each weight to 0..1); distortions are summed over modalities, not averaged.

    Where modalities are missing, the weights of those that are present are divided by their sum.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        subsets: whose bounds are added up, see `MVAE`; "joint" as the paper. Without others, experts alone are not trained.
        random_subsets: how many further subsets "sampled" draws where there are three modalities or more.
    """

    logits: Tensor

    def __init__(
        self, spec: Spec, *, subsets: Subsets = "joint", random_subsets: int = 1, **shared: Unpack[MultimodalSettings]
    ) -> None:
        count = len(spec.modalities)
        with reporting(subset_problems(subsets, random_subsets, count)):
            super().__init__(spec, **shared)
        self.subsets, self.random_subsets = subsets, random_subsets
        logits = torch.zeros(count, self.latent_dim)
        if count > 1:
            self.logits = nn.Parameter(logits)
        else:
            self.register_buffer("logits", logits)

    def joint(self, experts: Diagonal, present: Tensor) -> DiagonalNormal:
        """The weighted product of the present experts, with a row for each modality of the spec."""
        return weighted_product(experts, present, self.logits.exp())

    def shared_posterior(self, observation: Observation) -> DiagonalNormal:
        """The weighted product of the experts of what was observed."""
        rows = torch.tensor([self.spec.names.index(name) for name in observation.names], device=observation.present.device)
        return weighted_product(observation.experts, observation.present, self.logits[rows].exp())

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The weighted product of each subset; see `MultimodalVAE`."""

        def product(experts: Diagonal, present: Tensor, members: Tensor | None) -> DiagonalNormal:
            return weighted_product(experts, present, self.logits.exp(), members=members)

        return subset_bounds(
            product, observation, self.subsets, random_subsets=self.random_subsets, always=(), generator=generator
        )
