"""The contract of the models with codes, and their abilities: encoding, decoding, prior, representations and likelihood.

A model defines two things: how experts are combined into a joint posterior, and its loss. All else is in `Networks` and `Prior`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, TypedDict

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from molyneux.core import (
    Batch,
    CodeDistribution,
    Codes,
    ConfigError,
    DataError,
    FitStore,
    Loss,
    Posterior,
    Progress,
    Source,
    Spec,
    SpecError,
)
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.nets import Net
from molyneux.learn.likelihoods import Scales, ViewLikelihood
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, WhereConditional, WhereDistribution, expert_parameters
from molyneux.learn.priors import ExPostMixture, FittedPrior, IndependentPrior, LatentDims, Prior
from molyneux.learn.priors.fitted_flow import ExPostFlow
from molyneux.learn.vaes.networks import Networks, Observation, unknown_names

ROWS, _ROWS = 1024, {"cpu": 160}
"""Codes that `log_weights` decodes at once, and other numbers by device: a processor is almost twice as fast with few."""


class SharedSettings(TypedDict, total=False):
    """The settings that all models share; see `Autoencoder`. A constructor passes them on, `**shared: Unpack[SharedSettings]`."""

    latent_dim: int
    nets: Mapping[str, Net] | None
    likelihoods: Mapping[str, ViewLikelihood] | None
    scales: Scales
    prior: ExPostMixture | ExPostFlow | None


@contextmanager
def reporting(problems: Sequence[str]) -> Iterator[None]:
    """Raise a ConfigError with the problems of a model's own settings and those that the constructor called within finds."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError([*error.problems, *problems]) from error
    refuse(problems)


class Autoencoder(nn.Module, ABC):
    """An encoder and a decoder for each modality, with one shared code and, for some models, private codes between them.

    Satisfies `core.Trainable`, `Encodes`, `Decodes`, `Priors`, `Representation` and `PostFit`.

    Args:
        spec: what the batches look like.
        latent_dim: dimensions of the shared code.
        private_dim: dimensions of the private codes, one number for all or numbers by modality (0 for what is not named); only
            for models that have private codes.
        nets: by modality; the default of its kind for what is not named.
        likelihoods: by modality; the default of its kind for what is not named.
        scales: weights of the modalities' log-likelihoods in the loss.
        prior: what is fitted to the codes after training, to generate from and to weigh codes by in `log_likelihood`; None
            keeps the prior of the loss. A mixture of normals (`ExPostMixture`, `{components: 64}`) or flows (`ExPostFlow`,
            `{layers: 4}`).

    Attributes:
        private_dims: dimensions of the private codes by modality, of the modalities that have any.

    Raises:
        ConfigError: settings that cannot be used, all problems at once.
        SpecError: a net or likelihood that does not fit its modality.
    """

    family: type[Diagonal] = DiagonalNormal
    """Family of the experts and of the prior of the loss."""
    numbers: ClassVar[int] = 2
    """Outputs of an encoder for each dimension of a code."""
    most_modalities: ClassVar[int | None] = None
    """The largest number of modalities that the model takes; None for no limit."""
    has_private: ClassVar[bool] = False
    """Whether the model has private codes."""
    needs_views: ClassVar[bool] = True
    """Training refuses a sample that has none of several modalities: its bound is 0, and would pass for one of a sample."""

    def __init__(
        self,
        spec: Spec,
        *,
        latent_dim: int = 24,
        private_dim: int | Mapping[str, int] = 0,
        nets: Mapping[str, Net] | None = None,
        likelihoods: Mapping[str, ViewLikelihood] | None = None,
        scales: Scales = "none",
        prior: ExPostMixture | ExPostFlow | None = None,
    ) -> None:
        super().__init__()
        nets, likelihoods = nets or {}, likelihoods or {}
        private = dict.fromkeys(spec.names, private_dim) if isinstance(private_dim, int) else private_dim
        named = {"nets": nets, "likelihoods": likelihoods, "private_dim": private}
        refuse([*self._problems(spec, latent_dim, private), *unknown_names(spec, named)])
        dims = LatentDims(latent_dim, {name: size for name, size in private.items() if size})
        self.spec, self.latent_dim, self.private_dims = spec, latent_dim, dims.private
        self.networks = Networks(
            spec, self.read_dims(dims), numbers=self.numbers, nets=nets, likelihoods=likelihoods, scales=scales
        )
        self.scales = self.networks.scales
        self.loss_prior: Prior = IndependentPrior(self.family.standard, dims)
        self.fitted = None if prior is None else FittedPrior(prior, dims)

    @abstractmethod
    def joint(self, experts: Diagonal, present: Tensor) -> CodeDistribution:
        """The posterior of the shared code given experts, loc (M, B, D), of which `present` (M, B) are there; M at least 1."""

    @abstractmethod
    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """What training minimises; see `core.Trainable`."""

    @property
    def encoders(self) -> ModalityDict[nn.Module]:
        """Encoders by modality."""
        return self.networks.encoders

    @property
    def decoders(self) -> ModalityDict[nn.Module]:
        """Decoders by modality."""
        return self.networks.decoders

    def experts(self, raw: Tensor) -> Diagonal:
        """The posterior given one modality, from the outputs of its encoder for a code: (..., numbers * D), loc (..., D)."""
        return self.family(*expert_parameters(raw))

    def observe(self, batch: Batch, names: tuple[str, ...] | None = None) -> Observation:
        """Check, read and encode modalities (all of the spec by default) of a batch, each once; see `Networks.observe`."""
        return self.networks.observe(batch, self.spec.names if names is None else names, self.experts)

    def observe_samples(self, batch: Batch) -> Observation:
        """The batch, encoded, for a loss, which is a mean over samples; raises DataError if it has none."""
        observation = self.observe(batch)
        if not len(batch):
            raise DataError(
                "expected at least one sample in a batch for its loss, which is a mean over them, got none: leave it out"
            )
        return observation

    def encode(self, batch: Batch, observed: Collection[str] | None = None) -> Posterior:
        """The posterior given some modalities; see `core.Encodes`. Nets of what is not observed are not run."""
        names = self.networks.observed(batch, observed)
        return self._completed(self.observe(batch, names)) if names else self.prior(len(batch))

    def encode_subsets(self, batch: Batch, subsets: Sequence[Sequence[str]]) -> list[Posterior]:
        """What `encode` gives for each of several sets of modalities, where each modality is encoded once."""
        whole = self.observe(batch)
        return [self._completed(whole.restrict(names)) for names in subsets]

    def _completed(self, observation: Observation) -> Posterior:
        """The posterior given what was observed, with the prior of the private codes of what was not."""
        posterior = self.posterior(observation)
        if not self.private_dims:
            return posterior
        return Posterior(posterior.shared, {**self.prior(observation.present.shape[1]).private, **posterior.private})

    def decode(self, codes: Codes, only: Collection[str] | None = None) -> dict[str, Distribution]:
        """A distribution over views per modality; see `core.Decodes`."""
        names = self.spec.names if only is None else self.networks.known(only)
        shared = self.read_code(codes.shared)
        return {name: self.networks.decode(name, shared, codes.private.get(name)) for name in names}

    def read_dims(self, dims: LatentDims) -> LatentDims:
        """The part of the latent groups that decoders read and encoders give parameters of; here all of them."""
        return dims

    def read_code(self, shared: Tensor) -> Tensor:
        """What decoders read of shared codes (..., D), as many dimensions as `read_dims` says."""
        read, got = self.networks.dims.shared, shared.shape[-1]
        if read < self.latent_dim != got:
            raise SpecError(f"decoding: expected codes of {self.latent_dim} shared and the private dimensions, got {got} shared")
        return shared[..., :read] if read < self.latent_dim else shared

    def prior(self, size: int) -> Posterior:
        """The prior over codes of `size` samples, the fitted one if there is any; see `core.Decodes`."""
        return (self.fitted or self.loss_prior).of(size)

    @property
    def priors(self) -> Mapping[str, Callable[[int], Posterior]]:
        """The prior of the loss, `loss`, and the one that was fitted after training, `fitted`, if any; see `core.Priors`."""
        return {"loss": self.loss_prior.of, **({} if self.fitted is None else {"fitted": self.fitted.of})}

    @property
    def replaces_prior(self) -> bool:
        """Whether the prior of generation is another than the one that `joint` gives where nothing is present."""
        return self.fitted is not None

    def shared_posterior(self, observation: Observation) -> CodeDistribution:
        """The posterior of the shared code given what was observed; by default `joint` of the experts."""
        return self.joint(observation.experts, observation.present)

    def proposal(self, observation: Observation) -> Posterior:
        """What codes are drawn of to estimate a likelihood: the posterior, unless that has no density."""
        return self.posterior(observation)

    def posterior(self, observation: Observation) -> Posterior:
        """The posterior given what was observed; samples of which nothing is present follow the prior."""
        return self.with_prior(observation, self.shared_posterior(observation))

    def with_prior(self, observation: Observation, shared: CodeDistribution) -> Posterior:
        """A posterior of the shared code beside those of the private codes, all with the prior where nothing is present."""
        if not self.replaces_prior or bool(observation.present.all()):
            return Posterior(shared, observation.private)
        prior = self.prior(observation.present.shape[1])
        private = {
            name: WhereConditional(observation.mask(name), part, prior.private[name])
            for name, part in observation.private.items()
        }
        return Posterior(WhereDistribution(observation.present.any(0), shared, prior.shared), private)

    def post_fit(self, source: Source, *, seed: int, kept: FitStore | None = None) -> None:
        """Fit the prior, if one is to be fitted, to codes of training samples; see `core.PostFit`."""
        if self.fitted is not None:
            self.fitted.fit(self, self.spec, source, seed=seed)

    @property
    def post_fit_weights(self) -> tuple[str, ...]:
        """Those of the fitted prior; see `core.PostFitWeights`."""
        return ("fitted.*",)

    def represent(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Tensor]:
        """Posterior means; see `core.Representation`."""
        mean = self.encode(batch, observed).mean
        return {"shared": mean.shared, **{f"private.{name}": code for name, code in mean.private.items()}}

    def _problems(self, spec: Spec, latent_dim: int, private: Mapping[str, int]) -> list[str]:
        problems = [] if latent_dim >= 1 else [f"latent_dim: expected at least 1, got {latent_dim}"]
        problems += [f"private_dim.{name}: expected at least 0, got {size}" for name, size in private.items() if size < 0]
        name = type(self).__name__
        if any(private.values()) and not self.has_private:
            problems.append(f"private_dim: expected 0, since {name} has no private codes, got {dict(private)}: use DMVAE")
        if self.most_modalities is not None and len(spec.modalities) > self.most_modalities:
            problems.append(f"{name} takes at most {self.most_modalities} modalities, got {len(spec.modalities)}")
        return problems


@torch.no_grad()
def importance_log_likelihood(self: Autoencoder, batch: Batch, k: int, generator: torch.Generator | None = None) -> Tensor:
    """`log 1/K sum_k p(x, z_k) / q(z_k | x)` with z_k from q, (B,) nats: a lower bound that tightens as K grows; never scaled.

    Burda et al., Importance Weighted Autoencoders (ICLR 2016), equation 8. A method of the models whose posterior has a density.
    """
    return importance_log_weights(self, batch, k, generator).logsumexp(0) - math.log(k)


@torch.no_grad()
def importance_log_weights(self: Autoencoder, batch: Batch, k: int, generator: torch.Generator | None = None) -> Tensor:
    """`log p(x, z_k) - log q(z_k | x)` with z_k from q, (K, B) nats; never scaled. A method beside `importance_log_likelihood`.

    The batch is encoded once, and codes are decoded in chunks: of all draws, memory holds nothing but their weights.
    """
    observation = self.observe(batch, self.networks.observed(batch, None))
    posterior = self.proposal(observation)
    chunk = max(1, _ROWS.get(observation.present.device.type, ROWS) // max(1, len(batch)))
    counts = [min(chunk, k - start) for start in range(0, k, chunk)]
    return torch.cat([_log_weights(self, observation, posterior, count, generator) for count in counts])


def _log_weights(
    model: Autoencoder, observation: Observation, posterior: Posterior, count: int, generator: torch.Generator | None
) -> Tensor:
    """`log p(x, z) - log q(z | x)` of `count` draws, (count, B)."""
    codes = posterior.rsample(count, generator)
    prior = model.prior(codes.shared.shape[-2])
    total = torch.stack(list(prior.log_probs(codes).values())).sum(0) - posterior.log_prob(codes)
    for name in observation.names:
        total = total + model.networks.log_likelihood(observation, name, model.read_code(codes.shared), codes.private.get(name))
    return total
