"""MMVAE: the joint posterior is a mixture of experts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

import torch
from torch import Tensor

from molyneux.core import ConfigError, Spec
from molyneux.learn.likelihoods import Scales, ViewLikelihood
from molyneux.learn.nets import Net
from molyneux.learn.objectives import Evidence, Weight
from molyneux.learn.posteriors import Diagonal, DiagonalLaplace, DiagonalNormal, Mixture, mixture_of_experts
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.vaes.multimodal_vae import MultimodalVAE
from molyneux.learn.vaes.observation import Observation

_FAMILIES: dict[str, type[Diagonal]] = {"laplace": DiagonalLaplace, "normal": DiagonalNormal}


class MMVAE(MultimodalVAE):
    """Shi et al., Variational Mixture-of-Experts Autoencoders for Multi-Modal Deep Generative Models (NeurIPS 2019).

    `q(z|X) = 1/M sum_m q(z|x_m)`, the MoE joint variational posterior. The bound is stratified over the experts,
    one sample of each: `1/M sum_m E_{q(z|x_m)} [sum_r log p(x_r|z) - log q(z|X) + log p(z)]`, so every sense learns to
    reconstruct every other, with weight 1.

    Deviations from the paper: the bound with one sample (the ELBO) instead of importance weighting; a prior
    of scale 1 that is not learned; variances as every model of this package has them, and not normalised by a softmax.

    Where modalities are missing, the mixture is over the experts that are present.

    Args:
        spec: see `MultimodalVAE`, as `latent_dim`, `beta`, `nets`, `likelihoods`, `scales`, `drawn` and `prior`.
        family: family of experts and prior: "laplace", the paper's choice, or "normal".
        divergence: "monte_carlo" estimates the divergence of the mixture with the samples drawn; "bound" takes the mean of
            the experts' closed-form divergences, which is larger, so the loss is still a bound, with less noise.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        latent_dim: int = 24,
        beta: Weight = 1.0,
        family: Literal["laplace", "normal"] = "laplace",
        divergence: Literal["monte_carlo", "bound"] = "monte_carlo",
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
        problems = []
        if family not in _FAMILIES:
            problems.append(f'family: expected "laplace" or "normal", got {family!r}')
        if divergence not in ("monte_carlo", "bound"):
            problems.append(f'divergence: expected "monte_carlo" or "bound", got {divergence!r}')
        if problems:
            raise ConfigError(problems)
        self.family, self.divergence = _FAMILIES[family], divergence

    def joint(self, experts: Diagonal, present: Tensor) -> Mixture:
        """The mixture of the present experts."""
        return mixture_of_experts(experts, present)

    def evidence(self, observation: Observation, generator: torch.Generator | None) -> Evidence:
        """See `MultimodalVAE`."""
        posterior = self.joint(observation.experts, observation.present)
        codes, weight = posterior.stratified(1, generator)[0], posterior.weights
        distortion = {
            name: self.distortion(observation, name, codes, weight=weight, generator=generator) for name in observation.names
        }
        return Evidence(distortion, {"shared": self._rate(posterior, codes)})

    def _rate(self, posterior: Mixture, codes: Tensor) -> Tensor:
        """Divergence of the mixture from the prior in nats, (B,), with codes (M, B, D) of its components."""
        if self.divergence == "bound":
            return posterior.kl_bound()
        prior = self.family.standard(tuple(codes.shape[1:]), codes)
        return (posterior.weights * (posterior.log_prob(codes) - prior.log_prob(codes))).sum(0)
