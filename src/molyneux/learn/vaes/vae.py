"""The variational autoencoder of one modality."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from molyneux.core import Loss, Posterior, Progress, Spec, TrainingError
from molyneux.learn.likelihoods import Scales, ViewLikelihood
from molyneux.learn.nets import Net
from molyneux.learn.objectives import Divergence, Objective, Sampled, Weight, frozen, weight_problems
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.vaes.aggressive import Aggressive
from molyneux.learn.vaes.observation import Observation
from molyneux.learn.vaes.unimodal import UnimodalAutoencoder


class VAE(UnimodalAutoencoder):
    """Kingma & Welling, Auto-Encoding Variational Bayes (ICLR 2014): `E_q(z|x) log p(x|z) - KL(q(z|x) || p(z))`.

    Equation 3 with one sample; the divergence in closed form. The baseline of every multimodal model: what one sense alone
    can know. An `objective` puts another cost in the place of the divergence: beta-VAE, CCI-VAE, beta-TCVAE, FactorVAE, DIP-VAE
    and MAT-VAE are this model with another objective.

    Reported are always `distortion.<modality>` and `rate.shared`, the divergence from the prior, whatever is minimised. Samples
    in which the modality is absent enter no statistic of an objective, and cost nothing.

    Args:
        spec: see `Autoencoder`, as `latent_dim`, `nets`, `likelihoods`, `scales` and `prior`.
        beta: weight of the divergence, constant or scheduled; 1 by default. Short for the objective `Divergence(beta)`.
        objective: what is minimised beside the distortion.
        aggressive: whether the encoder is trained more often than the decoder at first.

    Raises:
        ConfigError: settings that cannot be used, all problems at once.
        SpecError: a net or likelihood that does not fit its modality.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        latent_dim: int = 24,
        beta: Weight | None = None,
        objective: Objective | None = None,
        aggressive: Aggressive | None = None,
        nets: Mapping[str, Net] | None = None,
        likelihoods: Mapping[str, ViewLikelihood] | None = None,
        scales: Scales = "none",
        prior: ExPostMixture | None = None,
    ) -> None:
        problems = [] if beta is None else weight_problems(beta=beta)
        if objective is not None and not isinstance(objective, Objective):
            problems.append(f"objective: expected an Objective, such as Divergence(), got {objective!r}")
        elif beta is not None and objective is not None:
            problems.append(f"beta: the objective {type(objective).__name__} has its own weights: give one of the two")
        super().__init__(
            spec, latent_dim=latent_dim, nets=nets, likelihoods=likelihoods, scales=scales, prior=prior, problems=problems
        )
        self.aggressive = aggressive
        self.penalty = (objective or Divergence(1.0 if beta is None else beta)).build(latent_dim)

    @property
    def replaces_prior(self) -> bool:
        """See `Autoencoder`."""
        return self.penalty.own_prior or super().replaces_prior

    def prior(self, size: int) -> Posterior:
        """The prior over codes of `size` samples: the fitted one if there is any, else that of the objective."""
        if self.fitted is not None:
            return self.fitted.prior(size)
        return Posterior(self.penalty.prior(size, next(self.parameters()).new_empty(self.latent_dim)))

    def code(self, observation: Observation, progress: Progress, generator: torch.Generator | None) -> tuple[Tensor, Loss]:
        """One sample of each posterior, and what the objective has it cost."""
        posterior = self.joint(observation.experts, observation.present)
        codes, present = posterior.rsample((1,), generator)[0], observation.present[0]
        rows = slice(None) if bool(present.all()) else present
        sampled = Sampled(posterior[rows], codes[rows], progress, generator)
        cost, share = self._cost(sampled), len(sampled.codes) / len(codes)
        return codes, Loss(share * cost.total, {name: share * term for name, term in cost.terms.items()})

    def decoding(self, progress: Progress) -> AbstractContextManager[None]:
        """With the decoder as a constant in steps that spare it."""
        spared = self.training and self.aggressive is not None and self.aggressive.spares_decoder(progress)
        return frozen(self.decoders) if spared else nullcontext()

    def _cost(self, sampled: Sampled) -> Loss:
        """What the present samples cost in the mean; too few for a statistic cost nothing, unless the model learns from them."""
        size, nothing = len(sampled.codes), sampled.codes.new_zeros(())
        if size >= self.penalty.fewest:
            cost: Loss = self.penalty(sampled)
            return cost
        if self.training and size:
            raise TrainingError(
                f"the objective needs at least {self.penalty.fewest} present samples in a batch for its statistics, got {size}: "
                "raise batch_size"
            )
        return Loss(nothing, {"rate.shared": self.penalty.rate(sampled).sum().detach() / max(1, size)})
