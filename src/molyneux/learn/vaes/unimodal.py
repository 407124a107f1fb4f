"""Models of one modality: their contract, the autoencoder and the variational autoencoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Unpack

import torch
from torch import Tensor

from molyneux.core import Batch, Loss, NotApplicableError, Posterior, Progress, Spec
from molyneux.learn.checks import refuse, shares_out_of_range, too_small
from molyneux.learn.objectives import BetaVAE, Objective, Weight, frozen
from molyneux.learn.posteriors import Diagonal, Point
from molyneux.learn.priors import IndependentPrior
from molyneux.learn.vaes.autoencoder import (
    Autoencoder,
    SharedSettings,
    importance_log_likelihood,
    importance_log_weights,
    reporting,
)
from molyneux.learn.vaes.multimodal import objective_problems
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors, StackEstimates


class UnimodalAutoencoder(Autoencoder):
    """A model of one modality: the joint posterior is that of the only expert."""

    most_modalities = 1

    def __init__(self, spec: Spec, **shared: Unpack[SharedSettings]) -> None:
        super().__init__(spec, **shared)

    def joint(self, experts: Diagonal, present: Tensor) -> Diagonal:
        """The only expert, or the prior where its modality is absent."""
        return experts.where(present)[0]

    def reconstruction(self, observation: Observation, codes: Tensor, cost: Loss) -> Loss:
        """The distortion from one code of each sample, (B, D), and what these codes cost; the distortion is reported unscaled."""
        (name,) = observation.names
        weight = torch.ones_like(codes[..., 0])
        distortion = -self.networks.log_likelihood(observation, name, codes, weight=weight).mean()
        return Loss(self.scales[name] * distortion + cost.total, {f"distortion.{name}": distortion.detach(), **cost.terms})


class PointAutoencoder(Autoencoder):
    """A deterministic autoencoder: one code for each sample, and no prior unless one is fitted to the codes after training."""

    family = Point
    numbers = 1

    def experts(self, raw: Tensor) -> Diagonal:
        """The codes themselves; see `Autoencoder`."""
        return Point(raw.float())

    def posterior(self, observation: Observation) -> Posterior:
        """The codes; where nothing is present, the fitted prior, or NotApplicableError if none is fitted."""
        if self.fitted is None and not bool(observation.present.any(0).all()):
            raise NotApplicableError(f"a sample of which nothing is present has no code: {_FIT}")
        return super().posterior(observation)

    def prior(self, size: int) -> Posterior:
        """The fitted prior; raises NotApplicableError if there is none."""
        if self.fitted is None:
            raise NotApplicableError(f"an autoencoder has no prior: {_FIT}")
        return self.fitted.of(size)

    @property
    def priors(self) -> Mapping[str, Callable[[int], Posterior]]:
        """The fitted prior, if there is one."""
        return {} if self.fitted is None else {"fitted": self.fitted.of}


class AE(PointAutoencoder, UnimodalAutoencoder):
    """The deterministic autoencoder: one code for each sample, and `-log p(x | code)` is the loss.

    The baseline without a bottleneck of noise (Zhang et al., Unsupervised Representation Disentanglement of Text, section 4). Its
    encoder gives D numbers. It has no prior, unless one is fitted to its codes after training (Ghosh et al., ICLR 2020, whose
    regularised autoencoders are this one with weight decay), and no likelihood, since its posterior has no density.

    Args:
        spec: see `Autoencoder`, as all settings.
    """

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The distortion; see `core.Trainable`."""
        observation = self.observe_samples(batch)
        codes = self.joint(observation.experts, observation.present).mean
        return self.reconstruction(observation, codes, Loss(codes.new_zeros(())))


_FIT = "have one fitted to its codes, `prior: {components: 64}`, or use a VAE"


@dataclass(frozen=True)
class Aggressive:
    """The encoder is trained more often than the decoder at first: He et al. (ICLR 2019), algorithm 1.

    Lagging Inference Networks and Posterior Collapse in Variational Autoencoders. In the first `fraction` of the training only
    every `encoder_steps`-th step trains the decoder too: where the codes lag behind the decoder, it learns to ignore them.

    Deviations: in the paper the inner loop goes on until the bound rises no more, up to 100 steps, and the whole ends when the
    mutual information of codes and samples falls on validation data; here both are fixed numbers. In the paper a step trains
    either the encoder or the decoder; here the step of the decoder trains both. Weights that both share are the encoder's.

    Args:
        encoder_steps: of so many steps, one trains the decoder.
        fraction: share of the training in which this is so.
    """

    encoder_steps: int = 10
    fraction: float = 0.2

    def __post_init__(self) -> None:
        refuse([*too_small(self, "encoder_steps"), *shares_out_of_range("the training", fraction=self.fraction)])

    def spares_decoder(self, progress: Progress) -> bool:
        """Whether this step leaves the decoder as it is."""
        return progress.fraction < self.fraction and (progress.step + 1) % self.encoder_steps != 0


class VAE(UnimodalAutoencoder):
    """Kingma & Welling, Auto-Encoding Variational Bayes (ICLR 2014): `E_q(z|x) log p(x|z) - KL(q(z|x) || p(z))`.

    Equation 3 with one sample; the divergence in closed form. The baseline of every multimodal model: one modality alone. With
    another `objective` it is a beta-VAE, CCI-VAE, beta-TCVAE, FactorVAE, DIP-VAE or MAT-VAE; with IWAE the bound is
    importance-weighted.

    Args:
        spec: see `Autoencoder`, as the settings in `**shared`.
        beta: weight of the divergence, constant or scheduled; 1 by default. Short for the objective `BetaVAE(beta)`.
        objective: what is minimised.
        aggressive: whether the encoder is trained more often than the decoder at first.
    """

    log_likelihood = importance_log_likelihood
    log_weights = importance_log_weights

    def __init__(
        self,
        spec: Spec,
        *,
        beta: Weight | None = None,
        objective: Objective | None = None,
        aggressive: Aggressive | None = None,
        **shared: Unpack[SharedSettings],
    ) -> None:
        with reporting(objective_problems(beta, objective, Objective, "an Objective, such as BetaVAE()")):
            super().__init__(spec, **shared)
        self.aggressive = aggressive
        self.criterion = (objective or BetaVAE(1.0 if beta is None else beta)).build(self.latent_dim)
        if self.criterion.prior is not None:
            self.loss_prior = IndependentPrior(self.criterion.prior, self.networks.dims)

    @property
    def replaces_prior(self) -> bool:
        """See `Autoencoder`."""
        return self.criterion.prior is not None or super().replaces_prior

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """See `core.Trainable`; in steps that spare the decoder, it is a constant."""
        observation = self.observe_samples(batch)
        posterior = self.joint(observation.experts, observation.present)[None]
        stack = StackedPosteriors(posterior, torch.ones_like(posterior.loc[..., 0]))
        prior = self.loss_prior.of(len(batch)).shared
        estimates = StackEstimates(self.networks, observation, stack, prior, progress, generator)
        spared = self.training and self.aggressive is not None and self.aggressive.spares_decoder(progress)
        with frozen(self.decoders) if spared else nullcontext():
            return self.criterion.loss(estimates)
