"""The variational autoencoder of one modality."""

from __future__ import annotations

import torch
from torch import Tensor

from molyneux.learn.objectives import Evidence
from molyneux.learn.posteriors import Diagonal
from molyneux.learn.vaes.multimodal_vae import MultimodalVAE
from molyneux.learn.vaes.observation import Observation


class VAE(MultimodalVAE):
    """Kingma & Welling, Auto-Encoding Variational Bayes (ICLR 2014): `E_q(z|x) log p(x|z) - KL(q(z|x) || p(z))`.

    Equation 3 with one sample; the divergence in closed form. The baseline of every multimodal model: what one sense alone
    can know.
    """

    most_modalities = 1

    def joint(self, experts: Diagonal, present: Tensor) -> Diagonal:
        """The only expert, or the prior where its modality is absent."""
        return experts.where(present)[0]

    def evidence(self, observation: Observation, generator: torch.Generator | None) -> Evidence:
        """See `MultimodalVAE`."""
        posterior = self.joint(observation.experts, observation.present)
        codes = posterior.rsample((1,), generator)
        weight = torch.ones_like(codes[..., 0])
        distortion = {name: self.distortion(observation, name, codes, weight=weight) for name in observation.names}
        return Evidence(distortion, {"shared": posterior.kl()})
