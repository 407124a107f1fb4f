"""JNF: a joint VAE first, then flows as the posteriors given single modalities."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor

from molyneux.core import Batch, CodeDistribution, Loss, Posterior, Progress, Spec
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.posteriors import Diagonal, DiagonalNormal
from molyneux.learn.posteriors.flow_experts import FlowMixture, FlowProduct
from molyneux.learn.posteriors.flows import Flow
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.joint_encoder import JointEncoderVAE, stage_of
from molyneux.learn.vaes.multimodal import MultimodalSettings
from molyneux.learn.vaes.networks import Observation


class JNF(JointEncoderVAE):
    """Senellart et al., Improving Multimodal Joint VAEs through Normalizing Flows and Correlation Analysis (2023).

    arXiv 2305.11832. First a VAE with a joint encoder `q(z|X)`: its negative bound. Then, with that fixed, posteriors given
    single modalities `q(z|x_m)`, each a flow of normal noise whose mean and variance an encoder gives: the loss `-E_q(z|X) sum_m
    log q(z|x_m)` is `sum_m KL(q(z|X) || q(z|x_m))` but for a constant. The training names the two stages:

        stages: [{name: joint, epochs: 10}, {name: flows, epochs: 10}]

    In a training without stages both losses are minimised at once, with the codes of the second taken as constants, so that the
    joint VAE learns the same. Given several but not all modalities, the posterior is `prod_m q(z|x_m) / p(z)^(M - 1)`.

    Deviations from the paper: splines in coupling layers in the place of masked autoregressive flows, whose inverse takes as many
    passes as the code has dimensions; the product is sampled by importance resampling (`FlowProduct`), not by Hamiltonian
    Monte Carlo; no correlation analysis of the inputs (JNF without DCCA).

    Where modalities are missing, the joint encoder reads what is present, and only present experts are trained. `log_likelihood`
    draws codes from the joint encoder where a sample is complete and from the mixture of its experts elsewhere.

    Args:
        spec: see `JointEncoderVAE`, as the settings in `**shared`.
        flow_layers: coupling layers of the flow of each modality.
        flow_width: units of the hidden layers of the net of each coupling layer.
        candidates: of which a code of a product of several experts is chosen; more are nearer to the product.
        joint_width: see `JointEncoderVAE`.
        joint_layers: see `JointEncoderVAE`.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        flow_layers: int = 4,
        flow_width: int = 64,
        candidates: int = 64,
        joint_width: int = 256,
        joint_layers: int = 1,
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        sizes = {"flow_layers": flow_layers, "flow_width": flow_width, "candidates": candidates}
        with reporting([f"{name}: expected at least 1, got {size}" for name, size in sizes.items() if size < 1]):
            super().__init__(spec, joint_width=joint_width, joint_layers=joint_layers, **shared)
        self.candidates = candidates
        self.flows = ModalityDict[Flow]()
        for name in spec.names:
            self.flows[name] = Flow(self.latent_dim, layers=flow_layers, width=flow_width)

    def shared_posterior(self, observation: Observation) -> CodeDistribution:
        """Of the joint encoder where all modalities are observed, the product of the flows elsewhere; see `Autoencoder`."""
        return self.where_complete(observation, lambda *_: FlowProduct(self._mixture(observation), self.candidates))

    def proposal(self, observation: Observation) -> Posterior:
        """The posterior, but the mixture of the flows in the place of their product; see `Autoencoder`."""
        return self.with_prior(observation, self.where_complete(observation, lambda *_: self._mixture(observation)))

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The loss of the stage, with `flow.<modality>` of the second one; see `core.Trainable`.

        Raises:
            ConfigError: the training has a stage of another name.
        """
        stage = stage_of(progress, "joint", "flows")
        observation = self.observe_samples(batch)
        stack = self.stacked(observation, generator)
        if stage == "joint":
            return self.bound(observation, stack, progress, generator)
        codes = stack.posterior.rsample((), generator)[0].detach()
        flows = self._flow_losses(observation, codes)
        bound = Loss(codes.new_zeros(())) if stage == "flows" else self.bound(observation, stack, progress, generator)
        terms = {name: term.detach() for name, term in flows.items()}
        return Loss(bound.total + torch.stack(list(flows.values())).sum(), {**bound.terms, **terms})

    def _flow_losses(self, observation: Observation, codes: Tensor) -> dict[str, Tensor]:
        """`-log q(z|x_m)` of codes (B, D), a mean over the batch, of each observed modality."""
        densities = self._mixture(observation).expert_log_probs(codes)
        means = -(densities * observation.present).mean(-1)
        return {f"flow.{name}": mean for name, mean in zip(observation.names, means.unbind(), strict=True)}

    def _mixture(self, observation: Observation) -> FlowMixture:
        experts: Diagonal = observation.experts
        assert isinstance(experts, DiagonalNormal)  # the family of the model
        return FlowMixture([self.flows[name] for name in observation.names], experts, observation.present)
