"""CVAE: one modality given the others."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from molyneux.core import Batch, Codes, DataError, Loss, NotApplicableError, Posterior, Progress, Spec, nearest
from molyneux.core.tooling.moved import moved
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.encoding import read_view
from molyneux.learn.encoders.nets import Net, default_net
from molyneux.learn.likelihoods import ViewDistribution, ViewLikelihood
from molyneux.learn.objectives import Weight, weight_at, weight_problems
from molyneux.learn.posteriors import DiagonalNormal, Point, WhereConditional, expert_parameters
from molyneux.learn.priors.conditional import ConditionalNormal, PrivateDensity, PrivatePrior
from molyneux.learn.vaes.joint_encoder import JointEncoder
from molyneux.learn.vaes.networks import unknown_names

_ROWS = 1024
"""Codes that `conditional_log_likelihood` decodes at once."""


@dataclass(frozen=True)
class ConditionSizes:
    """How the modalities that are given are read.

    Args:
        features: numbers of all of them together.
        width: features of each modality, and units of the hidden layers that join them.
    """

    features: int = 64
    width: int = 256

    def __post_init__(self) -> None:
        refuse(too_small(self, "features", "width"))


class CVAE(nn.Module):
    """Sohn, Lee & Yan, Learning Structured Output Representation using Deep Conditional Generative Models (NeurIPS 2015).

    A model of one modality y given the others c: a prior network `p(z|c)`, a recognition network `q(z|y, c)` and a generation
    network `p(y|z, c)`. The loss is the negative of the bound of equation 4, `-E_q log p(y|z, c) + beta KL(q(z|y, c) || p(z|c))`.
    It has no distribution of c, so it neither generates without a condition nor has a likelihood of whole samples
    (`conditional_log_likelihood` is that of y given c).

    In the terms of the other models, the features of the condition, a point, are the shared code, and z is the private code of
    the target, whose prior depends on the shared code. Satisfies `core.Trainable`, `Encodes`, `Decodes` (of the target only) and
    `Representation`. Measures of all modalities do not apply; coherence does in the directions of the target, `Coherence` with
    `directions: [{source: [text], target: image}], joint: false`.

    Deviations from the paper: the condition is read by one encoder of all its modalities, and is not an initial guess of the
    output; no hybrid objective with samples of the prior network.

    Where modalities are missing, the features are those of the conditions that are present, and a sample without target costs
    nothing.

    Args:
        spec: what the batches look like; at least two modalities.
        target: the modality that is modelled.
        latent_dim: dimensions of z.
        condition: how the other modalities are read.
        beta: weight of the divergence, constant or scheduled.
        prior: the prior network; None for a standard normal distribution that does not depend on the condition.
        nets: by modality; the default of its kind for what is not named.
        likelihoods: of the target, by its name; the default of its kind if it is not named.

    Raises:
        ConfigError: settings that cannot be used, all problems at once.
        SpecError: a net or likelihood that does not fit its modality.
    """

    needs_views: ClassVar[bool] = True
    """Training refuses a sample without any modality; see `Autoencoder`."""

    @moved(condition_dim="condition.features", width="condition.width")
    def __init__(
        self,
        spec: Spec,
        *,
        target: str,
        latent_dim: int = 24,
        condition: ConditionSizes = ConditionSizes(),
        beta: Weight = 1.0,
        prior: PrivatePrior | None = ConditionalNormal(),  # noqa: B008 - frozen
        nets: Mapping[str, Net] | None = None,
        likelihoods: Mapping[str, ViewLikelihood] | None = None,
    ) -> None:
        super().__init__()
        nets, likelihoods = nets or {}, likelihoods or {}
        condition_dim, width = condition.features, condition.width
        problems = [] if latent_dim >= 1 else [f"latent_dim: expected at least 1, got {latent_dim}"]
        problems += [*weight_problems(beta=beta), *unknown_names(spec, {"nets": nets, "likelihoods": likelihoods})]
        refuse([*problems, *_target_problems(spec, target)])
        self.spec, self.target, self.beta, self.condition_dim, self.latent_dim = spec, target, beta, condition_dim, latent_dim
        self.conditions = tuple(name for name in spec.names if name != target)
        modality = spec.modality(target)
        net = nets.get(target) or default_net(modality)
        net.check_code(modality, one_random=False)
        likelihood = likelihoods.get(target) or net.likelihood(modality)
        self.condition = JointEncoder(spec.restrict(self.conditions), nets, width=width, layers=1, outputs=condition_dim)
        self.encoder, self.decoder = net.pair(modality, outputs=width, inputs=condition_dim + latent_dim, likelihood=likelihood)
        self.joining = nn.Linear(condition_dim, width)
        self.recognition = nn.Linear(width, 2 * latent_dim)
        self.z_prior = _StandardDensity(latent_dim) if prior is None else prior.density(condition_dim, latent_dim)

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The negative bound, a mean over the samples; see `core.Trainable`."""
        if not len(batch):
            raise DataError("expected at least one sample in a batch for its loss, a mean over them, got none: leave it out")
        features, mask = self._features(batch, self.conditions), batch.mask(self.target)
        posterior = self._recognised(batch, features).where(mask)
        codes = posterior.rsample((), generator)
        learned = self.z_prior.given(features)
        if isinstance(learned, DiagonalNormal):
            rate = posterior.kl_to(learned)
        else:
            rate = posterior.log_prob(codes) - learned.log_prob(codes)
        distortion = -(self._log_likelihood(batch, features, codes, fitted=True) * mask).mean()
        rate = (rate * mask).mean()
        terms = {f"distortion.{self.target}": distortion.detach(), f"rate.private.{self.target}": rate.detach()}
        return Loss(distortion + weight_at(self.beta, progress) * rate, terms)

    def encode(self, batch: Batch, observed: Collection[str] | None = None) -> Posterior:
        """The features of the observed conditions, and z given these and, where it is observed, the target; see `core.Encodes`.

        Raises:
            NotApplicableError: no condition is observed.
        """
        names = set(batch.views) if observed is None else {self.spec.modality(name).name for name in observed}
        features = self._features(batch, tuple(name for name in self.conditions if name in names))
        if self.target not in names:
            return Posterior(Point(features), {self.target: self.z_prior})
        private = WhereConditional(batch.mask(self.target), self._recognised(batch, features), self.z_prior)
        return Posterior(Point(features), {self.target: private})

    def decode(self, codes: Codes, only: Collection[str] | None = None) -> dict[str, Distribution]:
        """The distribution of the target; see `core.Decodes`.

        Raises:
            NotApplicableError: another modality is asked for.
        """
        others = [name for name in only or () if self.spec.modality(name).name != self.target]
        if others:
            raise NotApplicableError(f"a CVAE of {self.target} does not generate {' and '.join(others)}: train one that does")
        if only is not None and not only:
            return {}
        return {self.target: self._decoded(codes.shared, codes.private[self.target])}

    def prior(self, size: int) -> Posterior:
        """Raises NotApplicableError: there is no distribution of the conditions."""
        raise NotApplicableError(f"a CVAE generates {self.target} only given {' or '.join(self.conditions)}: observe one")

    def represent(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Tensor]:
        """The features of the condition, and the mean of z; see `core.Representation`."""
        mean = self.encode(batch, observed).mean
        return {"shared": mean.shared, f"private.{self.target}": mean.private[self.target]}

    @torch.no_grad()
    def conditional_log_likelihood(self, batch: Batch, k: int, generator: torch.Generator | None = None) -> Tensor:
        """`log 1/K sum_k p(y, z_k|c) / q(z_k|y, c)` with z_k from q, (B,) nats; 0 without target."""
        features, mask = self._features(batch, self.conditions), batch.mask(self.target)
        posterior, learned = self._recognised(batch, features).where(mask), self.z_prior.given(features)
        chunk, found = max(1, _ROWS // max(1, len(batch))), []
        for start in range(0, k, chunk):
            codes = posterior.rsample((min(chunk, k - start),), generator)
            weights = learned.log_prob(codes) - posterior.log_prob(codes)
            found.append(weights + self._log_likelihood(batch, features, codes, fitted=False))
        return (torch.cat(found).logsumexp(0) - math.log(k)) * mask

    def _features(self, batch: Batch, names: tuple[str, ...]) -> Tensor:
        """Features (B, condition_dim) of these conditions, where they are present."""
        if not names:
            raise NotApplicableError(f"a CVAE of {self.target} needs a condition: observe {' or '.join(self.conditions)}")
        batch.check(self.spec.restrict(names))
        views = {name: read_view(batch, self.spec, name) for name in names}
        features: Tensor = self.condition(views, batch.lengths, {name: batch.mask(name) for name in names})
        return features

    def _recognised(self, batch: Batch, features: Tensor) -> DiagonalNormal:
        """The posterior of z given target and condition."""
        batch.check(self.spec.restrict((self.target,)))
        view, lengths = read_view(batch, self.spec, self.target), batch.lengths.get(self.target)
        raw = self.encoder(view) if lengths is None else self.encoder(view, lengths)
        return DiagonalNormal(*expert_parameters(self.recognition((raw.float() + self.joining(features)).relu())))

    def _log_likelihood(self, batch: Batch, features: Tensor, codes: Tensor, *, fitted: bool) -> Tensor:
        """Log-likelihood of the target given features and codes, (..., B) nats; parameters may be fitted to the batch."""
        view, mask = read_view(batch, self.spec, self.target), batch.mask(self.target)
        distribution = self._decoded(features, codes)
        if self.target in batch.lengths:
            distribution = distribution.masked(batch.lengths[self.target])
        if fitted:
            distribution = distribution.fitted(view, mask.float())
        return distribution.log_prob(view)

    def _decoded(self, features: Tensor, codes: Tensor) -> ViewDistribution:
        distribution: ViewDistribution = self.decoder(torch.cat([features.expand(*codes.shape[:-1], -1), codes], -1))
        return distribution


class _StandardDensity(PrivateDensity):
    """The standard normal distribution, whatever the condition."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def given(self, shared: Tensor) -> DiagonalNormal:
        """See `PrivateDensity`."""
        return DiagonalNormal.standard((*shared.shape[:-1], self.size), shared)


def _target_problems(spec: Spec, target: str) -> list[str]:
    if target not in spec.names:
        return [f"target: no modality {target!r}; {nearest(target, spec.names)}"]
    return [] if len(spec.names) > 1 else [f"a CVAE needs a modality beside its target {target}, got none: use a VAE"]
