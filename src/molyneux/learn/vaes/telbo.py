"""TELBO: a joint encoder and encoders of each modality alone, each with a bound of its own."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Unpack

import torch

from molyneux.core import Batch, Loss, Progress, Spec
from molyneux.learn.objectives import frozen
from molyneux.learn.posteriors import DiagonalNormal
from molyneux.learn.vaes.joint_encoder import JointEncoderVAE, stage_of
from molyneux.learn.vaes.multimodal import MultimodalSettings, StackedPosteriors
from molyneux.learn.vaes.networks import Observation


class TELBO(JointEncoderVAE):
    """Vedantam, Fischer, Huang & Murphy, Generative Models of Visually Grounded Imagination (ICLR 2018): the triple ELBO.

    The loss is the sum of the negative bounds of the joint encoder, which reconstructs all modalities, and of each modality's own
    encoder, which reconstructs its own: `-sum_m E_q(z|X) log p(x_m|z) + KL(q(z|X) || p(z)) + sum_m [-E_q(z|x_m) log p(x_m|z) +
    KL(q(z|x_m) || p(z))]`.

    It is trained at once, or in two stages that the training names: `joint`, the first bound alone, and `unimodal`, the others,
    where the decoders stay as they are:

        stages: [{name: joint, epochs: 10}, {name: unimodal, epochs: 10}]

    Deviations from the paper: any number of modalities; the scales of the likelihoods are the same in all bounds, where the
    paper has one for each bound; given several but not all modalities, the posterior is the product of their experts.

    Where modalities are missing, the joint encoder reads what is present, and an expert that is absent has no bound.

    Args:
        spec: see `JointEncoderVAE`, as the settings in `**shared`.
        joint_width: see `JointEncoderVAE`.
        joint_layers: see `JointEncoderVAE`.
    """

    def __init__(
        self, spec: Spec, *, joint_width: int = 256, joint_layers: int = 1, **shared: Unpack[MultimodalSettings]
    ) -> None:
        super().__init__(spec, joint_width=joint_width, joint_layers=joint_layers, **shared)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The posterior of the joint encoder, then each expert; see `MultimodalVAE`."""
        joint, alone = self.joint_posterior(observation), self._unimodal(observation)
        experts = observation.experts.where(observation.present)
        loc = torch.cat([joint.loc.unsqueeze(0), experts.loc])
        log_variance = torch.cat([joint.log_variance.unsqueeze(0), experts.log_variance])
        weight = torch.cat([observation.present.any(0, keepdim=True).float(), alone.weight])
        first = torch.zeros(1, dtype=torch.int64, device=loc.device)
        own = {name: torch.cat([first, rows + 1]) for name, rows in alone.reconstructs.items()}
        return StackedPosteriors(DiagonalNormal(loc, log_variance), weight, reconstructs=own)

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The negative bounds of the stage; see `core.Trainable`. Raises ConfigError for a stage of another name."""
        stage = stage_of(progress, "joint", "unimodal")
        observation = self.observe_samples(batch)
        if stage == "joint":
            return self.bound(observation, super().stacked(observation, generator), progress, generator)
        stack = self._unimodal(observation) if stage == "unimodal" else self.stacked(observation, generator)
        with frozen(self.decoders) if stage == "unimodal" and self.training else nullcontext():
            return self.bound(observation, stack, progress, generator)

    def _unimodal(self, observation: Observation) -> StackedPosteriors:
        """Each expert alone, which reconstructs its own modality."""
        experts = observation.experts.where(observation.present)
        own = {name: torch.tensor([i], device=experts.loc.device) for i, name in enumerate(observation.names)}
        return StackedPosteriors(experts, observation.present.float(), reconstructs=own)
