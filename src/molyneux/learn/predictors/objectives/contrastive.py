"""Contrastive objectives: InfoNCE between the vectors of every two modalities, and between samples of the same label."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import ConfigError, Loss, Spec, nearest
from molyneux.learn.checks import levels_below_zero, not_positive, refuse, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import EncodingSpec
from molyneux.learn.objectives import Weight, weight_at, weight_problems
from molyneux.learn.objectives.contrast import bounded_scale, info_nce, temperature_problems
from molyneux.learn.predictors.objectives.auxiliary import (
    AuxiliaryLoss,
    AuxiliaryObjective,
    PredictorStep,
    mean_of,
    normalised,
    refuse_few,
    weighted,
)


@dataclass(frozen=True)
class Contrastive(AuxiliaryObjective):
    """InfoNCE between every two modalities: Radford et al., CLIP (ICML 2021), figure 3; Oord et al. (2018), equation 4.

    The vector of each modality passes a linear layer without bias and is normalised; the logits of a pair are the inner products
    of all samples of the batch, multiplied by a scale that is learned and stays in 1..100. The loss is the mean of the
    cross-entropies over rows and over columns (`info_nce`). Only samples that have both modalities count.

    As a pre-training it stands in a stage of its own: name that stage in the model's `unsupervised`, and, with `InStages`, where
    this objective ends.

    Terms: `contrast.<first>.<second>`, nats: ln N for N samples that are all alike. Batches need several samples.

    Args:
        weight: what the terms are multiplied by, constant or scheduled.
        width: numbers of the vectors that are compared.
        temperature: at the start of the training.
        weights: by modality, 1 for what is not named; a pair counts the product of both.
    """

    weight: Weight = 1.0
    width: int = 128
    temperature: float = 0.07
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = weight_problems(weight=self.weight) + too_small(self, "width")
        problems += levels_below_zero(**{f"weights.{name}": value for name, value in self.weights.items()})
        refuse(problems + temperature_problems(self.temperature))

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> ContrastiveLoss:
        """See `AuxiliaryObjective`; raises ConfigError for fewer than two modalities, or weights of others."""
        refuse_few(self, encodings)
        unknown = [name for name in self.weights if name not in encodings]
        refuse(f"weights: no modality {name!r}; {nearest(name, encodings)}" for name in unknown)
        return ContrastiveLoss(self, encodings)


class ContrastiveLoss(AuxiliaryLoss):
    """See `Contrastive`."""

    whole_batch = "a contrastive loss"

    def __init__(self, settings: Contrastive, encodings: Mapping[str, EncodingSpec]) -> None:
        super().__init__()
        self.settings, self.projections = settings, ModalityDict[nn.Linear]()
        for name, item in encodings.items():
            self.projections[name] = nn.Linear(item.vector, settings.width, bias=False)
        self.log_scale = nn.Parameter(torch.tensor(-math.log(settings.temperature)))

    @property
    def scale(self) -> Tensor:
        """The inverse temperature, a scalar."""
        return bounded_scale(self.log_scale)

    def forward(self, step: PredictorStep) -> Loss:
        """See `AuxiliaryLoss`."""
        scale, weights, terms, total = self.scale, self.settings.weights, {}, []
        vectors = {name: normalised(layer(step.encodings[name].vector)) for name, layer in self.projections.items()}
        for (first, a), (second, b) in combinations(vectors.items(), 2):
            both = step.encodings[first].present & step.encodings[second].present
            found = info_nce(a[both], b[both], scale)
            terms[f"contrast.{first}.{second}"] = found.detach()
            total.append(weights.get(first, 1.0) * weights.get(second, 1.0) * found)
        return Loss(weight_at(self.settings.weight, step.progress) * torch.stack(total).sum(), terms)


@dataclass(frozen=True)
class MultiSimilarity(AuxiliaryObjective):
    """The multi-similarity loss of the fused features: Wang et al. (CVPR 2019), equations 13 to 15, for one or several labels.

    Samples that share a label are positives of each other, and those that share none are negatives; those without any label
    count nothing. Of the cosines `s` of an anchor, positives count `1/alpha log(1 + sum exp(-alpha (s - threshold)))` and
    negatives `1/beta log(1 + sum exp(beta (s - threshold)))`. With a margin, only those pairs count that are harder than the
    least similar positive or the most similar negative by it. It is the contrastive term of RefNet (Sankaran et al., 2021).

    Terms: `similarity.<target>`, a mean over the samples whose label is known and that have some modality.

    Args:
        target: name of a target of the task class or multilabel; the first one by default.
        weight: what the term is multiplied by, constant or scheduled.
        alpha: of the positives.
        beta: of the negatives.
        threshold: cosine that parts both.
        margin: of the choice of pairs; None takes all.
    """

    target: str = ""
    weight: Weight = 1e-4
    alpha: float = 2.0
    beta: float = 40.0
    threshold: float = 0.5
    margin: float | None = 0.1

    def __post_init__(self) -> None:
        problems = weight_problems(weight=self.weight) + not_positive(alpha=self.alpha, beta=self.beta)
        if not -1 <= self.threshold <= 1:
            problems.append(f"threshold: expected a cosine from -1 to 1, got {self.threshold}")
        refuse(problems + ([] if self.margin is None else levels_below_zero(margin=self.margin)))

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> MultiSimilarityLoss:
        """See `AuxiliaryObjective`; raises ConfigError where no target of the name has labels."""
        labelled = [target.name for target in spec.targets if target.task in ("class", "multilabel")]
        if self.target not in ("", *labelled) or not labelled:
            known = ", ".join(labelled) or "none"
            raise ConfigError(f"target: expected a target of the task class or multilabel ({known}), got {self.target!r}")
        return MultiSimilarityLoss(self, self.target or labelled[0])


class MultiSimilarityLoss(AuxiliaryLoss):
    """See `MultiSimilarity`."""

    whole_batch = "a contrastive loss"

    def __init__(self, settings: MultiSimilarity, target: str) -> None:
        super().__init__()
        self.settings, self.target = settings, target

    def forward(self, step: PredictorStep) -> Loss:
        """See `AuxiliaryLoss`."""
        known = step.batch.known_mask(self.target) & step.observed
        labels, features = step.batch.targets[self.target][known], normalised(step.pooled[known])
        if labels.dim() == 1:
            shared, labelled = labels.unsqueeze(1) == labels, torch.ones_like(labels, dtype=torch.bool)
        else:
            shared, labelled = labels.float() @ labels.float().T > 0, labels.bool().any(1)
        with torch.autocast(features.device.type, enabled=False):
            each = self.each(features @ features.T, shared, labelled)
        return weighted({f"similarity.{self.target}": mean_of(each)}, weight_at(self.settings.weight, step.progress))

    def each(self, cosines: Tensor, shared: Tensor, labelled: Tensor) -> Tensor:
        """The loss of each anchor, (N,), of all cosines (N, N), which samples share a label, and which (N,) have any."""
        settings, usable = self.settings, labelled & labelled.unsqueeze(1)
        positive = usable & shared & ~torch.eye(len(cosines), dtype=torch.bool, device=cosines.device)
        negative = usable & ~shared
        if settings.margin is not None and len(cosines):
            hardest = cosines.masked_fill(~negative, -torch.inf).amax(1, keepdim=True)
            easiest = cosines.masked_fill(~positive, torch.inf).amin(1, keepdim=True)
            positive = positive & (cosines < hardest + settings.margin)
            negative = negative & (cosines > easiest - settings.margin)
        pull = soft_sum(-settings.alpha * (cosines - settings.threshold), positive) / settings.alpha
        return pull + soft_sum(settings.beta * (cosines - settings.threshold), negative) / settings.beta


def soft_sum(exponents: Tensor, counted: Tensor) -> Tensor:
    """`log(1 + sum exp)` over those of the exponents (N, N) that are counted, (N,)."""
    chosen = exponents.masked_fill(~counted, torch.finfo(exponents.dtype).min)
    return functional.pad(chosen, (1, 0)).logsumexp(1)
