"""The contract of the models with codes, and everything they share: encoding, decoding, prior and likelihood.

A model says two things of its own: how experts are combined into a joint posterior, and what its loss is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from molyneux.core import (
    Batch,
    CodeDistribution,
    Codes,
    ConfigError,
    DataError,
    Loss,
    Modality,
    Posterior,
    Progress,
    Source,
    Spec,
    SpecError,
    nearest,
)
from molyneux.core.views import to_model
from molyneux.learn.likelihoods import Scales, ViewDistribution, ViewLikelihood, default_likelihood, likelihood_scales
from molyneux.learn.nets import Net, default_net
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, expert_parameters
from molyneux.learn.priors import ExPostMixture, FittedPrior, Rows, Somewhere
from molyneux.learn.vaes.importance import importance_log_likelihood
from molyneux.learn.vaes.observation import Observation


class Autoencoder(nn.Module, ABC):
    """An encoder and a decoder for each modality, with one shared code and, for some models, private codes between them.

    Satisfies `core.Trainable`, `Encodes`, `Decodes`, `Likelihood`, `Representation` and `PostFit`. In a training step every
    modality is encoded once and decoded once, all posterior samples stacked along the batch.

    Args:
        spec: what the batches look like.
        latent_dim: dimensions of the shared code.
        private_dims: dimensions of the private code by modality; none for what is not named.
        nets: nets by modality; the default of its kind for what is not named.
        likelihoods: likelihoods by modality; the default of its kind for what is not named.
        scales: weights of the modalities' log-likelihoods in the loss.
        prior: what is fitted to the codes after training, to generate from and to weigh codes by in `log_likelihood`; none
            keeps the prior of the loss.
        problems: of further settings, which the class that has them found; all are told together.

    Raises:
        ConfigError: settings that cannot be used, all problems at once.
        SpecError: a net or likelihood that does not fit its modality.
    """

    family: type[Diagonal] = DiagonalNormal
    """Family of the experts and the prior."""
    numbers: ClassVar[int] = 2
    """Numbers that an encoder gives for each dimension of a code."""
    most_modalities: ClassVar[int | None] = None
    """The largest number of modalities that the model can take; None for no limit."""

    def __init__(
        self,
        spec: Spec,
        *,
        latent_dim: int,
        private_dims: Mapping[str, int] | None = None,
        nets: Mapping[str, Net] | None = None,
        likelihoods: Mapping[str, ViewLikelihood] | None = None,
        scales: Scales = "none",
        prior: ExPostMixture | None = None,
        problems: Iterable[str] = (),
    ) -> None:
        super().__init__()
        nets, likelihoods, private_dims = nets or {}, likelihoods or {}, private_dims or {}
        self.private_dims = {name: size for name, size in private_dims.items() if size}
        named = {"nets": nets, "likelihoods": likelihoods, "private_dims": private_dims}
        found = [*self._problems(spec, latent_dim), *problems, *unknown_names(spec, named)]
        if found:
            raise ConfigError(found)
        self.spec, self.latent_dim = spec, latent_dim
        self.scales = likelihood_scales(spec, scales)
        self.encoders, self.decoders = nn.ModuleDict(), nn.ModuleDict()
        for modality in spec.modalities:
            net = nets.get(modality.name) or default_net(modality)
            likelihood = likelihoods.get(modality.name) or default_likelihood(modality)
            code = latent_dim + self.private_dims.get(modality.name, 0)
            encoder, decoder = net.pair(modality, outputs=self.numbers * code, inputs=code, likelihood=likelihood)
            self.encoders[modality.name], self.decoders[modality.name] = encoder, decoder
        self.fitted = None if prior is None else FittedPrior(prior, latent_dim, self.private_dims)

    @abstractmethod
    def joint(self, experts: Diagonal, present: Tensor) -> CodeDistribution:
        """The posterior of the shared code given experts, loc (M, B, D), of which `present` (M, B) are there; M at least 1."""

    @abstractmethod
    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """What training minimises; see `core.Trainable`."""

    def experts(self, raw: Tensor) -> Diagonal:
        """The posterior given one modality, from what its encoder gives for a code: (..., numbers * D), loc (..., D)."""
        return self.family(*expert_parameters(raw))

    def encode(self, batch: Batch, observed: Collection[str] | None = None) -> Posterior:
        """The posterior given some modalities; see `core.Encodes`. Nets of what is not observed are not run."""
        names = self._observed(batch, observed)
        if not names:
            return self.prior(len(batch))
        posterior = self.posterior(self.observe(batch, names))
        if not self.private_dims:
            return posterior
        return Posterior(posterior.shared, {**self.prior(len(batch)).private, **posterior.private})

    def decode(self, codes: Codes, only: Collection[str] | None = None) -> dict[str, torch.distributions.Distribution]:
        """A distribution over views per modality; see `core.Decodes`."""
        names = self.spec.names if only is None else self._known(only)
        return {name: self.decode_view(name, codes.shared, codes.private.get(name)) for name in names}

    def prior(self, size: int) -> Posterior:
        """The prior over codes of `size` samples, the fitted one if there is any; see `core.Decodes`."""
        if self.fitted is not None:
            return self.fitted.prior(size)
        like = next(self.parameters())
        private = {name: self.family.standard((size, dim), like) for name, dim in self.private_dims.items()}
        return Posterior(self.family.standard((size, self.latent_dim), like), private)

    @property
    def replaces_prior(self) -> bool:
        """Whether the prior of generation is another than the one that `joint` gives where nothing is present."""
        return self.fitted is not None

    def posterior(self, observation: Observation) -> Posterior:
        """The posterior given what was observed; samples of which nothing is present follow the prior."""
        shared = self.joint(observation.experts, observation.present)
        if not self.replaces_prior or bool(observation.present.all()):
            return Posterior(shared, observation.private)
        prior = self.prior(observation.present.shape[1])
        private = {
            name: Somewhere(observation.present[observation.names.index(name)], part, prior.private[name])
            for name, part in observation.private.items()
        }
        return Posterior(Rows(observation.present.any(0), shared, prior.shared), private)

    def post_fit(self, source: Source, *, seed: int) -> None:
        """Fit the prior, if one is to be fitted, to codes of training samples; see `core.PostFit`."""
        if self.fitted is not None:
            self.fitted.fit(self, source, seed=seed)

    def represent(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Tensor]:
        """Posterior means; see `core.Representation`."""
        mean = self.encode(batch, observed).mean
        return {"shared": mean.shared, **{f"private.{name}": code for name, code in mean.private.items()}}

    def log_likelihood(self, batch: Batch, k: int, generator: torch.Generator | None = None) -> Tensor:
        """Importance-weighted bound on the log-likelihood of what is present; see `core.Likelihood`. Never scaled."""
        return importance_log_likelihood(self, batch, k, generator)

    def observe(self, batch: Batch, names: tuple[str, ...]) -> Observation:
        """Check, read and encode the modalities `names` (at least one) of a batch, each once.

        Raises:
            SpecError: the batch does not fit the spec of the model.
        """
        batch.check(self.spec.restrict(names))
        views = {name: self._read(batch, name) for name in names}
        present = torch.stack([batch.mask(name) for name in names])
        parts = [self.encoders[name](views[name]).float() for name in names]
        shared = self.numbers * self.latent_dim
        experts = self.experts(torch.stack([part[:, :shared] for part in parts]))
        private = {
            name: self.experts(part[:, shared:]).where(mask)
            for name, part, mask in zip(names, parts, present, strict=True)
            if name in self.private_dims
        }
        return Observation(names, views, present, experts, private)

    def decode_view(self, name: str, shared: Tensor, private: Tensor | None = None) -> ViewDistribution:
        """The distribution of one modality given shared codes (..., B, D) and its private codes, which broadcast to them.

        Raises:
            SpecError: the codes do not have the model's dimensions.
        """
        wanted = self.private_dims.get(name, 0)
        got = 0 if private is None or not wanted else private.shape[-1]
        if shared.shape[-1] != self.latent_dim or got != wanted:
            raise SpecError(
                f"decoding {name}: expected codes of {self.latent_dim} shared and {wanted} private dimensions, "
                f"got {shared.shape[-1]} and {got}"
            )
        if private is not None and wanted:
            shared = torch.cat([shared, private.expand(*shared.shape[:-1], wanted)], dim=-1)
        distribution: ViewDistribution = self.decoders[name](shared)
        return distribution

    def distortion(
        self, observation: Observation, name: str, shared: Tensor, *, weight: Tensor, private: Tensor | None = None
    ) -> Tensor:
        """Negative log-likelihood of one modality, summed over stacked samples by weight: (B,) nats.

        Args:
            observation: what is to be reconstructed.
            name: the modality; this is the only call of its decoder in a step.
            shared: T stacked samples of the shared code, (T, B, D).
            weight: (T, B) what each sample counts; samples where the modality is absent count 0.
            private: private codes (B, P), if it has any.
        """
        target = observation.views[name]
        weight = weight * observation.present[observation.names.index(name)]
        distribution = self.decode_view(name, shared, private).fitted(target, weight)
        return -(weight * distribution.log_prob(target)).sum(0)

    def _read(self, batch: Batch, name: str) -> Tensor:
        """A view in model form, with 0 where it is absent, so that whatever lies there can reach no gradient."""
        view = to_model(self.spec.modality(name), batch.views[name])
        if name not in batch.present:
            return view
        mask = batch.present[name]
        return view.where(mask.reshape(-1, *[1] * (view.dim() - 1)), 0)

    def _observed(self, batch: Batch, observed: Collection[str] | None) -> tuple[str, ...]:
        chosen = set(batch.views if observed is None else self._known(observed))
        return tuple(name for name in self.spec.names if name in chosen and (observed is not None or name in batch.views))

    def _known(self, names: Collection[str]) -> tuple[str, ...]:
        return tuple(self.spec.modality(name).name for name in names)

    def _problems(self, spec: Spec, latent_dim: int) -> list[str]:
        problems = [] if latent_dim >= 1 else [f"latent_dim: expected at least 1, got {latent_dim}"]
        problems += [
            f"private_dims.{name}: expected at least 0, got {size}" for name, size in self.private_dims.items() if size < 0
        ]
        if self.most_modalities is not None and len(spec.modalities) > self.most_modalities:
            problems.append(f"{type(self).__name__} takes at most {self.most_modalities} modalities, got {len(spec.modalities)}")
        return problems + [_reserved(modality) for modality in spec.modalities if hasattr(nn.ModuleDict, modality.name)]


def check_samples(batch: Batch) -> None:
    """Raise DataError for a batch of nothing: a loss is a mean over samples."""
    if not len(batch):
        raise DataError("expected at least one sample in a batch for its loss, which is a mean over them, got none: leave it out")


def unknown_names(spec: Spec, by_modality: Mapping[str, Collection[str]]) -> list[str]:
    """A problem for each modality that a setting names and the spec lacks."""
    return [
        f"{what}: no modality {name!r}; {nearest(name, spec.names)}"
        for what, settings in by_modality.items()
        for name in settings
        if name not in spec.names
    ]


def _reserved(modality: Modality) -> str:
    return f"a modality cannot be called {modality.name!r}, which is a name of torch's own: rename it"
