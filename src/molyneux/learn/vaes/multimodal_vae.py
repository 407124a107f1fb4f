"""The contract of the multimodal VAEs, and everything they share.

A model says two things of its own: how experts are combined into a joint posterior, and which terms its evidence has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from molyneux.core import (
    Batch,
    CodeDistribution,
    Codes,
    ConfigError,
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
from molyneux.learn.objectives import Evidence, Warmup, negative_elbo, weight_at
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, draw_component, expert_parameters
from molyneux.learn.priors import ExPostMixture, FittedPrior, Rows, Somewhere
from molyneux.learn.vaes.importance import importance_log_likelihood
from molyneux.learn.vaes.observation import Observation


class MultimodalVAE(nn.Module, ABC):
    """A variational autoencoder of several modalities with one shared code and, for some models, private codes.

    Satisfies `core.Learns`, `Encodes`, `Decodes`, `Likelihood`, `Representation` and `Settles`. In a training step every
    modality is encoded once and decoded once, all posterior samples stacked along the batch.

    Args:
        spec: what the batches look like.
        latent_dim: dimensions of the shared code.
        private_dims: dimensions of the private code by modality; none for what is not named.
        beta: weight of the divergence terms, constant or rising.
        nets: nets by modality; the default of its kind for what is not named.
        likelihoods: likelihoods by modality; the default of its kind for what is not named.
        scales: weights of the modalities' log-likelihoods in the loss.
        drawn: modalities that are reconstructed, in training, from one of the step's stacked codes for each sample, drawn by
            weight, instead of from all: the same loss in expectation for less decoding and more noise.
        prior: what is fitted to the codes after training, to generate from and to weigh codes by in `log_likelihood`; none
            keeps the standard distribution of the family. The loss always uses the standard distribution.

    Raises:
        ConfigError: settings that cannot be used, all problems at once.
        SpecError: a net or likelihood that does not fit its modality.
    """

    family: type[Diagonal] = DiagonalNormal
    """Family of the experts and the prior."""
    most_modalities: ClassVar[int | None] = None
    """The largest number of modalities that the model can take; None for no limit."""

    def __init__(
        self,
        spec: Spec,
        *,
        latent_dim: int = 24,
        private_dims: Mapping[str, int] | None = None,
        beta: float | Warmup = 1.0,
        nets: Mapping[str, Net] | None = None,
        likelihoods: Mapping[str, ViewLikelihood] | None = None,
        scales: Scales = "none",
        drawn: Collection[str] = (),
        prior: ExPostMixture | None = None,
    ) -> None:
        super().__init__()
        nets, likelihoods, private_dims = nets or {}, likelihoods or {}, private_dims or {}
        self.private_dims = {name: size for name, size in private_dims.items() if size}
        named = {"nets": nets, "likelihoods": likelihoods, "private_dims": private_dims, "drawn": drawn}
        self._check_settings(spec, latent_dim, beta, named)
        self.spec, self.latent_dim, self.beta, self.drawn = spec, latent_dim, beta, frozenset(drawn)
        self.scales = likelihood_scales(spec, scales)
        self.encoders, self.decoders = nn.ModuleDict(), nn.ModuleDict()
        for modality in spec.modalities:
            net = nets.get(modality.name) or default_net(modality)
            likelihood = likelihoods.get(modality.name) or default_likelihood(modality)
            code = latent_dim + self.private_dims.get(modality.name, 0)
            encoder, decoder = net.pair(modality, outputs=2 * code, inputs=code, likelihood=likelihood)
            self.encoders[modality.name], self.decoders[modality.name] = encoder, decoder
        self.fitted = None if prior is None else FittedPrior(prior, latent_dim, self.private_dims)

    @abstractmethod
    def joint(self, experts: Diagonal, present: Tensor) -> CodeDistribution:
        """The posterior of the shared code given experts, loc (M, B, D), of which `present` (M, B) are there; M at least 1."""

    @abstractmethod
    def evidence(self, observation: Observation, generator: torch.Generator | None) -> Evidence:
        """The terms of the model's bound on the evidence of a batch."""

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The negative of the model's bound; see `core.Learns`."""
        evidence = self.evidence(self.observe(batch, self.spec.names), generator)
        return negative_elbo(evidence, scales=self.scales, beta=weight_at(self.beta, progress))

    def encode(self, batch: Batch, observed: Collection[str] | None = None) -> Posterior:
        """The posterior given some modalities; see `core.Encodes`. Nets of what is not observed are not run."""
        names = self._observed(batch, observed)
        prior = self.prior(len(batch))
        if not names:
            return prior
        posterior = self.posterior(self.observe(batch, names))
        return Posterior(posterior.shared, {**prior.private, **posterior.private})

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

    def posterior(self, observation: Observation) -> Posterior:
        """The posterior given what was observed; samples of which nothing is present follow the prior."""
        shared = self.joint(observation.experts, observation.present)
        if self.fitted is None or bool(observation.present.all()):
            return Posterior(shared, observation.private)
        prior = self.prior(observation.present.shape[1])
        private = {
            name: Somewhere(observation.present[observation.names.index(name)], part, prior.private[name])
            for name, part in observation.private.items()
        }
        return Posterior(Rows(observation.present.any(0), shared, prior.shared), private)

    def settle(self, source: Source, *, seed: int) -> None:
        """Fit the prior, if one is to be fitted, to codes of training samples; see `core.Settles`."""
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
        shared = 2 * self.latent_dim
        experts = self.family(*expert_parameters(torch.stack([part[:, :shared] for part in parts])))
        private = {
            name: self.family(*expert_parameters(part[:, shared:])).where(mask)
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
        self,
        observation: Observation,
        name: str,
        shared: Tensor,
        *,
        weight: Tensor,
        private: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Negative log-likelihood of one modality, summed over stacked samples by weight: (B,) nats.

        Args:
            observation: what is to be reconstructed.
            name: the modality; this is the only call of its decoder in a step.
            shared: T stacked samples of the shared code, (T, B, D).
            weight: (T, B) what each sample counts; samples where the modality is absent count 0.
            private: private codes (B, P), if it has any.
            generator: the randomness of `drawn` modalities.
        """
        target = observation.views[name]
        weight = weight * observation.present[observation.names.index(name)]
        if name in self.drawn and len(shared) > 1:
            choice = draw_component(weight, (1,), generator)
            shared, weight = shared[choice, torch.arange(len(target), device=choice.device)], weight.sum(0, keepdim=True)
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

    def _check_settings(
        self, spec: Spec, latent_dim: int, beta: float | Warmup, by_modality: Mapping[str, Collection[str]]
    ) -> None:
        problems = [] if latent_dim >= 1 else [f"latent_dim: expected at least 1, got {latent_dim}"]
        if not isinstance(beta, Warmup) and not 0 <= beta < float("inf"):
            problems.append(f"beta: expected a number of at least 0, got {beta}")
        for what, settings in by_modality.items():
            problems += [
                f"{what}: no modality {name!r}; {nearest(name, spec.names)}" for name in settings if name not in spec.names
            ]
        problems += [
            f"private_dims.{name}: expected at least 0, got {size}" for name, size in self.private_dims.items() if size < 0
        ]
        if self.most_modalities is not None and len(spec.modalities) > self.most_modalities:
            problems.append(f"{type(self).__name__} takes at most {self.most_modalities} modalities, got {len(spec.modalities)}")
        problems += [_reserved(modality) for modality in spec.modalities if hasattr(nn.ModuleDict, modality.name)]
        if problems:
            raise ConfigError(problems)


def _reserved(modality: Modality) -> str:
    return f"a modality cannot be called {modality.name!r}, which is a name of torch's own: rename it"
