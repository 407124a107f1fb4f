"""MoPoE-VAE: the joint posterior is a mixture of the products of all subsets of experts."""

from __future__ import annotations

from typing import Literal, Unpack

import torch
from torch import Tensor

from molyneux.core import Spec, choice_problems
from molyneux.learn.posteriors import Diagonal, MixturePosterior, mixture_of_products
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors


class MoPoE(MultimodalVAE):
    """Sutter, Daunhawer & Vogt, Generalized Multimodal ELBO (ICLR 2021).

    `q(z|X) = 1/(2^M - 1) sum_S q(z|X_S)` over the non-empty subsets S, with `q(z|X_S)` the product of the experts in S.
    The bound is `E_{q(z|X)} sum_m log p(x_m|z) - KL(q(z|X) || p(z))`, where the divergence is replaced by its
    upper bound by convexity, the mean over subsets of the closed-form divergences of the products.

    Deviations from the paper: each sample draws its own subset at random, instead of a slice of the batch; the empty subset,
    whose product is the prior itself, is left out, as in the authors' code; of more than 8 modalities the mixture is over 255
    subsets, drawn uniformly at every step of training and always the same in evaluation.

    Where modalities are missing, the mixture is over the subsets of what is present.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        samples: "drawn" decodes one sample of the mixture; "stratified" one of every subset, weighted, which costs 2^M - 1
            times as much decoding and has less noise.
        prior_expert: whether each product has the prior as one more factor.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        samples: Literal["drawn", "stratified"] = "drawn",
        prior_expert: bool = False,
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        with reporting(choice_problems(samples=(samples, ("drawn", "stratified")))):
            super().__init__(spec, **shared)
        self.samples, self.prior_expert = samples, prior_expert

    def joint(self, experts: Diagonal, present: Tensor) -> MixturePosterior:
        """The mixture of the products of all subsets of the present experts."""
        return mixture_of_products(experts, present, prior_expert=self.prior_expert)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The mixture, or each of its products weighed by the density of the mixture; see `MultimodalVAE`."""
        prior = self.prior_expert
        mixture = mixture_of_products(observation.experts, observation.present, prior_expert=prior, generator=generator)
        if self.samples == "stratified":
            return StackedPosteriors(mixture.components, mixture.weights, density=mixture, rate=mixture.kl_bound())
        whole = torch.ones_like(mixture.weights[:1])
        return StackedPosteriors(mixture, whole, rate=mixture.kl_bound())
