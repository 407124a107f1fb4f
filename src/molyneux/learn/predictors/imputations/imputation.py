"""The contract of the imputations: encodings of some modalities become encodings of all, in front of any fusion.

What is missing is what `Encoding.present` says. An imputation computes with nothing else: what stands in a view that is absent
reaches no stand-in, no statistic and no loss. Shapes: B samples, M modalities, D numbers of a whole view.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from molyneux.core import Batch, Loss, Progress, Spec
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoder, Encoding, EncodingSpec
from molyneux.learn.predictors.head import TargetHeads
from molyneux.learn.predictors.objectives.auxiliary import PredictorStep


class Imputation(ABC):
    """Settings of an imputation; a frozen dataclass, checked at construction."""

    @abstractmethod
    def build(self, spec: Spec, encoders: ModalityDict[Encoder]) -> Imputer:
        """The module that imputes.

        Args:
            spec: of the samples.
            encoders: of the modalities that are read.

        Raises:
            ConfigError, SpecError: it does not fit the modalities.
        """


class Imputer(nn.Module, ABC):
    """Fills in encodings of missing modalities.

    Args:
        encoding_specs: what the encodings that it gives look like.
    """

    def __init__(self, encoding_specs: Mapping[str, EncodingSpec]) -> None:
        super().__init__()
        self.encoding_specs = dict(encoding_specs)

    @abstractmethod
    def forward(
        self,
        encodings: Mapping[str, Encoding],
        encoders: ModalityDict[Encoder],
        batch: Batch | None = None,
        generator: torch.Generator | None = None,
    ) -> dict[str, Encoding]:
        """The encodings with stand-ins, present where there is one.

        Args:
            encodings: of every modality that is read; blank where it is absent.
            encoders: that made them.
            batch: the samples, for an imputation of views; None where there are only encodings, which then stay blank.
            generator: of noise in training.
        """

    def observe(self, encodings: Mapping[str, Encoding], batch: Batch) -> None:
        """Note what is present in a batch of training samples, for statistics; called once a step, before `forward`."""

    def loss(self, step: PredictorStep, answers: TargetHeads) -> Loss | None:
        """What is added to the loss of a step, weights included, and its terms; None for nothing.

        Args:
            step: what the predictor computed; `step.encodings` are those without stand-ins, `step.features` with them.
            answers: the head of the predictor.
        """
        return None

    def stage_loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None) -> Loss | None:
        """The whole loss of a stage in which the imputation trains alone; None in all others."""
        return None


def drop_modalities(
    encodings: Mapping[str, Encoding], rates: Mapping[str, float], generator: torch.Generator | None = None
) -> dict[str, Encoding]:
    """Modality dropout: each present modality of a sample becomes absent with its rate, given that one of the sample's is kept.

    ModDrop of Neverova et al. (arXiv:1501.00102, section 4.2) drops each independently; that one sensor is always kept is sensor
    dropout (Liu et al., Learning End-to-end Multimodal Sensor Policies, CoRL 2017). What is dropped is absent to all that
    follows, as if the sample lacked it; a sample without any modality stays as it is.

    Args:
        encodings: by modality.
        rates: probability to be dropped, in 0..1; modalities that are not named are always kept.
        generator: of the draws.
    """
    present = torch.stack([item.present for item in encodings.values()], 1)
    chances = torch.tensor([rates.get(name, 0.0) for name in encodings], dtype=torch.float64).to(present.device, torch.float32)
    lost = torch.where(present, chances, 1.0)
    some_left = 1 - lost.flip(1).cumprod(1).flip(1)
    first = torch.where(some_left > 0, (1 - lost) / some_left.clamp(min=1e-30), 0.0)
    draws = torch.rand(present.shape, generator=generator, device=present.device)
    kept, found = torch.zeros_like(present[:, 0]), {}
    for column, (name, item) in enumerate(encodings.items()):
        here = (draws[:, column] < torch.where(kept, 1 - lost[:, column], first[:, column])) & present[:, column]
        kept = kept | here
        found[name] = where_present(here, item)
    return found


def where_present(rows: Tensor, encoding: Encoding) -> Encoding:
    """An encoding that is blank but for the samples `rows` (B,) bool."""
    return encoding.map(lambda tensor: tensor.where(expanded(rows, tensor), torch.zeros_like(tensor)))


def encoded_stand_in(encoder: Encoder, view: Tensor) -> Encoding:
    """The encoding of views (N, *shape) that stand in for missing ones, normalised by the running statistics of real views.

    In training, batch normalisation would take the statistics of the stand-ins alone, of which there may be one, and mix them
    into the running ones of the real views. Now a stand-in has the same encoding in training and in evaluation, and real views
    are normalised as if there were none. Gradients reach the encoder.
    """
    changed = [part for part in encoder.modules() if isinstance(part, _NormBase) and part.training]
    for part in changed:
        part.training = False
    try:
        found: Encoding = encoder(view)
    finally:
        for part in changed:
            part.training = True
    return found


def filled(encoding: Encoding, stand_in: Encoding) -> Encoding:
    """An encoding with that of another in its place where it is absent, of the same precision."""

    def chosen(own: Tensor, other: Tensor) -> Tensor:
        return torch.where(expanded(encoding.present, own), own, other.to(own.dtype))

    return encoding.map(chosen, stand_in)


def expanded(rows: Tensor, like: Tensor) -> Tensor:
    """Marks of samples (B,) with as many axes as `like` (B, ...)."""
    return rows.reshape(-1, *[1] * (like.dim() - 1))


def whole_view(vector: Tensor, present: Tensor) -> Encoding:
    """The encoding of a vector (B, D) that is its only part and its only layer; blank where it is not `present` (B,)."""
    vector = vector.where(present.unsqueeze(1), torch.zeros_like(vector))
    return Encoding(vector, vector.unsqueeze(1), present.unsqueeze(1), present=present, layers=(vector,))


def whole_view_spec(name: str, spec: EncodingSpec, width: int) -> EncodingSpec:
    """What `whole_view` of so many numbers looks like."""
    return EncodingSpec(name, spec.kind, width, 1, width, (width,), sequence=False)
