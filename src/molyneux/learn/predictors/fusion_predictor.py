"""FusionPredictor: any number of modalities, an encoder for each, imputation, a fusion, a head, and auxiliary objectives."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

import torch
from torch import Tensor, nn

from molyneux.core import (
    Batch,
    ConfigError,
    Kind,
    Loss,
    Modality,
    Progress,
    Spec,
    SpecError,
    instance_problems,
    instances_problems,
    nearest,
    text_problems,
)
from molyneux.core.tooling.moved import moved
from molyneux.learn.checks import dropout_problems, refuse
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder
from molyneux.learn.fusion.fusion import Fusion
from molyneux.learn.fusion.pooled import Concatenation
from molyneux.learn.objectives import Weight, weight_at, weight_problems
from molyneux.learn.predictors.head import Head, stepwise
from molyneux.learn.predictors.imputations.imputation import Imputation, drop_modalities
from molyneux.learn.predictors.objectives.auxiliary import AuxiliaryObjective, PredictorStep, UnimodalLoss
from molyneux.learn.predictors.predictor import JoiningPredictor, target_loss

FUSION, HEAD = Concatenation(), Head()


@dataclass(frozen=True)
class TargetLoss:
    """How much the loss of the targets counts in training, beside the auxiliary objectives.

    Args:
        weight: what it is multiplied by, constant or scheduled; terms are reported without it.
        unsupervised: names of stages of the training in which it does not count, such as a contrastive pre-training.
    """

    weight: Weight = 1.0
    unsupervised: tuple[str, ...] = ()


@dataclass(frozen=True)
class MissingModalities:
    """What a model does about modalities that a sample lacks.

    Args:
        imputation: what stands in for the encodings of missing modalities; by default zeros, and the fusion is told.
        dropout: probability that a modality which a sample has is hidden in a training step, given that one is kept; one for all,
            or by modality. See `drop_modalities`.
    """

    imputation: Imputation | None = None
    dropout: float | Mapping[str, float] = 0.0

    def rates(self, names: Collection[str]) -> dict[str, float]:
        """The dropout of each modality that is read, and of others where the setting names them."""
        return dict(self.dropout) if isinstance(self.dropout, Mapping) else dict.fromkeys(names, self.dropout)

    def problems(self, names: Collection[str]) -> list[str]:
        """What is wrong with the dropout of the modalities that are read."""
        if not isinstance(self.dropout, Mapping):
            return dropout_problems(**{"missing.dropout": self.dropout})
        unknown = [f"missing.dropout: no modality {name!r}; {nearest(name, names)}" for name in self.dropout if name not in names]
        return unknown + dropout_problems(**{f"missing.dropout.{name}": rate for name, rate in self.dropout.items()})


class FusionPredictor(JoiningPredictor):
    """Predicts the targets of the samples from any modalities: encoders, a fusion and a head, which combine freely.

    All widths follow from the spec. Samples may lack any modality, and views may have lengths. With one modality in `modalities`
    it is the unimodal model of that modality.

    Args:
        spec: see `Predictor`.
        encoders: settings of the encoders, by the name of a modality or by a kind; a name wins over a kind, and what is in
            neither has the encoder that the fusion prefers, which is most often the default of its kind.
        fusion: how the encodings are joined.
        head: see `Head`.
        objectives: what is added to the loss.
        targets: how much the loss of the targets counts.
        modalities: which are read, in this order; all of them by default.
        missing: what is done about modalities that a sample lacks.

    Raises:
        ConfigError: a name of a modality or kind that is unknown.
        SpecError: an encoder does not fit its modality, or the fusion the encodings.
    """

    @moved(
        target_weight="targets.weight",
        unsupervised="targets.unsupervised",
        imputation="missing.imputation",
        modality_dropout="missing.dropout",
    )
    def __init__(
        self,
        spec: Spec,
        *,
        encoders: Mapping[str, ViewEncoder] | None = None,
        fusion: Fusion = FUSION,
        head: Head = HEAD,
        objectives: tuple[AuxiliaryObjective, ...] = (),
        targets: TargetLoss = TargetLoss(),
        modalities: tuple[str, ...] = (),
        missing: MissingModalities = MissingModalities(),
    ) -> None:
        refuse(_kind_problems(encoders, fusion, head, objectives, targets, missing))
        refuse(text_problems(**{"modalities": modalities, "targets.unsupervised": targets.unsupervised}))
        names = tuple(modalities) or spec.names
        imputation = missing.imputation
        problems = [*_unknown(spec, encoders or {}, names), *missing.problems(names)]
        problems += weight_problems(**{"targets.weight": targets.weight})
        problems += [] if objectives or imputation is not None else _idle_stages(targets.unsupervised)
        if problems:
            raise ConfigError(problems)
        chosen = {name: _chosen(spec.modality(name), encoders or {}) or fusion.encoder(spec.modality(name)) for name in names}
        super().__init__(spec, chosen)
        self.encoding_specs = {name: encoder.encoding_spec for name, encoder in self.encoders.items()}
        self.imputer = None if imputation is None else imputation.build(spec, self.encoders)
        self.modality_dropout = {name: float(rate) for name, rate in missing.rates(names).items()}
        self.fusion = fusion.build(self.encoding_specs if self.imputer is None else self.imputer.encoding_specs)
        features, steps = self.fusion.features, self.fusion.steps
        if steps is not None and not any(stepwise(target, steps) for target in spec.targets):
            shapes = ", ".join(f"{target.name} {target.shape}" for target in spec.targets)
            raise SpecError(
                f"{type(fusion).__name__} gives features of {steps} steps, but no target is a number of shape ({steps}, ...), "
                f"only {shapes}: set its steps to false"
            )
        self.answers = head.build(features, spec.targets, steps=steps)
        for item in objectives:
            item.check(self.fusion, imputed=self.imputer is not None)
        self.objectives = nn.ModuleList(item.build(spec, self.encoding_specs, features) for item in objectives)
        self.target_weight, self.unsupervised = targets.weight, tuple(targets.unsupervised)

    @property
    def named_stages(self) -> tuple[str, ...]:
        """See `core.NamesStages`."""
        return self.unsupervised

    def join(self, encodings: Mapping[str, Encoding]) -> Tensor:
        """The fused features, (B, F) or (B, T, F)."""
        return self.fuse(encodings)

    def features(self, batch: Batch, observed: Collection[str] | None = None) -> Tensor:
        """See `Predictor`; raises SpecError if the batch does not fit the spec, or a name is unknown."""
        found = self.encodings(batch, observed)
        return self.fuse(found, batch=batch) if len(batch) else self.no_features()

    def fuse(
        self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None, *, batch: Batch | None = None
    ) -> Tensor:
        """The fused features, (B, F) or (B, T, F), of encodings and of what is imputed in place of those that are absent.

        Args:
            encodings: by modality.
            generator: of the noise of an imputation or fusion that has any.
            batch: what was encoded, for an imputation of views (`VAEImputation`); without it, such an imputation leaves zeros.
        """
        if self.imputer is not None:
            encodings = self.imputer(encodings, self.encoders, batch, generator)
        features: Tensor = self.fusion(encodings, generator)
        return features

    def no_features(self) -> Tensor:
        """See `JoiningPredictor`."""
        steps = () if self.fusion.steps is None else (self.fusion.steps,)
        return torch.zeros(0, *steps, self.fusion.features, device=next(self.parameters()).device)

    def represent(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Tensor]:
        """The features as `shared`, of steps their mean; see `core.Representation`."""
        features = self.features(batch, observed).float()
        return {"shared": features if features.dim() == 2 else features.mean(1)}

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """See `Predictor`; with the terms of the auxiliary objectives and of the imputation."""
        self.check_targets(batch)
        alone = None if self.imputer is None else self.imputer.stage_loss(batch, progress, generator)
        if alone is not None:
            return alone
        return self.step_loss(self.training_step(batch, progress, generator))

    def training_step(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> PredictorStep:
        """What a step computes before its loss, for a training structure that weighs losses itself.

        Its encodings are those of what the samples have; modality dropout and imputation change what is fused.
        """
        encodings = kept = self.encodings(batch)
        if self.training and self.imputer is not None:
            self.imputer.observe(encodings, batch)
        if self.training and any(self.modality_dropout.values()):
            kept = drop_modalities(encodings, self.modality_dropout, generator)
        features = self.fuse(kept, generator, batch=batch)
        found = self.answers(features)
        return PredictorStep(batch, self.spec, encodings, features, found, progress, generator, model=self, kept=kept)

    def step_loss(self, step: PredictorStep) -> Loss:
        """The loss of what a step computed, and its terms."""
        loss = target_loss(step.found, step.batch, self.spec)
        weight = 0.0 if step.progress.stage in self.unsupervised else weight_at(self.target_weight, step.progress)
        return self.with_objectives(Loss(weight * loss.total, loss.terms), step)

    def with_objectives(self, loss: Loss, step: PredictorStep) -> Loss:
        """A loss of what a step computed, with the terms of the auxiliary objectives added."""
        total, terms = loss.total, dict(loss.terms)
        for objective in self.objectives:
            part: Loss = objective(step)
            total, terms = total + part.total, {**terms, **part.terms}
        added: Loss | None = None if self.imputer is None else self.imputer.loss(step, self.answers)
        return Loss(total, terms) if added is None else Loss(total + added.total, {**terms, **added.terms})

    @property
    def unimodal_heads(self) -> UnimodalLoss | None:
        """The heads of the objective `UnimodalHeads`; None without it."""
        return next((item for item in self.objectives if isinstance(item, UnimodalLoss)), None)


def _chosen(modality: Modality, encoders: Mapping[str, ViewEncoder]) -> ViewEncoder | None:
    return encoders.get(modality.name) or encoders.get(modality.kind)


def _kind_problems(
    encoders: object, fusion: object, head: object, objectives: object, targets: object, missing: object
) -> Iterator[str]:
    """A problem for each setting that is of no class that can be used, such as a class or its name."""
    if isinstance(encoders, Mapping):
        yield from instance_problems(ViewEncoder, **{f"encoders.{name}": item for name, item in encoders.items()})
    elif encoders is not None:
        yield from instance_problems(Mapping, encoders=encoders)
    yield from instance_problems(Fusion, fusion=fusion)
    yield from instance_problems(Head, head=head)
    yield from instances_problems(AuxiliaryObjective, objectives=objectives)
    yield from instance_problems(TargetLoss, targets=targets)
    yield from instance_problems(MissingModalities, missing=missing)
    if isinstance(missing, MissingModalities) and missing.imputation is not None:
        yield from instance_problems(Imputation, **{"missing.imputation": missing.imputation})


def _idle_stages(names: tuple[str, ...]) -> list[str]:
    """A problem if there are stages in which nothing is learned."""
    told = "targets.unsupervised: expected objectives that count in the stages {}, got none: nothing would be learned there"
    return [told.format(", ".join(names))] if names else []


def _unknown(spec: Spec, encoders: Mapping[str, ViewEncoder], names: tuple[str, ...]) -> Iterator[str]:
    """A problem for each setting that names no modality."""
    known = {*spec.names, *get_args(Kind)}
    for name in encoders:
        if name not in known:
            yield f"encoders: no modality or kind {name!r}; {nearest(name, known)}"
    for name in names:
        if name not in spec.names:
            yield f"modalities: no modality {name!r}; {nearest(name, spec.names)}"
    if len(set(names)) < len(names):
        yield f"modalities: expected names that differ, got {', '.join(names)}"
