"""Spike-and-slab distributions over codes, with a known or an uncertain probability of the spike."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from molyneux.learn.checks import not_positive, refuse
from molyneux.learn.posteriors.diagonal import Diagonal, DiagonalNormal

LOG_RATIO_BOUND = 3.0
"""Concentrations of posteriors are within a factor of e^3, about 20, of the prior's."""


class SparseNormal:
    """Independent dimensions, each from the spike N(0, spike^2) or from its slab. Satisfies `core.CodeDistribution`.

    Its density is that of the mixture, `w N(0, spike^2) + (1 - w) slab`, with w the probability of the spike.

    Args:
        slab: (..., B, D).
        log_odds: of the spike, log w - log(1 - w), broadcastable to (..., B, D).
        spike: standard deviation of the spike.
    """

    def __init__(self, slab: DiagonalNormal, log_odds: Tensor, spike: float) -> None:
        self.slab, self.log_odds, self.spike = slab, log_odds.expand_as(slab.loc), spike

    @property
    def mean(self) -> Tensor:
        """The mean, (..., B, D)."""
        return torch.sigmoid(-self.log_odds) * self.slab.mean

    @property
    def stddev(self) -> Tensor:
        """The standard deviation of each dimension, (..., B, D)."""
        share = torch.sigmoid(self.log_odds)
        second = share * self.spike**2 + (1 - share) * (self.slab.variance + self.slab.mean.square())
        return (second - self.mean.square()).sqrt()

    def rsample(
        self,
        sample_shape: torch.Size | tuple[int, ...] = (),
        generator: torch.Generator | None = None,
        *,
        temperature: float | None = None,
    ) -> Tensor:
        """Samples, (*sample_shape, ..., B, D): spike or slab is drawn for each dimension, then reparameterised noise.

        With a `temperature`, the gradient reaches the probability of the spike through the binary concrete relaxation (Maddison
        et al., ICLR 2017; Jang et al., ICLR 2017), while the choice itself is hard (straight through).
        """
        shape = (*sample_shape, *self.slab.loc.shape)
        device, dtype = self.slab.loc.device, self.slab.loc.dtype
        uniform = torch.rand(shape, generator=generator, device=device, dtype=dtype).clamp_(1e-7, 1 - 1e-7)
        noise = torch.randn(shape, generator=generator, device=device, dtype=dtype)
        odds = self.log_odds + uniform.logit()
        choice = (odds > 0).to(noise)
        if temperature is not None:
            soft = torch.sigmoid(odds / temperature)
            choice = choice + soft - soft.detach()
        drawn: Tensor = choice * (self.spike * noise) + (1 - choice) * (self.slab.loc + self.slab.stddev * noise)
        return drawn

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats, summed over dimensions: (*leading, ..., B, D) -> (*leading, ..., B)."""
        return self.log_prob_per_dimension(value).sum(-1)

    def log_prob_per_dimension(self, value: Tensor) -> Tensor:
        """Log-density of each dimension alone, nats: (*leading, ..., B, D)."""
        within = -0.5 * (value / self.spike).square() - math.log(self.spike) - 0.5 * math.log(2 * math.pi)
        of_slab = self.slab.log_prob_per_dimension(value)
        return torch.logaddexp(logsigmoid(self.log_odds) + within, logsigmoid(-self.log_odds) + of_slab)


@dataclass(frozen=True)
class SpikePrior:
    """A prior of sparse codes: each dimension of each code has a probability of the spike `gamma ~ Beta(spikes, slabs)`.

    Given gamma, a dimension is `gamma N(0, spike^2) + (1 - gamma) N(0, 1)`.

    Args:
        spikes: concentration of the spike; the mean of gamma is spikes / (spikes + slabs).
        slabs: concentration of the slab.
        spike: standard deviation of the spike.
    """

    spikes: float = 30.0
    slabs: float = 30.0
    spike: float = 0.05

    def __post_init__(self) -> None:
        refuse(not_positive(spikes=self.spikes, slabs=self.slabs, spike=self.spike))

    def of(self, shape: tuple[int, ...], like: Tensor) -> HierarchicalSparse:
        """The distribution of codes of this shape, with gamma integrated out, on the device of `like`."""
        zeros = like.new_zeros(shape)
        return HierarchicalSparse(zeros, zeros, prior=self)


class Draw(NamedTuple):
    """Codes (..., B, D), their distribution given the probabilities of spikes drawn, and the same with the slab N(0, 1)."""

    codes: Tensor
    given: SparseNormal
    prior: SparseNormal


class HierarchicalSparse(SparseNormal, Diagonal):
    """The slab of each dimension, and a Beta distribution of the probability of its spike. Satisfies `core.CodeDistribution`.

    As a distribution of codes it is the marginal over that probability, which is spike and slab again: the density of a mixture
    is linear in its weights, so only the mean of Beta(a, b) enters, with odds a / b.

    Args:
        loc: of the slab, (..., B, D).
        log_variance: of the slab.
        log_ratios: logarithms of the concentrations a and b of the Beta distribution over those of the prior, (2, ..., B, D).
        prior: see `SpikePrior`.
    """

    standard_log_variance = 0.0

    def __init__(
        self, loc: Tensor, log_variance: Tensor, log_ratios: Tensor | None = None, prior: SpikePrior | None = None
    ) -> None:
        Diagonal.__init__(self, loc, log_variance)
        self.log_ratios = loc.new_zeros((2, *loc.shape)) if log_ratios is None else log_ratios
        self.settings = prior or SpikePrior()
        spikes, slabs = self.concentrations
        super().__init__(DiagonalNormal(loc, log_variance), spikes.log() - slabs.log(), self.settings.spike)

    @property
    def concentrations(self) -> tuple[Tensor, Tensor]:
        """Of the spike and of the slab, each (..., B, D)."""
        ratios = self.log_ratios.exp()
        return self.settings.spikes * ratios[0], self.settings.slabs * ratios[1]

    @property
    def variance(self) -> Tensor:
        """The variance, (..., B, D)."""
        return self.stddev.square()

    def __getitem__(self, index: int | slice | Tensor | tuple[Tensor, ...] | None) -> Self:
        """The distribution at `index` of the leading axes."""
        within = index if isinstance(index, tuple) else (index,)
        return type(self)(self.loc[index], self.log_variance[index], self.log_ratios[(slice(None), *within)], self.settings)

    def detach(self) -> Self:
        """The same distribution with parameters that are constants."""
        return type(self)(self.loc.detach(), self.log_variance.detach(), self.log_ratios.detach(), self.settings)

    def where(self, keep: Tensor) -> Self:
        """The same distribution where `keep` (..., B) holds, the prior elsewhere; what is not kept may be NaN."""
        loc, log_variance, log_ratios = (
            torch.where(keep.unsqueeze(-1), item, 0.0) for item in (self.loc, self.log_variance, self.log_ratios)
        )
        return type(self)(loc, log_variance, log_ratios, self.settings)

    def draw(self, generator: torch.Generator | None = None, *, temperature: float) -> Draw:
        """Probabilities of spikes and codes given them, reparameterised: see `SparseNormal.rsample` for the temperature.

        A Beta variable is drawn as G_a / (G_a + G_b) of two Gamma variables (implicit reparameterisation, Figurnov et al.,
        NeurIPS 2018), of which only the log-odds log G_a - log G_b are needed.
        """
        first, second = (torch._standard_gamma(item, generator=generator) for item in self.concentrations)
        log_odds = first.log() - second.log()
        given = SparseNormal(self.slab, log_odds, self.spike)
        prior = SparseNormal(DiagonalNormal.standard(tuple(self.loc.shape), self.loc), log_odds, self.spike)
        return Draw(given.rsample((), generator, temperature=temperature), given, prior)

    def kl_of_probability(self) -> Tensor:
        """Divergence of each Beta distribution from the prior's, (..., B, D) nats, in closed form.

        In double precision, because its terms are large and cancel.
        """
        a, b = (item.double() for item in self.concentrations)
        c, d = self.settings.spikes, self.settings.slabs
        before = math.lgamma(c + d) - math.lgamma(c) - math.lgamma(d)
        now = torch.lgamma(a + b) - torch.lgamma(a) - torch.lgamma(b)
        moved = (a - c) * torch.digamma(a) + (b - d) * torch.digamma(b) - (a + b - c - d) * torch.digamma(a + b)
        return (now - before + moved).to(self.loc.dtype)

    def kl_of_code(self) -> Tensor:
        """Mean over gamma of the divergence of code and choice together: `E[1 - gamma] KL(slab || N(0, 1))`, (..., B, D) nats.

        Spike or slab is chosen with the same probability in posterior and prior, and the spikes are the same, so only slabs
        differ. It bounds the divergence of the code alone, without the choice, from above.
        """
        spikes, slabs = self.concentrations
        return slabs / (spikes + slabs) * self.slab.kl_per_dimension()

    def kl_per_dimension(self) -> Tensor:
        """Closed-form divergence of code, choice and probability together from the prior, (..., B, D) nats."""
        return self.kl_of_code() + self.kl_of_probability()
