"""MVTCAE: a product of experts that is kept near each expert, so that it holds what the modalities have in common."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor

from molyneux.core import Spec
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, product_of_experts
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors


class MVTCAE(MultimodalVAE):
    """Hwang, Kim, Hong & Kim, Multi-View Representation Learning via Total Correlation Objective (NeurIPS 2021).

    `q(z|X) ~ prod_m q(z|x_m)`, a product without the prior. The loss bounds the total correlation that the code explains
    (equation 6): `(M - alpha) / M E_q sum_m -log p(x_m|z) + (1 - alpha) KL(q(z|X) || p(z)) + alpha / M sum_m KL(q(z|X) ||
    q(z|x_m))`, with all divergences in closed form. The last ones (the conditional information bottleneck) train each expert to
    give the joint posterior, as far as its modality determines it.

    Deviations from the paper: the loss is divided by (M - alpha) / M, so that distortions count as in every other model. Of
    samples with one modality the limit is taken, which is the loss of a VAE.

    Where modalities are missing, M counts those that are present.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`. The objective is the ELBO, whose divergence `beta` weighs.
        alpha: weight of the divergences from the experts, 0..1; the rest is the weight of that from the prior.
    """

    importance_weighted = False

    def __init__(self, spec: Spec, *, alpha: float = 0.9, **shared: Unpack[MultimodalSettings]) -> None:
        with reporting([] if 0 <= alpha <= 1 else [f"alpha: expected a number in 0..1, got {alpha}"]):
            super().__init__(spec, **shared)
        self.alpha = alpha

    def joint(self, experts: Diagonal, present: Tensor) -> DiagonalNormal:
        """The product of the present experts."""
        return product_of_experts(experts, present, prior_expert=False)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The product, with its divergence from prior and experts; see `MultimodalVAE`."""
        present, alpha = observation.present, self.alpha
        experts = observation.experts.where(present)
        assert isinstance(experts, DiagonalNormal)  # as `experts` of this family makes them
        product = self.joint(experts, present)
        count, from_prior = present.sum(0), product.kl()
        from_experts = (product.kl_to(experts) * present).sum(0)
        rate = ((1 - alpha) * count * from_prior + alpha * from_experts) / (count - alpha).clamp_min(1e-6)
        rate = torch.where(count > 1, rate, from_prior)
        return StackedPosteriors(product[None], present.any(0, keepdim=True).float(), rate=rate)
