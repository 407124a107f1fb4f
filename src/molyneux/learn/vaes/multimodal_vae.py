"""The contract of the multimodal VAEs: models whose loss is a weighted bound on the evidence of several modalities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping

import torch
from torch import Tensor

from molyneux.core import Batch, Loss, Progress, Spec
from molyneux.learn.likelihoods import Scales, ViewLikelihood
from molyneux.learn.nets import Net
from molyneux.learn.objectives import Evidence, Weight, negative_elbo, weight_at, weight_problems
from molyneux.learn.posteriors import draw_component
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.vaes.autoencoder import Autoencoder, check_samples, unknown_names
from molyneux.learn.vaes.observation import Observation


class MultimodalVAE(Autoencoder):
    """A variational autoencoder of several modalities, which names the terms of its bound on their evidence.

    Args:
        spec: see `Autoencoder`, as `latent_dim`, `private_dims`, `nets`, `likelihoods`, `scales` and `prior`.
        beta: weight of the divergence terms, constant or scheduled.
        drawn: modalities that are reconstructed, in training, from one of the step's stacked codes for each sample, drawn by
            weight, instead of from all: the same loss in expectation for less decoding and more noise.

    Raises:
        ConfigError: settings that cannot be used, all problems at once.
        SpecError: a net or likelihood that does not fit its modality.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        latent_dim: int = 24,
        private_dims: Mapping[str, int] | None = None,
        beta: Weight = 1.0,
        nets: Mapping[str, Net] | None = None,
        likelihoods: Mapping[str, ViewLikelihood] | None = None,
        scales: Scales = "none",
        drawn: Collection[str] = (),
        prior: ExPostMixture | None = None,
    ) -> None:
        super().__init__(
            spec,
            latent_dim=latent_dim,
            private_dims=private_dims,
            nets=nets,
            likelihoods=likelihoods,
            scales=scales,
            prior=prior,
            problems=[*weight_problems(beta=beta), *unknown_names(spec, {"drawn": drawn})],
        )
        self.beta, self.drawn = beta, frozenset(drawn)

    @abstractmethod
    def evidence(self, observation: Observation, generator: torch.Generator | None) -> Evidence:
        """The terms of the model's bound on the evidence of a batch."""

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The negative of the model's bound; see `core.Trainable`. Divergences are from the family's standard distribution."""
        observation = self.observe(batch, self.spec.names)
        check_samples(batch)
        evidence = self.evidence(observation, generator)
        return negative_elbo(evidence, scales=self.scales, beta=weight_at(self.beta, progress))

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
        """See `Autoencoder`; `generator` is the randomness of `drawn` modalities."""
        if name in self.drawn and len(shared) > 1:
            weight = weight * observation.present[observation.names.index(name)]
            choice = draw_component(weight, (1,), generator)
            shared, weight = shared[choice, torch.arange(shared.shape[1], device=choice.device)], weight.sum(0, keepdim=True)
        return super().distortion(observation, name, shared, weight=weight, private=private)
