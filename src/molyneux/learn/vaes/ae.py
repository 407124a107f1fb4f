"""The autoencoder: codes without noise."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from molyneux.core import Batch, Loss, NotApplicableError, Posterior, Progress, Spec
from molyneux.learn.likelihoods import Scales, ViewLikelihood
from molyneux.learn.nets import Net
from molyneux.learn.posteriors import Diagonal, Point
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.vaes.observation import Observation
from molyneux.learn.vaes.unimodal import UnimodalAutoencoder


class AE(UnimodalAutoencoder):
    """The deterministic autoencoder: one code for each sample, and `-log p(x | code)` is all that is minimised.

    The baseline without a bottleneck of noise (Zhang et al., Unsupervised Representation Disentanglement of Text, section 4). Its
    encoder gives D numbers. It has no prior, unless one is fitted to its codes after training (Ghosh et al., ICLR 2020, whose
    regularised autoencoders are this one with weight decay), and no likelihood of samples, since its posterior has no density:
    measures that need these do not apply.

    Args:
        spec: see `Autoencoder`, as `latent_dim`, `nets`, `likelihoods`, `scales` and `prior`.
    """

    family = Point
    numbers = 1

    def __init__(
        self,
        spec: Spec,
        *,
        latent_dim: int = 24,
        nets: Mapping[str, Net] | None = None,
        likelihoods: Mapping[str, ViewLikelihood] | None = None,
        scales: Scales = "none",
        prior: ExPostMixture | None = None,
    ) -> None:
        super().__init__(spec, latent_dim=latent_dim, nets=nets, likelihoods=likelihoods, scales=scales, prior=prior)

    def experts(self, raw: Tensor) -> Diagonal:
        """The codes themselves; see `Autoencoder`."""
        return Point(raw.float())

    def code(self, observation: Observation, progress: Progress, generator: torch.Generator | None) -> tuple[Tensor, Loss]:
        """The codes, which cost nothing."""
        codes = self.joint(observation.experts, observation.present).mean
        return codes, Loss(codes.new_zeros(()))

    def posterior(self, observation: Observation) -> Posterior:
        """The codes; where nothing is present, the fitted prior.

        Raises:
            NotApplicableError: nothing is present in some sample, and no prior is fitted.
        """
        if self.fitted is None and not bool(observation.present.all()):
            raise NotApplicableError(f"a sample of which nothing is present has no code: {_FIT}")
        return super().posterior(observation)

    def prior(self, size: int) -> Posterior:
        """The fitted prior.

        Raises:
            NotApplicableError: none is fitted.
        """
        if self.fitted is None:
            raise NotApplicableError(f"an autoencoder has no prior: {_FIT}")
        return self.fitted.prior(size)

    def log_likelihood(self, batch: Batch, k: int, generator: torch.Generator | None = None) -> Tensor:
        """Raises NotApplicableError: there is no posterior density to weigh codes by."""
        raise NotApplicableError("an autoencoder has no likelihood of samples, because its codes have no density: use a VAE")


_FIT = "have one fitted to its codes, `prior: {components: 64}`, or use a VAE"
