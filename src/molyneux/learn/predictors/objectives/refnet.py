"""RefNet: fused features are aligned with what each modality says; and the reconstruction that its published code has instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from torch import nn

from molyneux.core import Loss, Spec, choice_problems
from molyneux.learn.checks import not_positive, refuse
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import EncodingSpec, read_view
from molyneux.learn.encoders.layers import perceptron
from molyneux.learn.encoders.steps import ViewSteps, step_mask
from molyneux.learn.objectives import Weight, weight_at, weight_problems
from molyneux.learn.objectives.contrast import info_nce
from molyneux.learn.predictors.objectives.auxiliary import (
    AuxiliaryLoss,
    AuxiliaryObjective,
    PredictorStep,
    mean_of,
    normalised,
    weighted,
)

Refined = Literal["features", "encodings"]


@dataclass(frozen=True)
class RefNet(AuxiliaryObjective):
    """Multimodal fusion refiner networks: `sum_m (1 - cos(g_m(h), z_m))`, of fused features and each modality's vector.

    Sankaran et al. (2021), section 3: a refiner decodes the fused features to each modality's encoding. MultiBench (Liang et al.,
    2021, section 3.3) has it the other way round, `1 - cos(h, g_m(z_m))`: "encodings". The published code of MultiBench does
    neither, see `RefNetReconstruction`. With a temperature the other samples of the batch are negatives, as in contrastive
    multiview coding (Tian et al., ECCV 2020): the cosine is replaced by `info_nce` of both vectors.

    Terms: `alignment.<modality>`, a mean over the samples that have it.

    Args:
        weight: what the terms are multiplied by, constant or scheduled.
        hidden: units of the hidden layers of the refiner, with ReLU; none for a linear one.
        refined: "features", or "encodings".
        temperature: of the cosines, which needs batches of several samples; None for no negatives.
    """

    weight: Weight = 0.1
    hidden: tuple[int, ...] = ()
    refined: Refined = "features"
    temperature: float | None = None

    def __post_init__(self) -> None:
        problems = weight_problems(weight=self.weight) + hidden_problems(hidden=self.hidden)
        problems += choice_problems(refined=(self.refined, get_args(Refined)))
        refuse(problems + ([] if self.temperature is None else not_positive(temperature=self.temperature)))

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> RefNetLoss:
        """See `AuxiliaryObjective`."""
        return RefNetLoss(self, encodings, features)


class RefNetLoss(AuxiliaryLoss):
    """See `RefNet`."""

    def __init__(self, settings: RefNet, encodings: Mapping[str, EncodingSpec], features: int) -> None:
        super().__init__()
        self.settings, self.refiners = settings, ModalityDict[nn.Sequential]()
        for name, item in encodings.items():
            ends = (features, item.vector) if settings.refined == "features" else (item.vector, features)
            self.refiners[name] = perceptron((ends[0], *settings.hidden, ends[1]))

    def forward(self, step: PredictorStep) -> Loss:
        """See `AuxiliaryLoss`."""
        temperature, terms = self.settings.temperature, {}
        for name, refiner in self.refiners.items():
            encoding = step.encodings[name]
            pair = (step.pooled[encoding.present], encoding.vector[encoding.present])
            pair = (refiner(pair[0]), pair[1]) if self.settings.refined == "features" else (pair[0], refiner(pair[1]))
            first, second = map(normalised, pair)
            each = 1 - (first * second).sum(1)
            found = mean_of(each) if temperature is None else info_nce(first, second, 1 / temperature)
            terms[f"alignment.{name}"] = found
        return weighted(terms, weight_at(self.settings.weight, step.progress))


@dataclass(frozen=True)
class RefNetReconstruction(AuxiliaryObjective):
    """What MultiBench's published code calls RefNet: `sum_m (1 - cos(g(h)_m, x_m))`, of a refiner's output and the inputs.

    One network makes of the fused features all numbers of all inputs, side by side; each slice is compared with the flattened
    input. Symbols stand as vectors with a single one; numbers beyond a length are 0 on both sides.

    Terms: `reconstruction.<modality>`, a mean over the samples that have it.

    Args:
        weight: what the terms are multiplied by, constant or scheduled.
        hidden: units of the hidden layers of the refiner, with ReLU.
    """

    weight: Weight = 0.1
    hidden: tuple[int, ...] = (1000,)

    def __post_init__(self) -> None:
        refuse(weight_problems(weight=self.weight) + hidden_problems(hidden=self.hidden))

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> RefNetReconstructionLoss:
        """See `AuxiliaryObjective`."""
        return RefNetReconstructionLoss(self, spec, encodings, features)


class RefNetReconstructionLoss(AuxiliaryLoss):
    """See `RefNetReconstruction`."""

    def __init__(self, settings: RefNetReconstruction, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> None:
        super().__init__()
        self.settings, self.steps = settings, ModalityDict[ViewSteps]()
        for name in encodings:
            self.steps[name] = ViewSteps(spec.modality(name), 0)
        self.sizes = [steps.count * steps.width for steps in self.steps.values()]
        self.refiner = perceptron((features, *settings.hidden, sum(self.sizes)))

    def forward(self, step: PredictorStep) -> Loss:
        """See `AuxiliaryLoss`."""
        terms = {}
        slices = self.refiner(step.pooled).split(self.sizes, 1)
        for (name, steps), found in zip(self.steps.items(), slices, strict=True):
            present = step.encodings[name].present
            values, counts = steps(read_view(step.batch, step.spec, name), step.batch.lengths.get(name))
            within = step_mask(counts, steps.count)[present].unsqueeze(2)
            made = (found[present].unflatten(1, (steps.count, steps.width)) * within).flatten(1)
            each = 1 - (normalised(made) * normalised(values[present].flatten(1))).sum(1)
            terms[f"reconstruction.{name}"] = mean_of(each)
        return weighted(terms, weight_at(self.settings.weight, step.progress))


def hidden_problems(**hidden: tuple[int, ...]) -> list[str]:
    """A problem for each setting that has a layer without units."""
    return [
        f"{name}: expected units of each layer, at least 1, got {sizes}"
        for name, sizes in hidden.items()
        if any(size < 1 for size in sizes)
    ]
