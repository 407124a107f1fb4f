"""Posteriors of the shared code, stacked: the terms and log-weights of the bounds that a model adds up."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from molyneux.core import CodeDistribution, NotApplicableError, Progress
from molyneux.learn.objectives import ElboTerms, Estimates, LogWeights, Sampled
from molyneux.learn.posteriors import Diagonal, Mixture, draw_component
from molyneux.learn.vaes.networks import Networks, Observation


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

    def rows(self, name: str) -> Tensor | slice:
        """The bounds that reconstruct a modality."""
        return self.reconstructs.get(name, slice(None))


class StackEstimates(Estimates):
    """What an objective needs of a model with stacked posteriors, for one batch.

    Private codes are drawn once per step, or K times, and shared by all bounds that reconstruct their modality.

    Args:
        networks: the networks of the model.
        observation: the batch, encoded.
        stack: the posteriors.
        prior: the prior of the shared code of the loss, over (B, D).
        progress: where training stands.
        generator: the randomness.
        drawn: modalities that are reconstructed from one of the stacked codes of each sample, drawn by weight.
    """

    def __init__(
        self,
        networks: Networks,
        observation: Observation,
        stack: StackedPosteriors,
        prior: CodeDistribution,
        progress: Progress,
        generator: torch.Generator | None,
        *,
        drawn: Collection[str] = (),
    ) -> None:
        self.networks, self.observation, self.stack, self.prior = networks, observation, stack, prior
        self.progress, self.scales, self.generator, self.drawn = progress, networks.scales, generator, drawn

    def terms(self) -> ElboTerms:
        """See `Estimates`."""
        codes = self.stack.rsample(1, self.generator)[0]
        distortion, rate = {}, {"shared": self.stack.divergence(codes, self.prior)}
        for name in self.observation.names:
            rows, private = self.stack.rows(name), self.observation.private.get(name)
            weight = self.stack.weight[rows]
            code = None if private is None else private.rsample((), self.generator)
            distortion[name] = self._distortion(name, codes[rows], weight, code)
            if private is not None:
                rate[f"private.{name}"] = weight.sum(0) * private.kl()
        return ElboTerms(distortion, rate, self.observation.present.any(0))

    def log_weights(self, k: int) -> LogWeights:
        """See `Estimates`."""
        codes = self.stack.rsample(k, self.generator)
        total = self.prior.log_prob(codes) - self.stack.log_prob(codes)
        for name in self.observation.names:
            rows, private = self.stack.rows(name), self.observation.private.get(name)
            code = None if private is None else private.rsample((k,), self.generator).unsqueeze(1)
            shared, weight = codes[:, rows], self.stack.weight[rows].expand(k, -1, -1)
            found = self.networks.log_likelihood(self.observation, name, shared, code, weight=weight)
            each = self.scales[name] * found
            if private is not None and code is not None:
                each = each + private.standard(tuple(private.loc.shape), private.loc).log_prob(code) - private.log_prob(code)
            index = torch.arange(total.shape[1], device=total.device)[rows]
            total = total.index_add(1, index, each)
        return LogWeights(total, self.stack.weight)

    def sampled(self) -> tuple[Sampled, Tensor]:
        """See `Estimates`.

        Raises:
            NotApplicableError: the model has several modalities.
        """
        posterior = self.stack.posterior
        if len(self.observation.names) > 1 or not isinstance(posterior, Diagonal):
            raise NotApplicableError("penalties of codes serve models of one modality: choose ELBO or IWAE")
        codes = self.stack.rsample(1, self.generator)[0, 0]
        return Sampled(posterior[0], codes, self.progress, self.generator), self.observation.present[0]

    def distortion(self, codes: Tensor) -> dict[str, Tensor]:
        """See `Estimates`."""
        weight = torch.ones_like(codes[..., 0]).unsqueeze(0)
        return {name: self._distortion(name, codes.unsqueeze(0), weight, None) for name in self.observation.names}

    def _distortion(self, name: str, shared: Tensor, weight: Tensor, private: Tensor | None) -> Tensor:
        """Negative log-likelihood of one modality, summed over stacked codes (T, B, D) by weight (T, B): (B,) nats."""
        if name in self.drawn and len(shared) > 1:
            weight = weight * self.observation.mask(name)
            choice = draw_component(weight, (1,), self.generator)
            shared, weight = shared[choice, torch.arange(shared.shape[1], device=choice.device)], weight.sum(0, keepdim=True)
        found = self.networks.log_likelihood(self.observation, name, shared, private, weight=weight)
        return -(weight * found).sum(0)
