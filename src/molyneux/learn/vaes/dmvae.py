"""DMVAE: a shared code by product of experts, and a private code for each modality."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import torch
from torch import Tensor

from molyneux.core import Posterior, Spec
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, product_of_experts
from molyneux.learn.priors import FittedPrior, LatentDims
from molyneux.learn.priors.conditional import PrivatePrior
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors


class DMVAE(MultimodalVAE):
    """Lee & Pavlovic, Private-Shared Disentangled Multimodal VAE for Learning of Latent Representations (CVPR-W 2021).

    Each modality has a private code beside the shared one, whose joint posterior `q(s|X) = p(s) prod_m q(s|x_m)` is a product
    with the prior as one of the experts. The loss is a sum of negative bounds, one for the joint posterior and one for each
    expert alone (their sum over own, joint and cross terms): with the shared code from `q`, every modality is reconstructed
    with its own private code, `sum_m E log p(x_m|s, p_m) - KL(q(s) || p(s)) - sum_m KL(q(p_m|x_m) || p(p_m))`.

    Deviations from the paper: each of these bounds counts each of its divergences once, where the paper's double sum repeats
    those of the shared code for every modality reconstructed. The private code of a modality is drawn once per step.

    Where modalities are missing, an expert that is absent has no bound, and its private code follows the prior.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        private_dim: dimensions of the private codes, one number for all or numbers by modality (0 for what is not named).
        cross: whether an expert alone reconstructs the other modalities too; without, it reconstructs its own only.
        private_prior: a prior of the private codes given the shared one that is trained with the model, in the loss and in
            generation, `p(s) prod_m p(p_m|s)`; None for independent standard normal ones. A `prior` that is fitted after training
            is then one of the shared code alone. Beyond the paper: a private code may hold what is also in the shared one, such
            as the position of a figure, and then contradicts it where it is drawn independently.
    """

    has_private = True

    def __init__(
        self,
        spec: Spec,
        *,
        private_dim: int | Mapping[str, int] = 10,
        cross: bool = True,
        private_prior: PrivatePrior | None = None,
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        sizes = [private_dim] if isinstance(private_dim, int) else private_dim.values()
        with reporting([] if any(sizes) else ["private_dim: expected at least one private code, got none: use MVAE"]):
            super().__init__(spec, private_dim=private_dim, **shared)
        self.cross = cross
        if private_prior is not None:
            for name, size in self.private_dims.items():
                self.private_priors[name] = private_prior.density(self.latent_dim, size)
            if self.fitted is not None:
                self.fitted = FittedPrior(self.fitted.settings, LatentDims(self.latent_dim))

    @property
    def replaces_prior(self) -> bool:
        """See `Autoencoder`."""
        return bool(self.private_priors) or super().replaces_prior

    def prior(self, size: int) -> Posterior:
        """See `Autoencoder`; private codes are drawn given the shared one where their prior was trained."""
        prior = super().prior(size)
        return Posterior(prior.shared, dict(self.private_priors.items())) if self.private_priors else prior

    def joint(self, experts: Diagonal, present: Tensor) -> DiagonalNormal:
        """The product of the present experts and the prior."""
        return product_of_experts(experts, present, prior_expert=True)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The product, then each expert alone; see `MultimodalVAE`."""
        present = observation.present
        product, experts = self.joint(observation.experts, present), observation.experts.where(present)
        loc = torch.cat([product.loc.unsqueeze(0), experts.loc])
        log_variance = torch.cat([product.log_variance.unsqueeze(0), experts.log_variance])
        weight = torch.cat([present.any(0, keepdim=True), present]).float()
        own = {name: torch.tensor([0, 1 + i], device=loc.device) for i, name in enumerate(observation.names)}
        return StackedPosteriors(DiagonalNormal(loc, log_variance), weight, reconstructs={} if self.cross else own)
