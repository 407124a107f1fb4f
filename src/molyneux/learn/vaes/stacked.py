"""Stacked posteriors of the shared code, whose bounds on the log-likelihood a model adds up, and what objectives need of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from molyneux.core import CodeDistribution, NotApplicableError, Progress
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.objectives import ElboTerms, Estimates, LogWeights, Sampled
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, MixturePosterior, WhereDistribution, draw_component
from molyneux.learn.priors.conditional import PrivateDensity
from molyneux.learn.vaes.networks import Networks, Observation

ROWS = 1024
"""Codes of the shared space that are decoded at once, where no gradient is needed."""

NUMBERS = 2**25
"""Numbers of decoded views that are kept at once for a gradient where samples are decoded in chunks: 128 MiB in 32 bits."""


@dataclass(frozen=True)
class CrossCodes:
    """Private codes of a modality that only one bound infers.

    Args:
        own: number of the bound that draws them from their posterior, and counts their divergence from the prior.
        others: what all other bounds draw them from, over (B, P).
    """

    own: int
    others: Diagonal


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
        prior: what divergences are from, if not the prior of the model.
        rate: the divergence of all bounds together, (B,) nats, in closed form; None: that of `posterior` in closed form, or,
            with a `density` or `prior`, estimated with the codes drawn.
        reconstructs: for each modality the numbers of the bounds that reconstruct it, (R,) int64; all for what is not named.
        members: for each modality the samples for which these bounds reconstruct it, (R, B) bool; all for what is not named.
        cross: modalities whose private codes are inferred in one bound only; others infer them once for all bounds.
    """

    posterior: Diagonal | MixturePosterior
    weight: Tensor
    density: CodeDistribution | None = None
    prior: CodeDistribution | None = None
    rate: Tensor | None = None
    reconstructs: Mapping[str, Tensor] = field(default_factory=dict)
    members: Mapping[str, Tensor] = field(default_factory=dict)
    cross: Mapping[str, CrossCodes] = field(default_factory=dict)

    def rsample(self, k: int, generator: torch.Generator | None) -> Tensor:
        """K codes of each posterior, (K, S, B, D)."""
        shape = (k, 1) if isinstance(self.posterior, MixturePosterior) else (k,)
        return self.posterior.rsample(shape, generator)

    def log_prob(self, codes: Tensor) -> Tensor:
        """Log-density of codes (..., S, B, D) that importance weights are divided by, (..., S, B) nats."""
        return (self.density or self.posterior).log_prob(codes)

    def divergence(self, codes: Tensor, prior: CodeDistribution) -> Tensor:
        """The sum of the divergences from the prior by weight, (B,) nats, with codes (S, B, D) where it is estimated."""
        if self.rate is not None:
            return self.rate
        if self.density is None and self.prior is None and isinstance(self.posterior, Diagonal):
            return (self.weight * self.posterior.kl()).sum(0)
        return (self.weight * (self.log_prob(codes) - (self.prior or prior).log_prob(codes))).sum(0)

    def rows(self, name: str) -> Tensor:
        """Numbers of the bounds that reconstruct a modality, (R,) int64."""
        every = torch.arange(self.weight.shape[0], device=self.weight.device)
        return self.reconstructs.get(name, every)


@dataclass
class StackEstimates(Estimates):
    """What an objective needs of a model with stacked posteriors, for one batch.

    Private codes are drawn once per step, or K times, and shared by all bounds that reconstruct their modality; see `CrossCodes`
    for the other way.

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
            if name in self.stack.members:
                weight = weight * self.stack.members[name]
            code = None if private is None else private.rsample((), self.generator)
            cross = self.stack.cross.get(name)
            if private is not None and code is not None:
                counted = weight if cross is None else self.stack.weight[cross.own].unsqueeze(0)
                rate[f"private.{name}"] = self._private_rate(name, codes[rows], counted, private, code)
            if cross is not None and code is not None:
                code = self._crossed(name, cross, code)
            distortion[name] = self._distortion(name, codes[rows], weight, code)
        return ElboTerms(distortion, rate, self.observation.present.any(0))

    def log_weights(self, k: int, *, chunk: int, detached: bool = False) -> LogWeights:
        """See `Estimates`."""
        codes = self.stack.rsample(k, self.generator)
        private = {name: part.rsample((k,), self.generator).unsqueeze(1) for name, part in self.observation.private.items()}
        inferred = [(codes, torch.arange(codes.shape[1], device=codes.device))]
        for name in private if detached else ():
            cross = self.stack.cross.get(name)
            rows = self.stack.rows(name) if cross is None else torch.tensor([cross.own], device=codes.device)
            private[name] = private[name].expand(-1, len(rows), -1, -1)  # one for each bound, whose gradients differ
            inferred.append((private[name], rows))
        drawn = {**private, **{name: self._crossed(name, cross, private[name]) for name, cross in self.stack.cross.items()}}
        names = tuple(drawn)

        def part(shared: Tensor, *others: Tensor) -> Tensor:
            return self._log_weights(shared, dict(zip(names, others, strict=True)), detached)

        graph = torch.is_grad_enabled()
        size = k if self.networks.fits_batches else self._chunk(k, chunk, codes[0, ..., 0].numel(), graph=graph)
        parts = zip(*(torch.split(item, size) for item in (codes, *drawn.values())), strict=True)
        if graph and k > size:
            found = [cast(Tensor, checkpoint(part, *each, use_reentrant=False)) for each in parts]
        else:
            found = [part(*each) for each in parts]
        values = found[0] if len(found) == 1 else torch.cat(found)
        return LogWeights(values, self.stack.weight, inferred if detached else ())

    def _chunk(self, k: int, chunk: int, codes: int, *, graph: bool) -> int:
        """How many of `k` samples of so many codes each are decoded at once.

        Where there are more than the `chunk` that is asked for, and the gradient decodes each again, it takes no longer to
        decode fewer at once: as few as keep memory small whatever the batch and the views.
        """
        if not graph:
            return max(chunk, ROWS // max(1, codes))
        numbers = sum(self.networks.spec.modality(name).size for name in self.observation.names)
        return chunk if k <= chunk else max(1, min(chunk, NUMBERS // max(1, codes * numbers)))

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

    def _distortion(self, name: str, shared: Tensor, weight: Tensor, private: Tensor | None) -> Tensor:
        """Negative log-likelihood of one modality, summed over stacked codes (T, B, D) by weight (T, B): (B,) nats."""
        if name in self.drawn and len(shared) > 1:
            weight = weight * self.observation.mask(name)
            choice = draw_component(weight, (1,), self.generator)
            each = torch.arange(shared.shape[1], device=choice.device)
            shared, weight = shared[choice, each], weight.sum(0, keepdim=True)
            private = private[choice, each] if private is not None and private.dim() == 3 else private
        found = self.networks.log_likelihood(self.observation, name, shared, private, weight=weight)
        return -(weight * found).sum(0)

    def _crossed(self, name: str, cross: CrossCodes, own: Tensor) -> Tensor:
        """Private codes (..., R, B, P) of the bounds that reconstruct a modality, from inferred ones, (B, P) or (K, 1, B, P)."""
        rows = self.stack.rows(name)
        others = cross.others.rsample((*own.shape[:-3], len(rows)), self.generator)
        return torch.where((rows == cross.own).reshape(-1, 1, 1), own, others)

    def _log_weights(self, codes: Tensor, private: Mapping[str, Tensor], detached: bool) -> Tensor:
        """Log-weights of shared codes (K, S, B, D) and private codes (K, R or 1, B, P), (K, S, B) nats."""
        stack, k = self.stack, len(codes)
        density = stack.density or stack.posterior
        total = (stack.prior or self.prior).log_prob(codes) - _constant(density, detached).log_prob(codes)
        for name in self.observation.names:
            rows = stack.reconstructs.get(name, slice(None))
            shared, weight = codes[:, rows], stack.weight[rows].expand(k, -1, -1)
            each = self.scales[name] * self.networks.log_likelihood(
                self.observation, name, shared, private.get(name), weight=weight
            )
            if name in stack.members:
                each = each * stack.members[name]
            if name in private:
                prior, posterior = self._private_densities(name, private[name], shared, detached)
                each = each + prior - posterior
            total = total.index_add(1, stack.rows(name), each)
        return total

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

    def _private_prior(self, name: str, shared: Tensor, private: Diagonal) -> CodeDistribution:
        """The prior of the private codes of one modality given shared codes (..., B, D); its posterior where it is absent."""
        if self.private_priors is None or name not in self.private_priors:
            return private.standard(tuple(private.loc.shape), private.loc)
        learned = self.private_priors[name].given(shared)
        return WhereDistribution(self.observation.mask(name), learned, private)

    def _private_densities(self, name: str, codes: Tensor, shared: Tensor, detached: bool) -> tuple[Tensor, Tensor]:
        """`log p` and `log q` of private codes (K, R or 1, B, P), given shared ones (K, R, B, D), each (K, R or 1, B) nats.

        They are 0 where bounds do not infer private codes.
        """
        posterior, cross = self.observation.private[name], self.stack.cross.get(name)
        prior = self._private_prior(name, shared, posterior)
        densities = prior.log_prob(codes), _constant(posterior, detached).log_prob(codes)
        if cross is None:
            return densities
        own = (self.stack.rows(name) == cross.own).unsqueeze(-1)
        return densities[0] * own, densities[1] * own


def _constant(density: CodeDistribution, detached: bool) -> CodeDistribution:
    """The same density, as a constant of its parameters if it is to be `detached`."""
    return density.detach() if detached and isinstance(density, Diagonal | MixturePosterior) else density
