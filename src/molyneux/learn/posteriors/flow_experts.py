"""Posteriors from the flows of several modalities: their mixture, which has a density, and their product, which is resampled."""

from __future__ import annotations

import torch
from torch import Tensor

from molyneux.core import NotApplicableError
from molyneux.learn.posteriors.combinations import draw_component
from molyneux.learn.posteriors.diagonal import DiagonalNormal
from molyneux.learn.posteriors.flows import Flow, codes_of, fixed_noise, noise_of

_FIXED_DRAWS = 32
"""Draws of each expert that the mean of a product is estimated with; always the same ones."""

_ROWS = 2**16
"""Candidates that are weighed at once."""


class FlowMixture:
    """The mixture of the present experts; each is what its flow makes of normal noise. Satisfies `core.CodeDistribution`.

    Args:
        flows: M maps from codes to noise, of the same sizes.
        bases: distributions of the noise, loc (M, B, D).
        present: (M, B) bool; a sample without any expert follows the standard normal distribution.
    """

    def __init__(self, flows: list[Flow], bases: DiagonalNormal, present: Tensor) -> None:
        self.flows, self.bases, self.present = flows, bases.where(present), present
        count = present.sum(0)
        self.weights = present.float() / count.clamp_min(1)
        self.nothing = count == 0

    @property
    def mean(self) -> Tensor:
        """The mean, (B, D), estimated with fixed draws."""
        each = self._codes(fixed_noise(_FIXED_DRAWS, self.bases.loc).unsqueeze(1)).mean(1)
        return (self.weights.unsqueeze(-1) * each).sum(0)

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Samples, (*sample_shape, B, D): an expert is drawn for each, then reparameterised noise."""
        shape = (*sample_shape, *self.bases.loc.shape[1:])
        noise = torch.randn(shape, generator=generator, device=self.bases.loc.device)
        choice = draw_component(self.weights, tuple(sample_shape), generator)
        each = self._codes(noise)
        chosen = each.gather(0, choice[None, ..., None].expand(1, *shape)).squeeze(0)
        return torch.where(self.nothing.unsqueeze(-1), noise, chosen)

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats, (*leading, B, D) -> (*leading, B)."""
        weights = self.weights.log().reshape(len(self.flows), *[1] * (value.dim() - 2), -1)
        mixture = (self.expert_log_probs(value) + weights).logsumexp(0)
        return torch.where(self.nothing, DiagonalNormal.standard(value.shape, value).log_prob(value), mixture)

    def expert_log_probs(self, value: Tensor) -> Tensor:
        """Log-density of each expert, (*leading, B, D) -> (M, *leading, B) nats."""
        noise, volume = noise_of(self.flows, value.unsqueeze(0))
        return self._bases(value.dim()).log_prob(noise) + volume

    def _codes(self, noise: Tensor) -> Tensor:
        """The codes that each flow makes of standard normal noise (..., B, D), (M, ..., B, D)."""
        bases = self._bases(noise.dim())
        return codes_of(self.flows, bases.loc + bases.stddev * noise)

    def _bases(self, axes: int) -> DiagonalNormal:
        """Of the noise, loc (M, 1, ..., B, D), for values with so many axes."""
        shape = (len(self.flows), *[1] * (axes - 2), *self.bases.loc.shape[1:])
        return DiagonalNormal(self.bases.loc.reshape(shape), self.bases.log_variance.reshape(shape))


class FlowProduct:
    """The product of the present experts, each a flow, divided by the prior: `prod_m q(z|x_m) / p(z)^(M - 1)`, renormalised.

    Codes are drawn by sampling-importance-resampling (Rubin, 1987): of several candidates from the mixture of the experts one is
    kept, with probabilities proportional to the product over the mixture. It is exact for one expert, and nears the product with
    the number of candidates. Satisfies `core.CodeDistribution`, but for the density of a product of several experts, which is
    known up to a factor only.

    Args:
        mixture: of the experts.
        candidates: for each code drawn.
    """

    def __init__(self, mixture: FlowMixture, candidates: int) -> None:
        self.mixture, self.count = mixture, mixture.present.sum(0)
        self.candidates = candidates if bool((self.count > 1).any()) else 1

    @property
    def mean(self) -> Tensor:
        """The mean, (B, D), estimated by importance sampling with draws that are the same for every sample."""
        codes = self.mixture._codes(fixed_noise(_FIXED_DRAWS, self.mixture.bases.loc).unsqueeze(1)).flatten(0, 1)
        weights = self.log_weights(codes) + self.mixture.weights.log().repeat_interleave(_FIXED_DRAWS, 0)
        mean = (torch.nan_to_num(weights.softmax(0)).unsqueeze(-1) * codes).sum(0)
        return torch.where(self.mixture.nothing.unsqueeze(-1), 0.0, mean)

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Samples, (*sample_shape, B, D); without gradient where a sample has several experts."""
        if self.candidates == 1:
            return self.mixture.rsample(sample_shape, generator)
        count, size = torch.Size(sample_shape).numel(), len(self.count)
        chunk = max(1, _ROWS // (self.candidates * max(1, size)))
        with torch.no_grad():
            drawn = [self._resampled(min(chunk, count - start), generator) for start in range(0, count, chunk)]
        return torch.cat(drawn).reshape(*sample_shape, *self.mixture.bases.loc.shape[1:])

    def _resampled(self, draws: int, generator: torch.Generator | None) -> Tensor:
        """One of the candidates for each draw, (draws, B, D)."""
        codes = self.mixture.rsample((self.candidates, draws), generator)
        steps = self.log_weights(codes).softmax(0).cumsum(0)
        uniform = torch.rand(steps.shape[1:], generator=generator, device=codes.device)
        choice = (steps <= uniform * steps[-1]).sum(0).clamp_max(self.candidates - 1)
        return codes.gather(0, choice[None, ..., None].expand(1, *codes.shape[1:])).squeeze(0)

    def log_weights(self, codes: Tensor) -> Tensor:
        """Logarithm of the product over the mixture, but for a factor, at codes (N, ..., B, D): (N, ..., B)."""
        present = self.mixture.present.reshape(len(self.mixture.present), *[1] * (codes.dim() - 2), -1)
        experts = (self.mixture.expert_log_probs(codes) * present).sum(0)
        prior = DiagonalNormal.standard(codes.shape, codes).log_prob(codes)
        return experts - (self.count - 1) * prior - self.mixture.log_prob(codes)

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats, (*leading, B, D) -> (*leading, B).

        Raises:
            NotApplicableError: for some sample there are several experts.
        """
        if self.candidates > 1:
            raise NotApplicableError("the product of several flows has no density in closed form: observe one modality, or all")
        return self.mixture.log_prob(value)
