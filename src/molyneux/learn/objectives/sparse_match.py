"""Codes that are sparse one by one and, together, spread as a sparse prior is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from torch import Tensor

from molyneux.core import CodeDistribution, ConfigError, Loss
from molyneux.learn.objectives.mmd import Estimator, squared_mmd
from molyneux.learn.objectives.objective import Objective, Penalty, Sampled
from molyneux.learn.objectives.weight import Weight, weight_at, weight_problems
from molyneux.learn.priors.spike_and_slab import SpikeAndSlab


@dataclass(frozen=True)
class SparseMatch(Objective):
    """MAT-VAE: Mathieu et al., Disentangling Disentanglement in Variational Autoencoders (ICML 2019), equation 7, sparse prior.

    `beta KL(q(z|x) || p(z)) + weight D(q(z), p(z))` with a spike-and-slab prior, which is also what the model generates from: the
    divergence from that prior is estimated with the sample drawn (`rate.shared` is this estimate), and D is the squared maximum
    mean discrepancy of single dimensions (`mmd.squared_mmd`) between the codes of the batch and as many draws of the prior. Names
    and values are of the authors' code, which calls the weight alpha; "Unsupervised Representation Disentanglement of Text" calls
    it lambda and trains with (beta, lambda) = (0.1, 0.1) and (0.01, 0.1), and says nothing more, so the rest is assumed.

    Args:
        beta: weight of the divergence.
        weight: weight of the discrepancy.
        prior: the spike and the slab.
        mmd: "published" or "paired", two estimators without bias; the second is 0 for equal samples.
        scales: of the kernels.
    """

    beta: Weight = 0.1
    weight: Weight = 0.1
    prior: SpikeAndSlab = field(default_factory=SpikeAndSlab)
    mmd: Estimator = "published"
    scales: tuple[float, ...] = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

    def __post_init__(self) -> None:
        problems = weight_problems(beta=self.beta, weight=self.weight)
        if self.mmd not in ("published", "paired"):
            problems.append(f'mmd: expected "published" or "paired", got {self.mmd!r}')
        if not self.scales or not all(0 < scale < math.inf for scale in self.scales):
            problems.append(f"scales: expected at least one number above 0, got {self.scales}")
        if problems:
            raise ConfigError(problems)

    def build(self, latent_dim: int) -> Penalty:
        """See `Objective`."""
        return _Discrepancy(self)


class _Discrepancy(Penalty):
    fewest = 2
    own_prior = True

    def __init__(self, settings: SparseMatch) -> None:
        super().__init__()
        self.settings = settings

    def cost(self, sampled: Sampled, rate: Tensor) -> Loss:
        """See `Penalty`."""
        settings, codes = self.settings, sampled.codes
        reference = settings.prior.of(tuple(codes.shape), codes).rsample((), sampled.generator)
        discrepancy = squared_mmd(reference, codes, settings.scales, settings.mmd)
        beta, weight = (weight_at(item, sampled.progress) for item in (settings.beta, settings.weight))
        return Loss(beta * rate.sum(-1).mean() + weight * discrepancy, {"mmd": discrepancy.detach()})

    def rate(self, sampled: Sampled) -> Tensor:
        """Estimate of the divergence from the sparse prior with the sample drawn, (N, D) nats."""
        prior = self.settings.prior.of(tuple(sampled.codes.shape), sampled.codes)
        return sampled.posterior.log_prob_per_dimension(sampled.codes) - prior.log_prob_per_dimension(sampled.codes)

    def prior(self, size: int, like: Tensor) -> CodeDistribution:
        """The sparse prior; see `Penalty`."""
        return self.settings.prior.of((size, like.shape[-1]), like)
