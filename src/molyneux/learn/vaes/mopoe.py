"""MoPoE-VAE: the joint posterior is a mixture of the products of all subsets of experts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

import torch
from torch import Tensor

from molyneux.core import ConfigError, Spec
from molyneux.learn.likelihoods import Scales, ViewLikelihood
from molyneux.learn.nets import Net
from molyneux.learn.objectives import Evidence, Weight
from molyneux.learn.posteriors import Diagonal, Mixture, mixture_of_products
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.vaes.multimodal_vae import MultimodalVAE
from molyneux.learn.vaes.observation import Observation


class MoPoE(MultimodalVAE):
    """Sutter, Daunhawer & Vogt, Generalized Multimodal ELBO (ICLR 2021).

    `q(z|X) = 1/(2^M - 1) sum_S q(z|X_S)` over the non-empty subsets S, with `q(z|X_S)` the product of the experts in S.
    The bound is `E_{q(z|X)} sum_m log p(x_m|z) - KL(q(z|X) || p(z))`, where the divergence is replaced by its
    upper bound by convexity, the mean over subsets of the closed-form divergences of the products.

    Deviations from the paper: each sample draws its own subset at random, instead of a slice of the batch; the empty subset,
    whose product is the prior itself, is left out, as in the authors' code.

    Where modalities are missing, the mixture is over the subsets of what is present.

    Args:
        spec: see `MultimodalVAE`, as `latent_dim`, `beta`, `nets`, `likelihoods`, `scales`, `drawn` and `prior`.
        samples: "drawn" decodes one sample of the mixture; "stratified" one of every subset, weighted, which costs 2^M - 1
            times as much decoding and has less noise.
        prior_expert: whether each product has the prior as one more factor.
    """

    most_modalities = 8

    def __init__(
        self,
        spec: Spec,
        *,
        latent_dim: int = 24,
        beta: Weight = 1.0,
        samples: Literal["drawn", "stratified"] = "drawn",
        prior_expert: bool = False,
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
        if samples not in ("drawn", "stratified"):
            raise ConfigError(f'samples: expected "drawn" or "stratified", got {samples!r}')
        self.samples, self.prior_expert = samples, prior_expert

    def joint(self, experts: Diagonal, present: Tensor) -> Mixture:
        """The mixture of the products of all subsets of the present experts."""
        return mixture_of_products(experts, present, prior_expert=self.prior_expert)

    def evidence(self, observation: Observation, generator: torch.Generator | None) -> Evidence:
        """See `MultimodalVAE`."""
        posterior = self.joint(observation.experts, observation.present)
        if self.samples == "stratified":
            codes, weight = posterior.stratified(1, generator)[0], posterior.weights
        else:
            codes = posterior.rsample((1,), generator)
            weight = torch.ones_like(codes[..., 0])
        distortion = {
            name: self.distortion(observation, name, codes, weight=weight, generator=generator) for name in observation.names
        }
        return Evidence(distortion, {"shared": posterior.kl_bound()})
