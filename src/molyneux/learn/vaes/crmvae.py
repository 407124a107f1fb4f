"""CRMVAE: the joint posterior is a product of experts that are drawn to it, and that reconstruct their own modalities too."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor

from molyneux.core import Spec
from molyneux.learn.objectives import ELBO
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, product_of_experts
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors


class CRMVAE(MultimodalVAE):
    """Suzuki & Matsuo, Mitigating the Limitations of Multimodal VAEs with Coordination-Based Approach (2022).

    `q(z|X) = prod_m q(z|x_m)`, without the prior. Every modality is reconstructed from the joint posterior and from its own, and
    the joint posterior is kept near the prior and near those of single modalities: the loss is `-1/2 sum_m (E_q(z|X) +
    E_q(z|x_m)) log p(x_m|z) + beta (KL(q(z|X) || p(z)) + sum_m KL(q(z|X) || q(z|x_m)))`.

    Written after a public re-implementation (MultiVae), whose loss is this one divided by M + 1, not after the paper: the weights
    of the terms are those of that code, which takes beta 2.5 by default.

    Where modalities are missing, they have no term and no factor.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`; the objective is an ELBO.
    """

    def __init__(self, spec: Spec, **shared: Unpack[MultimodalSettings]) -> None:
        objective = shared.get("objective")
        wrong = objective is not None and not isinstance(objective, ELBO)
        sentence = f"objective: the loss of CRMVAE is no bound with importance weights: give an ELBO, got {objective!r}"
        with reporting([sentence] if wrong else []):
            super().__init__(spec, **shared)

    def joint(self, experts: Diagonal, present: Tensor) -> DiagonalNormal:
        """The product of the present experts."""
        return product_of_experts(experts, present, prior_expert=False)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The product, then each expert, each with half the weight; see `MultimodalVAE`."""
        present, experts = observation.present, observation.experts.where(observation.present)
        assert isinstance(experts, DiagonalNormal)  # the family of the model
        product = self.joint(experts, present)
        loc = torch.cat([product.loc.unsqueeze(0), experts.loc])
        log_variance = torch.cat([product.log_variance.unsqueeze(0), experts.log_variance])
        weight = 0.5 * torch.cat([present.any(0, keepdim=True), present]).float()
        rate = product.kl() + (product.kl_to(experts) * present).sum(0)
        own = {name: torch.tensor([0, 1 + i], device=loc.device) for i, name in enumerate(observation.names)}
        return StackedPosteriors(DiagonalNormal(loc, log_variance), weight, rate=rate, reconstructs=own)
