"""The contract of an objective, and the bounds that serve every variational autoencoder: ELBO and IWAE."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from molyneux.core import CodeDistribution, Loss, Progress
from molyneux.learn.checks import levels_below_zero, refuse, too_small
from molyneux.learn.objectives.weights import Weight, weight_at, weight_problems
from molyneux.learn.posteriors import Diagonal

S = TypeVar("S", bound="Objective")


@dataclass(frozen=True)
class ElboTerms:
    """The terms of an evidence lower bound, each (B,) nats per sample.

    Args:
        distortion: expected negative log-likelihood of each modality, unscaled; 0 where it is absent.
        rate: divergence of each latent group (`shared`, `private.<modality>`) from the prior.
        observed: samples of which some modality is present, (B,) bool; the others cost nothing.
    """

    distortion: Mapping[str, Tensor]
    rate: Mapping[str, Tensor]
    observed: Tensor


@dataclass(frozen=True)
class LogWeights:
    """Logarithms of the importance weights `p(x, z_k) / q(z_k | x)` of K samples, for each of the S bounds that a model adds up.

    Args:
        values: (K, S, B) nats; likelihoods are multiplied by the scales of their modalities.
        weight: what each bound counts, (S, B).
        codes: the codes drawn from posteriors, where they were asked for `detached`: each (K, R, B, D), and the numbers of the R
            bounds that have them, (R,) int64.
    """

    values: Tensor
    weight: Tensor
    codes: Sequence[tuple[Tensor, Tensor]] = ()


@dataclass(frozen=True)
class Sampled:
    """Posteriors of N samples of one modality, and one code drawn from each.

    Args:
        posterior: the posteriors, loc (N, D).
        codes: one sample of each, (N, D).
        progress: where training stands.
        generator: the randomness of whatever else is drawn.
    """

    posterior: Diagonal
    codes: Tensor
    progress: Progress
    generator: torch.Generator | None = None


class Estimates(ABC):
    """What a model gives an objective for a batch: call one of the methods, once, since each draws and decodes."""

    progress: Progress
    scales: Mapping[str, float]
    """Weights of the log-likelihoods of the modalities."""

    @abstractmethod
    def terms(self) -> ElboTerms:
        """The terms of the evidence lower bound, with one sample of each posterior."""

    @abstractmethod
    def log_weights(self, k: int, *, chunk: int, detached: bool = False) -> LogWeights:
        """The log-weights of `k` samples of each posterior, with gradients (reparameterised).

        Args:
            k: samples of each posterior.
            chunk: how many of them are decoded at once. Where there are more, the decodings are not kept for the backward pass
                but repeated in it, so memory does not grow with k; gradients are the same.
            detached: whether densities of posteriors are constants of their parameters, which gradients then reach through the
                codes alone (Roeder et al., NeurIPS 2017).
        """

    @abstractmethod
    def sampled(self) -> tuple[Sampled, Tensor]:
        """Posteriors with one code of each, and where the modality is present, (B,) bool; of models of one modality."""

    @abstractmethod
    def distortion(self, codes: Tensor) -> dict[str, Tensor]:
        """Negative log-likelihood of each modality given shared codes (B, D), (B,) nats; 0 where it is absent."""


class Objective(ABC):
    """What a model minimises: settings, a frozen dataclass that is checked at construction."""

    @abstractmethod
    def build(self, latent_dim: int) -> Criterion[Any]:
        """The loss function for codes with this number of dimensions."""


class Criterion(nn.Module, ABC, Generic[S]):
    """A loss function of what a model gives for a batch. It may have parameters, which the optimiser of the model trains."""

    settings: S
    prior: Callable[[tuple[int, ...], Tensor], CodeDistribution] | None = None
    """Gives the prior over codes of a shape, on the device of a tensor, where it is another than that of the model's family."""

    @property
    def whole_batch(self) -> str:
        """What of the loss looks at the whole batch and is no mean over samples, in a few words; empty where all of it is one."""
        return ""

    def __init__(self, settings: S | None = None) -> None:
        super().__init__()
        if settings is not None:
            self.settings = settings

    @abstractmethod
    def loss(self, estimates: Estimates) -> Loss:
        """The loss, a mean over the batch in nats per sample, and its terms, detached."""


class Bound(Objective):
    """A bound on the log-likelihood, which serves every variational autoencoder and has no parameters."""

    def build(self, latent_dim: int) -> Criterion[Bound]:
        """See `Objective`."""
        return _BoundCriterion(self)

    @property
    def whole_batch(self) -> str:
        """See `Criterion`."""
        return ""

    @abstractmethod
    def loss(self, estimates: Estimates) -> Loss:
        """See `Criterion`."""


class _BoundCriterion(Criterion[Bound]):
    @property
    def whole_batch(self) -> str:
        """See `Criterion`."""
        return self.settings.whole_batch

    def loss(self, estimates: Estimates) -> Loss:
        """See `Criterion`."""
        return self.settings.loss(estimates)


@dataclass(frozen=True)
class ELBO(Bound):
    """The evidence lower bound with one sample: `mean over the batch of sum_m scale_m distortion_m + beta sum_g rate_g`.

    Kingma & Welling, Auto-Encoding Variational Bayes (ICLR 2014), equation 3, for beta 1 and scales 1; Higgins et al., beta-VAE
    (ICLR 2017), equation 4. With a capacity C, the second term is `beta |sum_g rate_g - C|` for each sample (Burgess et al.,
    Understanding disentangling in beta-VAE, 2018, equation 8). With free bits lambda it is `beta sum_g max(lambda, mean over the
    batch of rate_g)` (Kingma et al., NeurIPS 2016, equation 15, whose groups are the latent groups). Terms are reported unscaled,
    as `distortion.<modality>` and `rate.<group>`.

    Args:
        beta: weight of the divergence, constant or scheduled.
        capacity: C in nats, constant or scheduled; None for none.
        free_bits: lambda in nats per latent group; 0 for none.
    """

    beta: Weight = 1.0
    capacity: Weight | None = None
    free_bits: float = 0.0

    def __post_init__(self) -> None:
        problems = weight_problems(beta=self.beta) + levels_below_zero(free_bits=self.free_bits)
        if self.capacity is not None:
            problems += weight_problems(capacity=self.capacity)
            if self.free_bits:
                problems.append("free_bits: a capacity and free bits exclude each other: give one of the two")
        refuse(problems)

    @property
    def whole_batch(self) -> str:
        """See `Criterion`."""
        return "free bits" if self.free_bits else ""

    def loss(self, estimates: Estimates) -> Loss:
        """See `Criterion`."""
        found = estimates.terms()
        distortion = {name: term.mean() for name, term in found.distortion.items()}
        rate = {name: term.mean() for name, term in found.rate.items()}
        cost = torch.stack([estimates.scales[name] * term for name, term in distortion.items()]).sum()
        total = cost + weight_at(self.beta, estimates.progress) * self._divergence(found, estimates.progress)
        terms = {f"distortion.{name}": term.detach() for name, term in distortion.items()}
        return Loss(total, {**terms, **{f"rate.{name}": term.detach() for name, term in rate.items()}})

    def _divergence(self, terms: ElboTerms, progress: Progress) -> Tensor:
        """What beta weighs: the rates, their distance from the capacity, or what of them is not free."""
        if self.capacity is not None:
            whole = torch.stack(list(terms.rate.values())).sum(0)
            return ((whole - weight_at(self.capacity, progress)).abs() * terms.observed).mean()
        each = torch.stack([term.mean() for term in terms.rate.values()])
        free = self.free_bits * terms.observed.float().mean()
        return (torch.maximum(each, free) if self.free_bits else each).sum()


@dataclass(frozen=True)
class IWAE(Bound):
    """The importance-weighted bound `log 1/K sum_k p(x, z_k) / q(z_k | x)`, with K samples z_k of the posterior.

    Burda et al., Importance Weighted Autoencoders (ICLR 2016), equation 8. It is at least the ELBO, and tends to the
    log-likelihood as K grows. A model that adds up several bounds, such as those of the subsets of MVAE or of the experts of
    MMVAE (Shi et al., NeurIPS 2019, equation 3), adds up this one instead of each. The time of a step grows with K; memory does
    not beyond a `chunk` of samples. A likelihood with `scale: optimal` is fitted to all K together and therefore not chunked.

    Reported are `iwae`, the bound, and `elbo`, the mean of the same log-weights. Scales multiply the log-likelihoods in both.

    Args:
        samples: K.
        chunk: how many of the K samples are decoded at once at most; where there are more, each is decoded again in the backward
            pass, and as few at once as keep the memory of large batches and views small.
    """

    samples: int = 8
    chunk: int = 8

    def __post_init__(self) -> None:
        refuse(too_small(self, "samples", "chunk"))

    def loss(self, estimates: Estimates) -> Loss:
        """See `Criterion`."""
        return importance_weighted(estimates.log_weights(self.samples, chunk=self.chunk))


def importance_weighted(found: LogWeights) -> Loss:
    """The negative importance-weighted bound of K samples, with the terms `iwae` and `elbo`; see `IWAE`."""
    bound = found.values.logsumexp(0) - math.log(len(found.values))
    total, elbo = ((found.weight * item).sum(0).mean() for item in (bound, found.values.mean(0)))
    return Loss(-total, {"iwae": total.detach(), "elbo": elbo.detach()})
