"""DMVAE: a shared code by product of experts, and a private code for each modality."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import torch
from torch import Tensor

from molyneux.core import ConfigError, Spec
from molyneux.learn.likelihoods import Scales, ViewLikelihood
from molyneux.learn.nets import Net
from molyneux.learn.objectives import Evidence, Weight
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, product_of_experts
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.vaes.multimodal_vae import MultimodalVAE
from molyneux.learn.vaes.observation import Observation


class DMVAE(MultimodalVAE):
    """Lee & Pavlovic, Private-Shared Disentangled Multimodal VAE for Learning of Latent Representations (CVPR-W 2021).

    Each modality has a private code beside the shared one, whose joint posterior `q(s|X) = p(s) prod_m q(s|x_m)` is a product
    with the prior as one of the experts. The loss is a sum of negative bounds, one for the joint posterior and one for each
    expert alone (their sum over own, joint and cross terms): with the shared code from `q`, every modality is reconstructed
    with its own private code, `sum_m E log p(x_m|s, p_m) - KL(q(s) || p(s)) - sum_m KL(q(p_m|x_m) || p(p_m))`.

    Deviations from the paper: each of these bounds counts each of its divergences once, where the paper's double sum repeats
    those of the shared code for every modality reconstructed. The private code of a modality is drawn once per step.

    Where modalities are missing, an expert that is absent has no bound, and private codes of what is not observed follow the
    prior.

    Args:
        spec: see `MultimodalVAE`, as `latent_dim`, `beta`, `nets`, `likelihoods`, `scales`, `drawn` and `prior`.
        private_dim: dimensions of the private codes, one number for all or numbers by modality (0 for what is not named).
        cross: whether an expert alone reconstructs the other modalities too; without, it reconstructs its own only.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        latent_dim: int = 24,
        private_dim: int | Mapping[str, int] = 10,
        beta: Weight = 1.0,
        cross: bool = True,
        nets: Mapping[str, Net] | None = None,
        likelihoods: Mapping[str, ViewLikelihood] | None = None,
        scales: Scales = "none",
        drawn: Collection[str] = (),
        prior: ExPostMixture | None = None,
    ) -> None:
        sizes = dict.fromkeys(spec.names, private_dim) if isinstance(private_dim, int) else private_dim
        super().__init__(
            spec,
            latent_dim=latent_dim,
            private_dims=sizes,
            beta=beta,
            nets=nets,
            likelihoods=likelihoods,
            scales=scales,
            drawn=drawn,
            prior=prior,
        )
        if not self.private_dims:
            raise ConfigError("private_dim: expected at least one modality with a private code, got none; use MVAE instead")
        self.cross = cross

    def joint(self, experts: Diagonal, present: Tensor) -> DiagonalNormal:
        """The product of the present experts and the prior."""
        return product_of_experts(experts, present, prior_expert=True)

    def evidence(self, observation: Observation, generator: torch.Generator | None) -> Evidence:
        """See `MultimodalVAE`."""
        present = observation.present
        product = self.joint(observation.experts, present)
        experts = observation.experts.where(present)
        codes = torch.cat([product.rsample((1,), generator), experts.rsample((), generator)])
        bounds = torch.cat([present.any(0, keepdim=True), present]).float()
        distortion, rate = {}, {"shared": product.kl()}
        for index, name in enumerate(observation.names):
            private = observation.private.get(name)
            rows = slice(None) if self.cross or len(present) == 1 else torch.tensor([0, 1 + index])
            sample = None if private is None else private.rsample((), generator)
            weight = bounds[rows]
            distortion[name] = self.distortion(observation, name, codes[rows], weight=weight, private=sample, generator=generator)
            rate[f"shared.{name}"] = experts[index].kl()
            if private is not None:
                rate[f"private.{name}"] = weight.sum(0) * private.kl()
        return Evidence(distortion, rate)
