"""The contract of the multimodal VAEs: stacked posteriors of the shared code, whose bounds on the log-likelihood they add up."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Unpack

import torch
from torch import Tensor

from molyneux.core import Batch, CodeDistribution, Loss, NotApplicableError, Progress, Spec
from molyneux.learn.by_modality import ModalityDict
from molyneux.learn.objectives import ELBO, Bound, ElboTerms, Estimates, LogWeights, Sampled, Weight, weight_problems
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, Mixture, WhereDistribution, draw_component
from molyneux.learn.private_priors import PrivateDensity
from molyneux.learn.vaes.autoencoder import Autoencoder, SharedSettings, importance_log_likelihood, reporting
from molyneux.learn.vaes.networks import Networks, Observation, unknown_names


@dataclass(frozen=True)
class StackedPosteriors:
    """S posteriors of the shared code of each sample; the loss is the sum of their S bounds by weight.

    This is what a multimodal VAE defines. Its expectation `sum_s weight_s (E_s sum_m log p(x_m|z) - KL_s)`, over the modalities m
    that bound s reconstructs, and the importance-weighted forms of it follow.

    Args:
        posterior: loc (S, B, D), of which codes are drawn; or a mixture over codes (B, D), of which codes of one bound are drawn.
        weight: what each bound counts, (S, B).
        density: what codes are weighed by, if not by the posterior they are drawn of: a mixture, where codes are drawn of each
            of its components.
        rate: the divergence of all bounds together, (B,) nats, in closed form; None: that of `posterior` in closed form, or,
            with a `density`, estimated with the codes drawn.
        reconstructs: for each modality the numbers of the bounds that reconstruct it, (R,) int64; all for what is not named.
    """

    posterior: Diagonal | Mixture
    weight: Tensor
    density: CodeDistribution | None = None
    rate: Tensor | None = None
    reconstructs: Mapping[str, Tensor] = field(default_factory=dict)

    def rsample(self, k: int, generator: torch.Generator | None) -> Tensor:
        """K codes of each posterior, (K, S, B, D)."""
        shape = (k, 1) if isinstance(self.posterior, Mixture) else (k,)
        return self.posterior.rsample(shape, generator)

    def log_prob(self, codes: Tensor) -> Tensor:
        """Log-density of codes (..., S, B, D) that importance weights are divided by, (..., S, B) nats."""
        return (self.density or self.posterior).log_prob(codes)

    def divergence(self, codes: Tensor, prior: CodeDistribution) -> Tensor:
        """The sum of the divergences from the prior by weight, (B,) nats, with codes (S, B, D) where it is estimated."""
        if self.rate is not None:
            return self.rate
        if self.density is None and isinstance(self.posterior, Diagonal):
            return (self.weight * self.posterior.kl()).sum(0)
        return (self.weight * (self.log_prob(codes) - prior.log_prob(codes))).sum(0)


@dataclass
class StackEstimates(Estimates):
    """What an objective needs of a model with stacked posteriors, for one batch.

    Private codes are drawn once per step, or K times, and shared by all bounds that reconstruct their modality.

    Args:
        networks: of the model.
        observation: the batch, encoded.
        stack: the posteriors.
        prior: of the shared code, over (B, D), in the loss.
        progress: where training stands.
        generator: the randomness.
        drawn: modalities that are reconstructed from one of the stacked codes of each sample, drawn by weight.
        private_priors: priors of private codes given the shared code; standard ones where there are none.
    """

    networks: Networks
    observation: Observation
    stack: StackedPosteriors
    prior: CodeDistribution
    progress: Progress
    generator: torch.Generator | None
    drawn: Collection[str] = ()
    private_priors: ModalityDict[PrivateDensity] | None = None

    def __post_init__(self) -> None:
        self.scales = self.networks.scales

    def terms(self) -> ElboTerms:
        """See `Estimates`."""
        codes = self.stack.rsample(1, self.generator)[0]
        distortion, rate = {}, {"shared": self.stack.divergence(codes, self.prior)}
        for name in self.observation.names:
            rows, private = self.stack.reconstructs.get(name, slice(None)), self.observation.private.get(name)
            weight = self.stack.weight[rows]
            code = None if private is None else private.rsample((), self.generator)
            distortion[name] = self._distortion(name, codes[rows], weight, code)
            if private is not None and code is not None:
                rate[f"private.{name}"] = self._private_rate(name, codes[rows], weight, private, code)
        return ElboTerms(distortion, rate, self.observation.present.any(0))

    def log_weights(self, k: int) -> LogWeights:
        """See `Estimates`."""
        codes = self.stack.rsample(k, self.generator)
        total = self.prior.log_prob(codes) - self.stack.log_prob(codes)
        for name in self.observation.names:
            rows, private = self.stack.reconstructs.get(name, slice(None)), self.observation.private.get(name)
            code = None if private is None else private.rsample((k,), self.generator).unsqueeze(1)
            shared, weight = codes[:, rows], self.stack.weight[rows].expand(k, -1, -1)
            found = self.networks.log_likelihood(self.observation, name, shared, code, weight=weight)
            each = self.scales[name] * found
            if private is not None and code is not None:
                each = each + self._private_prior(name, shared, private).log_prob(code) - private.log_prob(code)
            index = torch.arange(total.shape[1], device=total.device)[rows]
            total = total.index_add(1, index, each)
        return LogWeights(total, self.stack.weight)

    def sampled(self) -> tuple[Sampled, Tensor]:
        """See `Estimates`; raises NotApplicableError if the model has several modalities."""
        posterior = self.stack.posterior
        if len(self.observation.names) > 1 or not isinstance(posterior, Diagonal):
            raise NotApplicableError("penalties of codes serve models of one modality: choose ELBO or IWAE")
        codes = self.stack.rsample(1, self.generator)[0, 0]
        return Sampled(posterior[0], codes, self.progress, self.generator), self.observation.present[0]

    def distortion(self, codes: Tensor) -> dict[str, Tensor]:
        """See `Estimates`."""
        weight = torch.ones_like(codes[..., 0]).unsqueeze(0)
        return {name: self._distortion(name, codes.unsqueeze(0), weight, None) for name in self.observation.names}

    def _private_prior(self, name: str, shared: Tensor, private: Diagonal) -> CodeDistribution:
        """The prior of the private codes of one modality given shared codes (..., B, D); its posterior where it is absent."""
        if self.private_priors is None or name not in self.private_priors:
            return private.standard(tuple(private.loc.shape), private.loc)
        learned = self.private_priors[name].given(shared)
        return WhereDistribution(self.observation.mask(name), learned, private)

    def _private_rate(self, name: str, shared: Tensor, weight: Tensor, private: Diagonal, code: Tensor) -> Tensor:
        """Divergence of a private posterior from its prior given stacked codes (T, B, D), summed by weight (T, B): (B,) nats."""
        if self.private_priors is None or name not in self.private_priors:
            return weight.sum(0) * private.kl()
        learned = self.private_priors[name].given(shared)
        if isinstance(learned, DiagonalNormal) and isinstance(private, DiagonalNormal):
            each = private.kl_to(learned)
        else:
            each = private.log_prob(code) - learned.log_prob(code)
        return (weight * each).sum(0) * self.observation.mask(name)

    def _distortion(self, name: str, shared: Tensor, weight: Tensor, private: Tensor | None) -> Tensor:
        """Negative log-likelihood of one modality, summed over stacked codes (T, B, D) by weight (T, B): (B,) nats."""
        if name in self.drawn and len(shared) > 1:
            weight = weight * self.observation.mask(name)
            choice = draw_component(weight, (1,), self.generator)
            shared, weight = shared[choice, torch.arange(shared.shape[1], device=choice.device)], weight.sum(0, keepdim=True)
        found = self.networks.log_likelihood(self.observation, name, shared, private, weight=weight)
        return -(weight * found).sum(0)


class _AllSettings(SharedSettings, total=False):
    private_dim: int | Mapping[str, int]


class MultimodalSettings(SharedSettings, total=False):
    """The settings that all multimodal VAEs share; see `MultimodalVAE`."""

    beta: Weight | None
    objective: Bound | None
    drawn: Collection[str]


class MultimodalVAE(Autoencoder):
    """A variational autoencoder of several modalities: `joint` gives its posterior, `stacked` those whose bounds it adds up.

    Satisfies `core.Likelihood` beside what an `Autoencoder` does.

    Args:
        spec: see `Autoencoder`, as the settings in `**shared`.
        beta: weight of the divergence terms, constant or scheduled; 1 by default. Short for the objective `ELBO(beta)`.
        objective: the bound that is maximised; by default the ELBO.
        drawn: modalities that are reconstructed, in training, from one of the step's stacked codes for each sample, drawn by
            weight, instead of from all: the same loss in expectation for less decoding and more noise. Only with the ELBO.
    """

    log_likelihood = importance_log_likelihood

    def __init__(
        self,
        spec: Spec,
        *,
        beta: Weight | None = None,
        objective: Bound | None = None,
        drawn: Collection[str] = (),
        **shared: Unpack[_AllSettings],
    ) -> None:
        problems = objective_problems(beta, objective, Bound, "a bound, such as ELBO() or IWAE()")
        problems += unknown_names(spec, {"drawn": drawn})
        if drawn and objective is not None and not isinstance(objective, ELBO):
            problems.append("drawn: only the objective ELBO takes single codes for some modalities: leave it out")
        with reporting(problems):
            super().__init__(spec, **shared)
        self.drawn = frozenset(drawn)
        self.private_priors = ModalityDict[PrivateDensity]()
        self.criterion = (objective or ELBO(1.0 if beta is None else beta)).build(self.latent_dim)

    @abstractmethod
    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The posteriors of the shared code whose bounds the model adds up; `generator` draws, for instance, subsets."""

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The negative of the model's bound; see `core.Trainable`. Divergences are from the standard prior, not a fitted one."""
        observation = self.observe_samples(batch)
        return self.bound(observation, self.stacked(observation, generator), progress, generator)

    def bound(
        self, observation: Observation, stack: StackedPosteriors, progress: Progress, generator: torch.Generator | None
    ) -> Loss:
        """The negative of the objective's bound for stacked posteriors."""
        prior, private = self.loss_prior.of(observation.present.shape[1]).shared, self.private_priors
        estimates = StackEstimates(self.networks, observation, stack, prior, progress, generator, self.drawn, private)
        return self.criterion.loss(estimates)


def objective_problems(beta: Weight | None, objective: object, kind: type, expected: str) -> list[str]:
    """Problems of two settings of which a model takes one: the weight `beta` or an objective of this kind."""
    problems = [] if beta is None else weight_problems(beta=beta)
    if objective is not None and not isinstance(objective, kind):
        problems.append(f"objective: expected {expected}, got {objective!r}")
    elif beta is not None and objective is not None:
        problems.append(f"beta: the objective {type(objective).__name__} has its own weights: give one of the two")
    return problems
