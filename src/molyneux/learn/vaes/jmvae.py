"""JMVAE: a joint encoder, and encoders of each modality alone that are drawn to it."""

from __future__ import annotations

from typing import Unpack

import torch

from molyneux.core import Batch, Loss, Progress, Spec
from molyneux.learn.objectives import Weight, weight_at, weight_problems
from molyneux.learn.posteriors import DiagonalNormal
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.joint_encoder import JointEncoderVAE
from molyneux.learn.vaes.multimodal import MultimodalSettings


class JMVAE(JointEncoderVAE):
    """Suzuki, Nakayama & Matsuo, Joint Multimodal Learning with Deep Generative Models (ICLR workshop 2017; arXiv 1611.01891).

    JMVAE-kl: the loss is the negative bound of the joint encoder, `-E_q(z|X) sum_m log p(x_m|z) + KL(q(z|X) || p(z))`, and
    `alpha sum_m KL(q(z|X) || q(z|x_m))`, which trains the encoders of single modalities. With alpha 0 these are not trained: the
    paper's plain JMVAE.

    Deviations from the paper: any number of modalities; given several but not all of them, the posterior is the product of their
    experts, as is usual since (each of them has learned the prior, which thus counts more than once). A net's hidden layers are
    shared by no two encoders, as in the paper.

    Where modalities are missing, the joint encoder reads what is present, and only present experts are drawn to it.

    Args:
        spec: see `JointEncoderVAE`, as the settings in `**shared`.
        alpha: weight of the divergences between the joint encoder and those of single modalities, constant or scheduled.
        joint_width: see `JointEncoderVAE`.
        joint_layers: see `JointEncoderVAE`.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        alpha: Weight = 0.1,
        joint_width: int = 256,
        joint_layers: int = 1,
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        with reporting(weight_problems(alpha=alpha)):
            super().__init__(spec, joint_width=joint_width, joint_layers=joint_layers, **shared)
        self.alpha = alpha

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The negative bound, with the weighed divergences `divergence.<modality>`, reported unweighed; see `core.Trainable`."""
        observation = self.observe_samples(batch)
        stack, experts = self.stacked(observation, generator), observation.experts.where(observation.present)
        assert isinstance(stack.posterior, DiagonalNormal)  # as `stacked` makes it
        assert isinstance(experts, DiagonalNormal)
        bound = self.bound(observation, stack, progress, generator)
        each = (stack.posterior.kl_to(experts) * observation.present).mean(-1)
        total = bound.total + weight_at(self.alpha, progress) * each.sum()
        terms = {f"divergence.{name}": value for name, value in zip(observation.names, each.detach(), strict=True)}
        return Loss(total, {**bound.terms, **terms})
