"""The supervised MVAE: a product of experts whose code predicts the targets and generates all modalities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

import torch

from molyneux.core import Loss, Spec, SpecError, TrainingError, choice_problems
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import EncodingSpec
from molyneux.learn.encoders.nets import Net
from molyneux.learn.fusion.fusion import FusionLayer
from molyneux.learn.fusion.gated import ProductLayer
from molyneux.learn.likelihoods import Scales, likelihood_scales
from molyneux.learn.objectives import Weight, weight_at, weight_problems
from molyneux.learn.posteriors import DiagonalNormal, product_of_experts
from molyneux.learn.predictors.objectives.auxiliary import AuxiliaryLoss, AuxiliaryObjective, PredictorStep, mean_of
from molyneux.learn.predictors.objectives.reconstruction import Reconstruction, Reconstructions


@dataclass(frozen=True)
class SupervisedMVAE(AuxiliaryObjective):
    """The evidence lower bounds of a multimodal VAE beside a task: Wu & Goodman (NeurIPS 2018), equations 2 and 3.

    The fusion is `ProductOfExperts`, whose posterior is the joint one. Added are the negative bounds of all modalities together
    and of each alone, whose posterior is the product of its expert and the prior: `sum_m scale_m distortion_m + beta rate`.
    Codes are drawn where there is a generator, and else the mean. Modalities that stand beside the product are not generated.

    Bounds in nats of whole views are large beside the loss of a target: `weight`, or the model's `target_weight`, balances them.

    Terms: `distortion.<modality>` and `rate` of the joint posterior, `alone/distortion.<modality>` and `alone/rate.<modality>`,
    of the samples that have the modality, or any.

    Args:
        weight: what the bounds are multiplied by, constant or scheduled.
        beta: weight of the divergence from the prior; annealed by a schedule such as `Warmup`.
        decoders: nets by the name of a modality or by a kind; what is in neither has the default net of its kind.
        reconstruction: the distortion: "likelihood", nats of a view; "mse", the mean squared error of a number; or "sigmoid".
        scales: weights of the modalities' distortions: "none", "auto" by size, or numbers by name.
        beside: as in the fusion.
    """

    weight: Weight = 1.0
    beta: Weight = 1.0
    decoders: Mapping[str, Net] = field(default_factory=dict)
    reconstruction: Reconstruction = "likelihood"
    scales: Scales = "none"
    beside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problems = weight_problems(weight=self.weight, beta=self.beta)
        refuse(problems + choice_problems(reconstruction=(self.reconstruction, get_args(Reconstruction))))

    def check(self, fusion: FusionLayer, *, imputed: bool = False) -> None:
        """See `AuxiliaryObjective`."""
        check_product(self, fusion, self.beside, imputed=imputed)

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> SupervisedMVAELoss:
        """See `AuxiliaryObjective`."""
        return SupervisedMVAELoss(self, spec, encodings, features)


@dataclass(frozen=True)
class PublishedMVAE(AuxiliaryObjective):
    """What MultiBench's published recipes call MVAE: `SupervisedMVAE` without divergence, with the cross-entropy of sigmoids.

    A modality alone has the posterior of its expert without the prior. The recipes multiply the loss of the targets by 2: the
    model's `target_weight`.

    Terms: `distortion.<modality>`, `alone/distortion.<modality>`.

    Args:
        weight: what the reconstructions are multiplied by, constant or scheduled.
        decoders: see `SupervisedMVAE`.
        beside: as in the fusion.
    """

    weight: Weight = 1.0
    decoders: Mapping[str, Net] = field(default_factory=dict)
    beside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._as_mvae()

    def check(self, fusion: FusionLayer, *, imputed: bool = False) -> None:
        """See `AuxiliaryObjective`."""
        check_product(self, fusion, self.beside, imputed=imputed)

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> SupervisedMVAELoss:
        """See `AuxiliaryObjective`."""
        return SupervisedMVAELoss(self._as_mvae(), spec, encodings, features, regularised=False)

    def _as_mvae(self) -> SupervisedMVAE:
        return SupervisedMVAE(self.weight, 0.0, self.decoders, "sigmoid", beside=self.beside)


class SupervisedMVAELoss(AuxiliaryLoss):
    """See `SupervisedMVAE`; where it is not `regularised`, without divergence, and experts alone without the prior."""

    def __init__(
        self,
        settings: SupervisedMVAE,
        spec: Spec,
        encodings: Mapping[str, EncodingSpec],
        features: int,
        *,
        regularised: bool = True,
    ) -> None:
        super().__init__()
        self.settings, self.regularised = settings, regularised
        self.names = tuple(name for name in encodings if name not in settings.beside)
        self.scales = likelihood_scales(spec.restrict(self.names), settings.scales)
        latent = features - sum(encodings[name].vector for name in settings.beside)
        self.reconstructions = Reconstructions(spec, self.names, settings.decoders, latent, settings.reconstruction)

    def forward(self, step: PredictorStep) -> Loss:
        """See `AuxiliaryLoss`."""
        joint, alone = self.posteriors(step)
        code, codes = (item.rsample((), step.generator) if step.generator is not None else item.mean for item in (joint, alone))
        present = {name: step.encodings[name].present for name in self.names}
        terms = {}
        for number, name in enumerate(self.names):
            both = self.reconstructions(name, torch.stack([code, codes[number]]), step)
            terms[f"distortion.{name}"], terms[f"alone/distortion.{name}"] = mean_of(both[0]), mean_of(both[1])
        total = torch.stack([self.scales[name.partition(".")[2]] * term for name, term in terms.items()]).sum()
        if self.regularised:
            observed = torch.stack([*present.values()]).any(0)
            rates = {"rate": mean_of(joint.kl()[observed])}
            for number, name in enumerate(self.names):
                rates[f"alone/rate.{name}"] = mean_of(alone.kl()[number, present[name]])
            total = total + weight_at(self.settings.beta, step.progress) * torch.stack([*rates.values()]).sum()
            terms |= rates
        total = weight_at(self.settings.weight, step.progress) * total
        return Loss(total, {name: term.detach() for name, term in terms.items()})

    def posteriors(self, step: PredictorStep) -> tuple[DiagonalNormal, DiagonalNormal]:
        """Of all modalities together, (B, latent), and of each alone, (M, B, latent)."""
        fusion = getattr(step.model, "fusion", None)
        if not isinstance(fusion, ProductLayer):
            raise TrainingError(f"expected the step of a model that fuses by ProductOfExperts, got {type(fusion).__name__}")
        experts, present = fusion.experts(step.encodings), fusion.present(step.encodings)
        joint = product_of_experts(experts, present, prior_expert=True)
        if not self.regularised:
            return joint, experts.where(present)
        members = torch.eye(len(present), dtype=torch.bool, device=present.device)
        return joint, product_of_experts(experts, present, prior_expert=True, members=members)


def check_product(objective: AuxiliaryObjective, fusion: FusionLayer, beside: tuple[str, ...], *, imputed: bool) -> None:
    """Raise SpecError unless a fusion is a product of experts with these modalities beside it, and nothing is imputed."""
    name = type(objective).__name__
    if imputed:
        raise SpecError(f"{name}: expected no imputation, because a product of experts leaves missing modalities out, got one")
    if not isinstance(fusion, ProductLayer):
        raise SpecError(f"{name}: expected the fusion ProductOfExperts, whose code it decodes, got {type(fusion).__name__}")
    if set(beside) != set(fusion.settings.beside):
        shown, given = (", ".join(names) or "none" for names in (fusion.settings.beside, beside))
        raise SpecError(f"{name}: expected the modalities beside the product that the fusion has ({shown}), got {given}")
