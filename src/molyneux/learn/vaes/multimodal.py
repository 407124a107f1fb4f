"""The contract of the multimodal VAEs, which add up the bounds of stacked posteriors of the shared code."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import ClassVar, Unpack

import torch

from molyneux.core import Batch, Loss, Progress, Spec
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.objectives import ELBO, Bound, Weight, weight_problems
from molyneux.learn.priors.conditional import PrivateDensity
from molyneux.learn.vaes.autoencoder import (
    Autoencoder,
    SharedSettings,
    importance_log_likelihood,
    importance_log_weights,
    reporting,
)
from molyneux.learn.vaes.networks import Observation, unknown_names
from molyneux.learn.vaes.stacked import StackedPosteriors, StackEstimates


class _AllSettings(SharedSettings, total=False):
    private_dim: int | Mapping[str, int]


class MultimodalSettings(SharedSettings, total=False):
    """The settings that all multimodal VAEs share; see `MultimodalVAE`."""

    beta: Weight | None
    objective: Bound | None
    drawn: Collection[str]


class MultimodalVAE(Autoencoder):
    """A variational autoencoder of several modalities: `joint` gives its posterior, `stacked` those whose bounds it adds up.

    Satisfies `core.EstimatesLikelihood` beside what an `Autoencoder` does.

    Args:
        spec: see `Autoencoder`, as the settings in `**shared`.
        beta: weight of the divergence terms, constant or scheduled; 1 by default. Short for the objective `ELBO(beta)`.
        objective: the bound that is maximised; by default the ELBO.
        drawn: modalities that are reconstructed, in training, from one of the step's stacked codes for each sample, drawn by
            weight, instead of from all: the same loss in expectation for less decoding and more noise. Only with the ELBO.
    """

    importance_weighted: ClassVar[bool] = True
    """Whether the bounds are those of densities, so that importance-weighted objectives are bounds too."""

    log_likelihood = importance_log_likelihood
    log_weights = importance_log_weights

    def __init__(
        self,
        spec: Spec,
        *,
        beta: Weight | None = None,
        objective: Bound | None = None,
        drawn: Collection[str] = (),
        **shared: Unpack[_AllSettings],
    ) -> None:
        problems = objective_problems(beta, objective, Bound, "a bound, such as ELBO() or IWAE()")
        if isinstance(objective, Bound) and not isinstance(objective, ELBO) and not self.importance_weighted:
            problems.append(f"objective: {type(self).__name__} takes the objective ELBO only, got {type(objective).__name__}")
        problems += unknown_names(spec, {"drawn": drawn})
        if drawn and objective is not None and not isinstance(objective, ELBO):
            problems.append("drawn: only the objective ELBO takes single codes for some modalities: leave it out")
        with reporting(problems):
            super().__init__(spec, **shared)
        self.drawn = frozenset(drawn)
        self.private_priors = ModalityDict[PrivateDensity]()
        self.criterion = (objective or ELBO(1.0 if beta is None else beta)).build(self.latent_dim)

    @abstractmethod
    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The posteriors of the shared code whose bounds the model adds up; `generator` draws, for instance, subsets."""

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The negative of the model's bound; see `core.Trainable`. Divergences are from the standard prior, not a fitted one."""
        observation = self.observe_samples(batch)
        return self.bound(observation, self.stacked(observation, generator), progress, generator)

    def bound(
        self, observation: Observation, stack: StackedPosteriors, progress: Progress, generator: torch.Generator | None
    ) -> Loss:
        """The negative of the objective's bound for stacked posteriors."""
        prior, private = self.loss_prior.of(observation.present.shape[1]).shared, self.private_priors
        estimates = StackEstimates(self.networks, observation, stack, prior, progress, generator, self.drawn, private)
        return self.criterion.loss(estimates)


def objective_problems(beta: Weight | None, objective: object, kind: type, expected: str) -> list[str]:
    """Problems of two settings of which a model takes one: the weight `beta` or an objective of this kind."""
    problems = [] if beta is None else weight_problems(beta=beta)
    if objective is not None and not isinstance(objective, kind):
        problems.append(f"objective: expected {expected}, got {objective!r}")
    elif beta is not None and objective is not None:
        problems.append(f"beta: the objective {type(objective).__name__} has its own weights: give one of the two")
    return problems
