"""Fusions that weigh modalities by sample: dynamic fusion by a gate, and a product of experts by their precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import SpecError
from molyneux.learn.checks import not_positive, refuse, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec
from molyneux.learn.encoders.layers import he_normal
from molyneux.learn.fusion.fusion import Fusion, FusionLayer, Projections, presence, vector_widths
from molyneux.learn.posteriors import DiagonalNormal, expert_parameters, product_of_experts

_WIDEST = 40.0
"""Largest absolute log-variance that a vector may give; sums of precisions then stay within 32 bits."""


@dataclass(frozen=True)
class DynamicFusion(Fusion):
    """A gate chooses for each sample between experts of single modalities and of all; Xue & Marculescu, DynMM (CVPR 2023).

    Dynamic Multimodal Fusion (CVPR workshops), modality-level fusion, equations 1 to 4: `sum_i g_i E_i(x)`. Every modality has an
    expert, a hidden layer of its vector, and all together have one. The gate is the softmax of a network of all vectors; with
    `hard` it is a choice: in training one drawn by the Gumbel-softmax trick with a straight-through gradient (where a generator
    is given), and otherwise the most probable one. The expert of an absent modality is never chosen.

    Deviations: experts here share the encoders, so that no computation is saved, and the paper's loss of resources (equation 5)
    is left out: what the gate learns is which modality to trust.

    Args:
        width: numbers of each expert, and of the result.
        hidden: units of the gate.
        hard: whether the gate chooses one expert instead of weighing all.
        temperature: of the softmax.
    """

    width: int = 128
    hidden: int = 64
    hard: bool = False
    temperature: float = 1.0

    fewest = 2

    def __post_init__(self) -> None:
        refuse(too_small(self, "width", "hidden") + not_positive(temperature=self.temperature))

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        return DynamicLayer(self, encodings)


class DynamicLayer(FusionLayer):
    """See `DynamicFusion`."""

    def __init__(self, settings: DynamicFusion, encodings: Mapping[str, EncodingSpec]) -> None:
        super().__init__(settings.width)
        self.settings, widths = settings, vector_widths(encodings)
        self.experts = ModalityDict[nn.Linear]()
        for name, width in widths.items():
            self.experts[name] = he_normal(nn.Linear(width, settings.width))
        together = sum(widths.values())
        self.joint = he_normal(nn.Linear(together, settings.width))
        read = he_normal(nn.Linear(together + len(widths), settings.hidden))
        self.gate = nn.Sequential(read, nn.ReLU(), nn.Linear(settings.hidden, len(widths) + 1))

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        together = torch.cat([item.vector for item in encodings.values()], 1)
        found = [expert(encodings[name].vector) for name, expert in self.experts.items()]
        experts = torch.stack([*found, self.joint(together)], 1).relu()
        features: Tensor = (self.weights(encodings, generator).unsqueeze(2) * experts).sum(1)
        return features

    def weights(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """The gate, (B, M + 1): of each modality, and last of all together."""
        present = presence(encodings)
        together = torch.cat([*(item.vector for item in encodings.values()), present], 1)
        logits: Tensor = self.gate(together).float() / self.settings.temperature
        logits = logits.masked_fill(~functional.pad(present, (0, 1), value=True), torch.finfo(torch.float32).min)
        if not self.settings.hard:
            return logits.softmax(1)
        if self.training and generator is not None:
            noise = torch.rand(logits.shape, generator=generator, device=logits.device).clamp(1e-20, 1 - 1e-7)
            logits = logits - (-noise.log()).log() / self.settings.temperature
        soft = logits.softmax(1)
        chosen = functional.one_hot(soft.argmax(1), soft.shape[1]).to(soft)
        return chosen + soft - soft.detach()


@dataclass(frozen=True)
class ProductOfExperts(Fusion):
    """Sensor fusion: a product of normal distributions, one of each modality; Lee et al., Vision and Touch (ICRA 2019).

    The vector of each modality gives mean and variance of a latent code, and the product with the prior N(0, 1) is formed as in
    Wu & Goodman (NeurIPS 2018): a modality that is sure counts more, and an absent one not at all. Features are a draw from the
    product in training, where a generator is given, and else its mean.

    Args:
        latent: dimensions of the code.
        linear: whether a linear layer makes means and log-variances, these bounded softly (`expert_parameters`); without, vectors
            have `2 latent` numbers: means, then log-variances, as they are, but within -40..40 so that no variance is 0 or
            infinite. MultiBench's sensor fusion has the same places, and makes a variance of the second number by softplus.
        beside: modalities whose vectors are no experts but stand beside the code, such as the action of a robot.
        deterministic: whether the mean is taken in training too.
    """

    latent: int = 128
    linear: bool = True
    beside: tuple[str, ...] = ()
    deterministic: bool = False

    def __post_init__(self) -> None:
        refuse(too_small(self, "latent"))

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        experts = {name: width for name, width in vector_widths(encodings).items() if name not in self.beside}
        if unknown := [name for name in self.beside if name not in encodings]:
            raise SpecError(f"beside: expected names of modalities ({', '.join(encodings)}), got {', '.join(unknown)}")
        if not experts:
            raise SpecError("ProductOfExperts: expected at least one modality that is an expert, got all of them in beside")
        if not self.linear and (unfit := [name for name, width in experts.items() if width != 2 * self.latent]):
            raise SpecError(
                f"ProductOfExperts: expected vectors of {2 * self.latent} numbers without linear layers, got {experts[unfit[0]]} "
                f"of {unfit[0]}: change its encoder or latent, or set linear to true"
            )
        return ProductLayer(self, encodings, experts)


class ProductLayer(FusionLayer):
    """See `ProductOfExperts`."""

    def __init__(self, settings: ProductOfExperts, encodings: Mapping[str, EncodingSpec], experts: Mapping[str, int]) -> None:
        super().__init__(settings.latent + sum(encodings[name].vector for name in settings.beside))
        self.settings, self.names = settings, tuple(experts)
        self.projections = Projections(experts, 2 * settings.latent) if settings.linear else None

    def experts(self, encodings: Mapping[str, Encoding]) -> DiagonalNormal:
        """The distribution of each of the M modalities that are experts, (M, B, latent)."""
        chosen = {name: encodings[name] for name in self.names}
        if self.projections is None:
            loc, log_variance = torch.stack([item.vector.float() for item in chosen.values()]).chunk(2, dim=-1)
            return DiagonalNormal(loc, log_variance.clamp(-_WIDEST, _WIDEST))
        return DiagonalNormal(*expert_parameters(torch.stack([*self.projections.vectors(chosen).values()])))

    def present(self, encodings: Mapping[str, Encoding]) -> Tensor:
        """Which samples have which of the experts, (M, B) bool."""
        return presence({name: encodings[name] for name in self.names}).t()

    def posterior(self, encodings: Mapping[str, Encoding]) -> DiagonalNormal:
        """The product of the experts of the modalities that are present and the prior, (B, latent)."""
        return product_of_experts(self.experts(encodings), self.present(encodings), prior_expert=True)

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        product = self.posterior(encodings)
        drawn = self.training and generator is not None and not self.settings.deterministic
        code = product.rsample((), generator) if drawn else product.mean
        return torch.cat([code, *(encodings[name].vector.to(code.dtype) for name in self.settings.beside)], 1)
