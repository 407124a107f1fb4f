"""mmJSD: a mixture of experts, whose experts and prior are kept near a prior made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Unpack

import torch
from torch import Tensor

from molyneux.core import Spec, choice_problems
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, MixturePosterior, mixture_of_experts, product_of_experts
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors


class MMJSD(MultimodalVAE):
    """Sutter, Daunhawer & Vogt, Multimodal Generative Learning Utilizing Jensen-Shannon-Divergence (NeurIPS 2020).

    `q(z|X) = 1/M sum_m q(z|x_m)`. The bound is `E_{q(z|X)} sum_m log p(x_m|z) - JS(q(z|x_1), ..., q(z|x_M), p(z))`,
    where the divergence of the M + 1 distributions, with weights pi = 1 / (M + 1), is from their geometric mean f, the dynamic
    prior: `JS = sum_m pi KL(q(z|x_m) || f) + pi KL(p || f)`, `f(z) ~ p(z)^pi prod_m q(z|x_m)^pi`. All are normal, and so the
    divergences are in closed form. With private codes, each has its own divergence from the prior.

    Deviations from the paper: each sample draws its expert at random, instead of a slice of the batch; all weights are equal.

    Where modalities are missing, M counts those that are present.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`. The objective is the ELBO, whose divergence `beta` weighs.
        samples: "drawn" decodes one sample of the mixture; "stratified" one of every expert, weighted, which has less noise.
        private_dim: dimensions of the private codes, one number for all or numbers by modality (0 for what is not named).
    """

    has_private = True
    importance_weighted = False

    def __init__(
        self,
        spec: Spec,
        *,
        samples: Literal["drawn", "stratified"] = "drawn",
        private_dim: int | Mapping[str, int] = 0,
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        with reporting(choice_problems(samples=(samples, ("drawn", "stratified")))):
            super().__init__(spec, private_dim=private_dim, **shared)
        self.samples = samples

    def joint(self, experts: Diagonal, present: Tensor) -> MixturePosterior:
        """The mixture of the present experts."""
        return mixture_of_experts(experts, present)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The mixture, or each of its experts, with the divergence from the dynamic prior; see `MultimodalVAE`."""
        mixture = self.joint(observation.experts, observation.present)
        rate = jensen_shannon(observation.experts, observation.present)
        if self.samples == "stratified":
            return StackedPosteriors(mixture.components, mixture.weights, rate=rate)
        return StackedPosteriors(mixture, torch.ones_like(mixture.weights[:1]), rate=rate)


def jensen_shannon(experts: Diagonal, present: Tensor) -> Tensor:
    """Divergence of the present experts and the prior, with equal weights, from their geometric mean, (B,) nats."""
    known = experts.where(present)
    product = product_of_experts(experts, present, prior_expert=True)
    assert isinstance(known, DiagonalNormal)  # or they would have no product
    count = present.sum(0) + 1
    dynamic = DiagonalNormal(product.loc, product.log_variance + count.to(product.loc).log().unsqueeze(-1))
    prior = DiagonalNormal.standard(tuple(product.loc.shape), product.loc)
    return ((known.kl_to(dynamic) * present).sum(0) + prior.kl_to(dynamic)) / count
