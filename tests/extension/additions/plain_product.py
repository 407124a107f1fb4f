"""PlainProduct: a VAE whose joint posterior is the product of the experts."""

from __future__ import annotations

import torch
from torch import Tensor

from molyneux.learn.posteriors import Diagonal, DiagonalNormal, product_of_experts
from molyneux.learn.vaes.multimodal import MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors
from molyneux.learn.vaes.subsets import subset_bounds


class PlainProduct(MultimodalVAE):
    """The product of experts with the bound of all modalities together, for a test.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
    """

    def joint(self, experts: Diagonal, present: Tensor) -> DiagonalNormal:
        """The product of the present experts and the prior."""
        return product_of_experts(experts, present, prior_expert=True)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The product alone; see `MultimodalVAE`."""

        def product(experts: Diagonal, present: Tensor, members: Tensor | None) -> DiagonalNormal:
            return product_of_experts(experts, present, prior_expert=True, members=members)

        return subset_bounds(product, observation, "joint", random_subsets=1, always=(), generator=generator)
