"""MMVAE: the joint posterior is a mixture of experts."""

from __future__ import annotations

from typing import Literal, Unpack

import torch
from torch import Tensor

from molyneux.core import Spec, choice_problems
from molyneux.learn.posteriors import Diagonal, DiagonalLaplace, DiagonalNormal, MixturePosterior, mixture_of_experts
from molyneux.learn.priors import IndependentPrior
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors


class MMVAE(MultimodalVAE):
    """Shi et al., Variational Mixture-of-Experts Autoencoders for Multi-Modal Deep Generative Models (NeurIPS 2019).

    `q(z|X) = 1/M sum_m q(z|x_m)`, the MoE joint variational posterior. The bound is stratified over the experts,
    one sample of each: `1/M sum_m E_{q(z|x_m)} [sum_r log p(x_r|z) - log q(z|X) + log p(z)]`, so every modality learns to
    reconstruct every other, with weight 1. With the objective IWAE it is their importance-weighted bound, equation 3; stratified
    over the experts, it does not reach the log-likelihood however many samples it has.

    Deviations from the paper: by default the bound with one sample (the ELBO); a prior of scale 1 that is not learned; variances
    as every model of this package has them, and not normalised by a softmax.

    Where modalities are missing, the mixture is over the experts that are present.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        family: family of experts and prior: "laplace", the paper's choice, or "normal".
        divergence: "monte_carlo" estimates the divergence of the mixture with the samples drawn; "bound" takes the mean of
            the experts' closed-form divergences, which is larger, so the loss is still a bound, with less noise.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        family: Literal["laplace", "normal"] = "laplace",
        divergence: Literal["monte_carlo", "bound"] = "monte_carlo",
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        choices = {"family": (family, ("laplace", "normal")), "divergence": (divergence, ("monte_carlo", "bound"))}
        with reporting(choice_problems(**choices)):
            super().__init__(spec, **shared)
        self.family, self.divergence = DiagonalLaplace if family == "laplace" else DiagonalNormal, divergence
        self.loss_prior = IndependentPrior(self.family.standard, self.networks.dims)

    def joint(self, experts: Diagonal, present: Tensor) -> MixturePosterior:
        """The mixture of the present experts."""
        return mixture_of_experts(experts, present)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """Each expert, weighed by the density of the mixture; see `MultimodalVAE`."""
        mixture = self.joint(observation.experts, observation.present)
        rate = mixture.kl_bound() if self.divergence == "bound" else None
        return StackedPosteriors(mixture.components, mixture.weights, density=mixture, rate=rate)
