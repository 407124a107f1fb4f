"""Models whose joint posterior is an encoder of its own that reads all modalities: what JMVAE, TELBO and JNF share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Unpack

import torch
from torch import Tensor, nn

from molyneux.core import Batch, CodeDistribution, ConfigError, Loss, Progress, Spec, nearest
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.nets import Net, default_net
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, WhereDistribution, product_of_experts
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors

FromExperts = Callable[[Diagonal, Tensor], CodeDistribution]
"""Makes a posterior of experts and their presence, as `Autoencoder.joint` does."""


class JointEncoder(nn.Module):
    """Reads several modalities at once: the features of those present are added up, and hidden layers follow.

    To add up the outputs of linear layers is to join their inputs and have one linear layer. Written as a sum, it does not depend
    on the order of the modalities, and one that is absent adds nothing.

    Args:
        spec: of the batches.
        nets: by modality, of which the encoders are used; the default of its kind for what is not named.
        width: features of each modality, and units of each hidden layer.
        layers: hidden layers.
        outputs: numbers it gives.
    """

    def __init__(self, spec: Spec, nets: Mapping[str, Net], *, width: int, layers: int, outputs: int) -> None:
        super().__init__()
        self.features = ModalityDict[nn.Module]()
        for modality in spec.modalities:
            self.features[modality.name] = (nets.get(modality.name) or default_net(modality)).encoder(modality, width)
        sizes = [width] * (layers + 1)
        hidden = [part for a, b in pairwise(sizes) for part in (nn.ReLU(), nn.Linear(a, b))]
        self.head = nn.Sequential(*hidden, nn.ReLU(), nn.Linear(width, outputs))

    def forward(self, views: Mapping[str, Tensor], lengths: Mapping[str, Tensor], present: Mapping[str, Tensor]) -> Tensor:
        """Raw numbers (B, outputs) of views in model form, of which there is at least one, where they are present, (B,) bool."""
        parts = []
        for name, view in views.items():
            found = self.features[name](view, lengths[name]) if name in lengths else self.features[name](view)
            parts.append(found.float() * present[name].unsqueeze(-1))
        raw: Tensor = self.head(torch.stack(parts).sum(0))
        return raw.float()


class JointEncoderVAE(MultimodalVAE):
    """A multimodal VAE with a joint encoder `q(z|X)` beside the encoders `q(z|x_m)` of each modality alone.

    The joint encoder has nets of its own, as in the papers. In training it reads what is present of a sample. Where all
    modalities are observed, it gives the posterior; elsewhere that is what `joint` makes of the experts, by default their
    product, in which the joint encoder has no part.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        joint_width: features of each modality in the joint encoder, and units of its hidden layers.
        joint_layers: hidden layers of the joint encoder, after the features are joined.
    """

    def __init__(
        self, spec: Spec, *, joint_width: int = 256, joint_layers: int = 1, **shared: Unpack[MultimodalSettings]
    ) -> None:
        sizes = {"joint_width": joint_width, "joint_layers": joint_layers}
        with reporting([f"{name}: expected at least 1, got {size}" for name, size in sizes.items() if size < 1]):
            super().__init__(spec, **shared)
        self.joint_encoder = JointEncoder(
            spec, shared.get("nets") or {}, width=joint_width, layers=joint_layers, outputs=self.numbers * self.latent_dim
        )

    def joint(self, experts: Diagonal, present: Tensor) -> CodeDistribution:
        """The product of the present experts."""
        return product_of_experts(experts, present, prior_expert=False)

    @abstractmethod
    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """What trains the joint encoder and those of single modalities; see `core.Trainable`."""

    def joint_posterior(self, observation: Observation) -> DiagonalNormal:
        """What the joint encoder says of the samples; the prior where nothing is present."""
        present = {name: observation.mask(name) for name in observation.names}
        raw = self.joint_encoder(observation.views, observation.lengths, present)
        posterior = self.experts(raw).where(observation.present.any(0))
        assert isinstance(posterior, DiagonalNormal)  # the family of these models
        return posterior

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """The posterior of the joint encoder alone; see `MultimodalVAE`."""
        weight = observation.present.any(0, keepdim=True).float()
        return StackedPosteriors(self.joint_posterior(observation)[None], weight)

    def shared_posterior(self, observation: Observation) -> CodeDistribution:
        """Of the joint encoder where all modalities are observed, of the experts elsewhere; see `Autoencoder`."""
        return self.where_complete(observation, self.joint)

    def where_complete(self, observation: Observation, others: FromExperts) -> CodeDistribution:
        """The joint encoder's posterior where all modalities are observed, and that of the experts elsewhere."""
        complete = observation.present.all(0) & (len(observation.names) == len(self.spec.names))
        if not bool(complete.any()) and len(complete):
            return others(observation.experts, observation.present)
        whole = self.joint_posterior(observation)
        if bool(complete.all()):
            return whole
        part = others(observation.experts, observation.present)
        if isinstance(part, DiagonalNormal):
            chosen = complete.unsqueeze(-1)
            return DiagonalNormal(
                torch.where(chosen, whole.loc, part.loc), torch.where(chosen, whole.log_variance, part.log_variance)
            )
        return WhereDistribution(complete, whole, part)


def stage_of(progress: Progress, *names: str) -> str:
    """The stage of the training, which is one of these names, or empty where a training has only one.

    Raises:
        ConfigError: another name.
    """
    if progress.stage and progress.stage not in names:
        raise ConfigError(f"stages: expected {' and '.join(names)}, got {progress.stage!r}; {nearest(progress.stage, names)}")
    return progress.stage
