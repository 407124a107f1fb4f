"""Auxiliary objectives of predictors: further terms of the loss, made of what a step computed; and unimodal heads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn
from torch.distributions import Distribution
from torch.nn import functional

from molyneux.core import Batch, ConfigError, Loss, Progress, Spec, instance_problems, text_problems
from molyneux.learn.checks import levels_below_zero, refuse
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec
from molyneux.learn.fusion.fusion import FusionLayer
from molyneux.learn.predictors.head import Head, TargetHeads
from molyneux.learn.predictors.predictor import JoiningPredictor, target_loss

HEAD = Head()
SHORTEST = 1e-4
"""Vectors count as at least so long when they are normalised, so that one of zeros has a gradient that is not huge."""


@dataclass(frozen=True)
class PredictorStep:
    """What a predictor computed for a batch before its loss.

    Args:
        batch: the samples; `learn.reading.read_view` gives their views in the form models compute with.
        spec: of the samples.
        encodings: by modality.
        features: the fused features, (B, F) or (B, T, F).
        found: the distribution of each target.
        progress: of the training.
        generator: of all noise.
        model: the predictor, for an objective that asks what it says of other encodings (`JoiningPredictor.distributions`).
        kept: by modality, what modality dropout left of the encodings, from which the features were made; all by default.
    """

    batch: Batch
    spec: Spec
    encodings: Mapping[str, Encoding]
    features: Tensor
    found: Mapping[str, Distribution]
    progress: Progress
    generator: torch.Generator | None = None
    model: JoiningPredictor = field(kw_only=True)
    kept: Mapping[str, Encoding] = field(default=None, kw_only=True)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        if self.kept is None:
            object.__setattr__(self, "kept", self.encodings)

    @property
    def pooled(self) -> Tensor:
        """The features of each whole sample in full precision, (B, F); of steps their mean."""
        features = self.features.float()
        return features if features.dim() == 2 else features.mean(1)

    @property
    def observed(self) -> Tensor:
        """Which samples have any modality that is read, (B,) bool."""
        return torch.stack([encoding.present for encoding in self.encodings.values()]).any(0)


class AuxiliaryObjective(ABC):
    """Settings of further terms of the loss of a predictor; a frozen dataclass, checked at construction."""

    def check(self, fusion: FusionLayer, *, imputed: bool = False) -> None:  # noqa: B027 - most objectives serve any fusion
        """Raise SpecError if this objective cannot serve a fusion, which may be given what is `imputed` for what is missing."""

    @abstractmethod
    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> AuxiliaryLoss:
        """The module that computes the terms.

        Args:
            spec: of the samples.
            encodings: what the encodings of the modalities look like.
            features: numbers of the fused features, of a sample or of each of its steps.
        """


class AuxiliaryLoss(nn.Module, ABC):
    """Computes further terms of a loss; its parameters are trained with the model."""

    whole_batch: str = ""
    """What of the terms looks at the whole batch and is no mean over samples, in a few words; empty where all of them are."""

    @abstractmethod
    def forward(self, step: PredictorStep) -> Loss:
        """What is added to the loss, weights included, and the terms, detached and without weights, by names of their own.

        Terms are means over the samples that they concern; 0 where there are none.
        """


def mean_of(each: Tensor) -> Tensor:
    """The mean of a term of some samples, (N,), in full precision; 0 of none, with a gradient of 0."""
    return each.float().sum() / max(1, len(each))


def normalised(vectors: Tensor) -> Tensor:
    """Vectors (N, D) of length 1 in full precision; those shorter than `SHORTEST` stay shorter."""
    return functional.normalize(vectors.float(), dim=1, eps=SHORTEST)


def weighted(terms: Mapping[str, Tensor], weight: float) -> Loss:
    """A loss of terms that are added up and multiplied by a weight."""
    return Loss(weight * torch.stack(list(terms.values())).sum(), {name: term.detach() for name, term in terms.items()})


def refuse_few(objective: AuxiliaryObjective, encodings: Mapping[str, EncodingSpec], fewest: int = 2) -> None:
    """Raise ConfigError for fewer modalities than an objective needs."""
    if len(encodings) < fewest:
        name, found = type(objective).__name__, ", ".join(encodings)
        raise ConfigError(f"{name}: expected at least {fewest} modalities, got {found}: read more, or leave the objective out")


@dataclass(frozen=True)
class UnimodalHeads(AuxiliaryObjective):
    """A head for each modality predicts the targets from its vector alone; its loss is added.

    Terms: `nll.<target>` and `accuracy.<target>` of each, preceded by the name of the modality and a slash. Samples that lack the
    modality count nothing.

    Args:
        head: see `Head`.
        weight: what the losses are multiplied by; 0 trains the heads without effect on the encoders.
    """

    head: Head = HEAD
    weight: float = 1.0

    def __post_init__(self) -> None:
        refuse(levels_below_zero(weight=self.weight))

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> UnimodalLoss:
        """See `AuxiliaryObjective`."""
        return UnimodalLoss(self, spec, encodings)


class UnimodalLoss(AuxiliaryLoss):
    """See `UnimodalHeads`."""

    def __init__(self, settings: UnimodalHeads, spec: Spec, encodings: Mapping[str, EncodingSpec]) -> None:
        super().__init__()
        self.weight = settings.weight
        self.heads = ModalityDict[TargetHeads]()
        for name, item in encodings.items():
            self.heads[name] = settings.head.build(item.vector, spec.targets)

    def predict(self, encodings: Mapping[str, Encoding]) -> dict[str, dict[str, Distribution]]:
        """By modality, a distribution for each target from it alone."""
        return {name: head(encodings[name].vector) for name, head in self.heads.items()}

    def forward(self, step: PredictorStep) -> Loss:
        """See `AuxiliaryLoss`."""
        encodings = step.encodings
        if not self.weight:
            encodings = {name: item.map(torch.Tensor.detach) for name, item in encodings.items()}
        losses = {
            name: target_loss(found, known_where(step.batch, step.spec, encodings[name].present), step.spec)
            for name, found in self.predict(encodings).items()
        }
        total = torch.stack([loss.total for loss in losses.values()]).sum()
        terms = {f"{name}/{term}": value for name, loss in losses.items() for term, value in loss.terms.items()}
        return Loss((self.weight or 1.0) * total, terms)


def known_where(batch: Batch, spec: Spec, rows: Tensor) -> Batch:
    """A batch whose targets are known only of the samples `rows` (B,) bool of which they are known already."""
    return replace(batch, known={target.name: batch.known_mask(target.name) & rows for target in spec.targets})


@dataclass(frozen=True)
class InStages(AuxiliaryObjective):
    """Another objective that counts in some stages of the training alone, such as a contrastive one in a pre-training.

    Args:
        objective: the other one; its terms are reported where it counts.
        stages: names of the stages.
    """

    objective: AuxiliaryObjective
    stages: tuple[str, ...]

    def __post_init__(self) -> None:
        problems = instance_problems(AuxiliaryObjective, objective=self.objective) + text_problems(stages=self.stages)
        refuse(problems if self.stages else [*problems, "stages: expected at least one name of a stage, got none"])

    def check(self, fusion: FusionLayer, *, imputed: bool = False) -> None:
        """See `AuxiliaryObjective`."""
        self.objective.check(fusion, imputed=imputed)

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> LossInStages:
        """See `AuxiliaryObjective`."""
        return LossInStages(self.objective.build(spec, encodings, features), self.stages)


class LossInStages(AuxiliaryLoss):
    """See `InStages`."""

    def __init__(self, inner: AuxiliaryLoss, stages: tuple[str, ...]) -> None:
        super().__init__()
        self.inner, self.stages = inner, stages

    @property
    def named_stages(self) -> tuple[str, ...]:
        """See `core.NamesStages`."""
        return self.stages

    def forward(self, step: PredictorStep) -> Loss:
        """See `AuxiliaryLoss`."""
        if step.progress.stage not in self.stages:
            return Loss(step.features.new_zeros((), dtype=torch.float32))
        found: Loss = self.inner(step)
        return found
