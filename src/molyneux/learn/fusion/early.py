"""Fusion step by step: early fusion, inputs side by side and one model of them; and any fusion at each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from molyneux.core import Modality, SpecError
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import Encoder, Encoding, EncodingSpec, ViewEncoder, unfit
from molyneux.learn.encoders.general import MLP, Identity
from molyneux.learn.encoders.nets.net import zeros_beyond
from molyneux.learn.encoders.sequences import RecurrentSteps
from molyneux.learn.fusion.fusion import Fusion, FusionLayer, StepsOfModalities
from molyneux.learn.fusion.pooled import Concatenation

STATIC, SEQUENCE, SIDE_BY_SIDE = MLP((256,), 128, last=True), RecurrentSteps(), Concatenation()


@dataclass(frozen=True)
class EarlyFusion(Fusion):
    """Early fusion (EF): the parts of all modalities side by side at every step, and one model of the sequence.

    Liang et al., MultiBench (2021), section 3.2. Where no encoder is chosen, the inputs themselves are joined. Modalities of one
    part, such as a table, stand beside every step; pictures count as one part of all their pixels. Sequences need as many steps
    each. A step at which a modality has nothing has zeros in its place.

    With encoders that make a vector of each step, such as `MLP(stepwise=True)`, these are joined, as in MultiBench's EF for
    MuJoCo Push.

    Args:
        model: encoder of the joint sequence, of the kind series; of the kind tabular where there is one step. By default a GRU or
            fully connected layers.
        steps: whether features are the states at each step, for a target with a value for each; else the vector of the whole.
    """

    model: ViewEncoder | None = None
    steps: bool = False

    def __post_init__(self) -> None:
        if self.model is not None and not {"series", "tabular"} & self.model.kinds:
            refuse([unfit("model", self.model, "series")])

    def encoder(self, modality: Modality) -> ViewEncoder:
        """The inputs themselves."""
        return Identity()

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        steps = StepsOfModalities("EarlyFusion", encodings)
        count, width = steps.count, sum(steps.widths.values())
        joint = Modality("joint", "series", (count, width)) if count > 1 else Modality("joint", "tabular", (width,))
        model = self.model or (SEQUENCE if count > 1 else STATIC)
        return EarlyFusionLayer(model.build(joint), steps, stepwise=self.steps)


class EarlyFusionLayer(FusionLayer):
    """See `EarlyFusion`."""

    def __init__(self, model: Encoder, steps: StepsOfModalities, *, stepwise: bool) -> None:
        super().__init__(model.width if stepwise else model.vector, steps.count if stepwise else None)
        self.model, self.inputs = model, steps

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        joint = torch.cat(self.inputs.parts(encodings)[0], 2)
        found = self.model(joint.squeeze(1)) if self.inputs.count == 1 else self.model(joint, self.inputs.totals(encodings))
        features: Tensor = found.vector if self.steps is None else found.parts
        return features


@dataclass(frozen=True)
class AtEachStep(Fusion):
    """Any other fusion, applied to what the modalities have at each step; features are those of every step.

    For a target with a value for each step. MultiBench's late fusion for MuJoCo Push is `AtEachStep(Concatenation())` of the
    states of recurrent encoders. Modalities of one part have it at every step; sequences need as many steps each. At a step at
    which a modality has nothing, it is absent for the fusion.

    Args:
        fusion: what is applied; a fusion of whole views.
    """

    fusion: Fusion = SIDE_BY_SIDE

    def encoder(self, modality: Modality) -> ViewEncoder:
        """The encoder that the fusion prefers."""
        return self.fusion.encoder(modality)

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        steps = StepsOfModalities("AtEachStep", encodings)
        if steps.count == 1:
            raise SpecError(
                f"AtEachStep: expected a sequence among the modalities, got none: choose {type(self.fusion).__name__}"
            )
        alone = {
            name: replace(encodings[name], vector=width, count=1, width=width, layers=(width,), sequence=False)
            for name, width in steps.widths.items()
        }
        layer = self.fusion.build(alone)
        return AtEachStepLayer(layer, steps)


class AtEachStepLayer(FusionLayer):
    """See `AtEachStep`."""

    def __init__(self, layer: FusionLayer, steps: StepsOfModalities) -> None:
        super().__init__(layer.features, steps.count)
        self.layer, self.inputs = layer, steps

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`; 0 beyond the last step of a sample."""
        parts, there = self.inputs.parts(encodings)
        alone = {
            name: Encoding(part.flatten(0, 1), part.flatten(0, 1).unsqueeze(1), here.reshape(-1, 1), present=here.flatten())
            for name, part, here in zip(encodings, parts, there.unbind(2), strict=True)
        }
        features: Tensor = self.layer(alone, generator)
        return zeros_beyond(features.reshape(*there.shape[:2], -1), self.inputs.totals(encodings), 1)
