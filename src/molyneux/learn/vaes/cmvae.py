"""CMVAE: MMVAE+ with clusters in the shared code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import torch
from torch import Tensor, nn

from molyneux.core import Posterior, Spec
from molyneux.learn.posteriors import Diagonal, MixturePosterior, mixture_of_experts
from molyneux.learn.priors import LatentDims, Prior
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.mmvae_plus import FAMILIES, AuxiliaryPriors, Family, cross_problems
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors


class CMVAE(MultimodalVAE):
    """Palumbo, Manduchi, Laguna, Chopard & Vogt, Deep Generative Clustering with Multimodal Diffusion VAEs (ICLR 2024).

    MMVAE+ whose prior of the shared code is a mixture, `p(z) = sum_c p(c) p(z|c)`, of C clusters with learned weights and means.
    The paper's bound has `sum_c q(c|z) (log p(c) p(z|c) - log q(c|z))` in the place of `log p(z)`, with `q(c|z) ~ p(c) p(z|c)`.
    For this q it is `log p(z)` itself, which is what is computed. As in the authors' code, https://github.com/epalu/CMVAE, the
    scale of the clusters is fixed and their means are learned.

    Deviations: those of `MMVAEPlus`. The scale is 1 for both families, where that code has softplus(0) = 0.69 for normal
    clusters; means start between -1 and 1, as in MultiVae's code, there between -0.5 and 0.5; weights are always learned, there
    as an option. Not here: the choice of the number of clusters after training by the entropy of their assignment, and the
    diffusion model that the paper's D-CMVAE adds to the decoder.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        clusters: C.
        private_dim: see `MMVAEPlus`.
        family: see `MMVAEPlus`.
    """

    has_private = True

    def __init__(
        self,
        spec: Spec,
        *,
        clusters: int = 10,
        private_dim: int | Mapping[str, int] = 10,
        family: Family = "laplace",
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        problems = [] if clusters >= 1 else [f"clusters: expected at least 1, got {clusters}"]
        with reporting(problems + cross_problems(private_dim, family, "a fitted prior, `prior: {components: 64}`")):
            super().__init__(spec, private_dim=private_dim, **shared)
        self.family = FAMILIES[family]
        self.loss_prior = ClusterPrior(self.family, self.networks.dims, clusters)
        self.auxiliary = AuxiliaryPriors(self.family, self.networks.dims, len(spec.modalities))

    @property
    def replaces_prior(self) -> bool:
        """See `Autoencoder`: codes of which nothing is present follow the clusters."""
        return True

    def assign(self, codes: Tensor) -> Tensor:
        """Probability of each cluster given shared codes, (..., B, D) -> (..., B, C)."""
        assert isinstance(self.loss_prior, ClusterPrior)  # as the constructor makes it
        return self.loss_prior.assign(codes)

    def joint(self, experts: Diagonal, present: Tensor) -> MixturePosterior:
        """The mixture of the present experts."""
        return mixture_of_experts(experts, present)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """Each expert, weighed by the density of the mixture; see `MultimodalVAE`."""
        mixture = self.joint(observation.experts, observation.present)
        weight = mixture.weights * observation.present.any(0)
        return StackedPosteriors(mixture.components, weight, density=mixture, cross=self.auxiliary.cross_codes(observation))


class ClusterPrior(Prior):
    """Shared codes come from clusters of unit scale with learned weights and means; private ones from the standard prior.

    Args:
        family: of clusters and private codes.
        dims: the latent groups.
        clusters: C; their means are drawn from -1..1 at first.
    """

    def __init__(self, family: type[Diagonal], dims: LatentDims, clusters: int) -> None:
        super().__init__()
        self.family, self.dims = family, dims
        self.means = nn.Parameter(2 * torch.rand(clusters, dims.shared) - 1)
        logits = torch.zeros(clusters)
        if clusters > 1:
            self.logits: Tensor = nn.Parameter(logits)
        else:
            self.register_buffer("logits", logits)

    def of(self, size: int) -> Posterior:
        """See `Prior`."""
        private = {name: self.family.standard((size, dim), self.means) for name, dim in self.dims.private.items()}
        return Posterior(self._shared(size), private)

    def assign(self, codes: Tensor) -> Tensor:
        """Probability of each cluster given shared codes, (..., B, D) -> (..., B, C)."""
        prior = self._shared(codes.shape[-2])
        each = prior.components.log_prob(codes.unsqueeze(-3)) + prior.log_weights
        return each.movedim(-2, -1).softmax(-1)

    def _shared(self, size: int) -> MixturePosterior:
        standard = self.family.standard(tuple(self.means.shape), self.means)
        loc = self.means.unsqueeze(1).expand(-1, size, -1)
        log_weights = self.logits.log_softmax(0).unsqueeze(-1).expand(-1, size)
        return MixturePosterior(self.family(loc, standard.log_variance.unsqueeze(1)), log_weights.exp(), log_weights)
