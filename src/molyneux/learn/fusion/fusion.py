"""The contract of the fusions: encodings of any number of modalities become one vector of features, or one for each step.

A fusion is built from what the encodings look like (`EncodingSpec`), so it works on any encoder. Shapes: B samples, D_m numbers
of the whole view of modality m, N_m parts of it at most, P_m numbers of a part, F features.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from molyneux.core import Modality, SpecError
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.defaults import default_encoder
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec, ViewEncoder

LARGEST = 500_000_000
"""Weights that a single layer of a fusion may have; more are refused, for they come from widths that multiply."""


class Fusion(ABC):
    """Settings of a fusion; a frozen dataclass, checked at construction."""

    fewest: ClassVar[int] = 1
    """Modalities that it needs."""

    def check(self, encodings: Mapping[str, EncodingSpec]) -> None:
        """Raise SpecError if these are too few modalities."""
        if len(encodings) < self.fewest:
            names = ", ".join(encodings) or "none"
            name = type(self).__name__
            raise SpecError(f"{name} joins at least {self.fewest} modalities, got {names}: add one, or choose Concatenation")

    def encoder(self, modality: Modality) -> ViewEncoder:
        """The encoder of a modality for which none is chosen; a fusion of inputs overrides this."""
        return default_encoder(modality)

    @abstractmethod
    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """The module that joins encodings of these modalities; raises SpecError if they do not fit."""


class FusionLayer(nn.Module, ABC):
    """Encodings to features.

    What an absent modality and what lies beyond a length contribute depends on no number that stands there: encodings are 0 at
    such places, `Encoding.mask` and `Encoding.present` say which they are.

    Args:
        features: numbers of a sample, or of each of its steps.
        steps: how many steps have features of their own; None for features of the whole sample.
    """

    def __init__(self, features: int, steps: int | None = None) -> None:
        super().__init__()
        self.features, self.steps = features, steps

    @abstractmethod
    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """Features (B, F), or (B, T, F) of T steps.

        Args:
            encodings: of every modality that the layer was built for.
            generator: of the noise of a fusion that has any, in training; without one it takes the mean.
        """


class Projections(nn.Module):
    """A linear layer for the vector, or for the parts, of each modality, all to the same width; 0 where the modality is absent.

    Args:
        widths: numbers that each modality has.
        width: numbers that it gets.
        bias: whether the layers have one; absent modalities are 0 all the same.
    """

    def __init__(self, widths: Mapping[str, int], width: int, *, bias: bool = True) -> None:
        super().__init__()
        self.layers = ModalityDict[nn.Linear]()
        for name, inputs in widths.items():
            self.layers[name] = nn.Linear(inputs, width, bias=bias)

    def vectors(self, encodings: Mapping[str, Encoding]) -> dict[str, Tensor]:
        """The vectors, (B, width) each."""
        return {name: layer(encodings[name].vector) * encodings[name].present.unsqueeze(1) for name, layer in self.layers.items()}

    def parts(self, encodings: Mapping[str, Encoding]) -> dict[str, Tensor]:
        """The parts, (B, N_m, width) each; 0 where there is none."""
        return {name: layer(encodings[name].parts) * encodings[name].mask.unsqueeze(2) for name, layer in self.layers.items()}


def vector_widths(encodings: Mapping[str, EncodingSpec]) -> dict[str, int]:
    """Numbers of the vector of each modality."""
    return {name: spec.vector for name, spec in encodings.items()}


def part_widths(encodings: Mapping[str, EncodingSpec]) -> dict[str, int]:
    """Numbers of a part of each modality."""
    return {name: spec.width for name, spec in encodings.items()}


def refuse_size(name: str, sizes: Mapping[str, int], advice: str) -> int:
    """The product of sizes; raises SpecError where it is too large for a layer, with them and the advice."""
    count = math.prod(sizes.values())
    if count > LARGEST:
        shown = " x ".join(f"{size:,} ({what})" for what, size in sizes.items())
        raise SpecError(f"{name}: expected at most {LARGEST:,} numbers in one layer, got {shown} = {count:,}: {advice}")
    return count


def presence(encodings: Mapping[str, Encoding]) -> Tensor:
    """Which samples have which of the M modalities, (B, M) bool."""
    return torch.stack([encoding.present for encoding in encodings.values()], 1)


def chosen_modality(setting: str, name: str, encodings: Mapping[str, EncodingSpec], default: str) -> str:
    """The modality that a setting names, or the default; raises SpecError for one that is not there."""
    if name and name not in encodings:
        raise SpecError(f"{setting}: expected one of the modalities {', '.join(encodings)}, got {name!r}")
    return name or default


class StepsOfModalities:
    """What each modality has at every step: a sequence its parts, any other modality the same vector at all steps.

    Args:
        fusion: name of the fusion, for messages.
        encodings: of the modalities.

    Raises:
        SpecError: sequences do not all have as many steps.
    """

    def __init__(self, fusion: str, encodings: Mapping[str, EncodingSpec]) -> None:
        counts = {name: spec.count for name, spec in encodings.items() if spec.sequence}
        if len(set(counts.values())) > 1:
            shown = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise SpecError(
                f"{fusion}: expected sequences of as many steps each, got {shown}: choose encoders that make as many parts, cut "
                "or resample the longer ones, or choose a fusion of unequal lengths (MulT) or of whole views (Concatenation)"
            )
        self.sequences, self.count = frozenset(counts), max(counts.values(), default=1)
        self.widths = {name: spec.width if spec.sequence else spec.vector for name, spec in encodings.items()}

    def parts(self, encodings: Mapping[str, Encoding]) -> tuple[list[Tensor], Tensor]:
        """The numbers of each of M modalities at every step, (B, T, width), and where there are any, (B, T, M) bool."""
        found, masks = [], []
        for name, encoding in encodings.items():
            parts, mask = encoding.parts, encoding.mask
            if name not in self.sequences:
                parts, mask = (
                    tensor.unsqueeze(1).expand(-1, self.count, *[-1] * (tensor.dim() - 1))
                    for tensor in (encoding.vector, encoding.present)
                )
            found.append(parts)
            masks.append(mask)
        return found, torch.stack(masks, 2)

    def totals(self, encodings: Mapping[str, Encoding]) -> Tensor:
        """How many steps each sample has, (B,): up to the last at which one of its sequences has any.

        All steps where none of its sequences is present: what has no steps, such as a table, stands at each of them.
        """
        first = next(iter(encodings.values()))
        if not self.sequences:
            return torch.full((len(first.vector),), self.count, device=first.vector.device)
        there = torch.stack([encodings[name].asking for name in self.sequences])
        present = torch.stack([encodings[name].present for name in self.sequences])
        there = (there & (present | ~present.any(0)).unsqueeze(2)).any(0)
        return (torch.arange(1, self.count + 1, device=there.device) * there).amax(1)
