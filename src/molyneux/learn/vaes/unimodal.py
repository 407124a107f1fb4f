"""The contract of models of one modality: a code, what it costs, and what it does not tell."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from molyneux.core import Batch, Loss, Progress
from molyneux.learn.posteriors import Diagonal
from molyneux.learn.vaes.autoencoder import Autoencoder, check_samples
from molyneux.learn.vaes.observation import Observation


class UnimodalAutoencoder(Autoencoder):
    """A model of one modality: the loss is the distortion from one code of each sample, and what these codes cost."""

    most_modalities = 1

    @abstractmethod
    def code(self, observation: Observation, progress: Progress, generator: torch.Generator | None) -> tuple[Tensor, Loss]:
        """Codes (B, D) to be decoded, and their cost: the mean over the batch, where what is absent costs nothing."""

    def joint(self, experts: Diagonal, present: Tensor) -> Diagonal:
        """The only expert, or the prior where its modality is absent."""
        return experts.where(present)[0]

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """See `core.Trainable`; the distortion is reported unscaled."""
        observation = self.observe(batch, self.spec.names)
        check_samples(batch)
        codes, cost = self.code(observation, progress, generator)
        (name,) = observation.names
        with self.decoding(progress):
            weight = torch.ones_like(codes[..., 0]).unsqueeze(0)
            distortion = self.distortion(observation, name, codes.unsqueeze(0), weight=weight).mean()
        total = self.scales[name] * distortion + cost.total
        return Loss(total, {f"distortion.{name}": distortion.detach(), **cost.terms})

    def decoding(self, progress: Progress) -> AbstractContextManager[None]:
        """What the codes of a step are decoded within."""
        return nullcontext()
