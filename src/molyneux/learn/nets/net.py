"""The contract of a net: settings that make an encoder and a decoder for a modality.

One object describes both sides, so an experiment file names one class for a modality. Sizes are inferred from the modality
and from what the model asks for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from torch import Tensor, nn

from molyneux.core import Kind, Modality, SpecError
from molyneux.learn.likelihoods import Head, ViewDistribution, ViewLikelihood


class Net(ABC):
    """Settings of a pair of networks; a frozen dataclass, checked at construction."""

    kinds: ClassVar[frozenset[Kind]]
    """Kinds of modality that it fits."""

    def check(self, modality: Modality) -> None:
        """Raise SpecError if this net cannot serve the modality."""
        if modality.kind not in self.kinds:
            known = ", ".join(sorted(self.kinds))
            raise SpecError(f"{type(self).__name__} is a net for {known}, but modality {modality.name} is {modality.kind}")

    def pair(self, modality: Modality, *, outputs: int, inputs: int, likelihood: ViewLikelihood) -> tuple[nn.Module, nn.Module]:
        """The encoder and the decoder of one modality; a net whose two sides share weights overrides this."""
        return self.encoder(modality, outputs), self.decoder(modality, inputs, likelihood)

    @abstractmethod
    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """A module from views in model form (B, *shape) to raw numbers (B, outputs)."""

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """A module from codes (N, inputs) to raw numbers of a likelihood (N, parameters, *shape).

        A net that overrides `decoder` has none; every other net overrides this.
        """
        self.check(modality)
        raise SpecError(f"{type(self).__name__} has no body that gives raw numbers: call its decoder for {modality.name}")

    def decoder(self, modality: Modality, inputs: int, likelihood: ViewLikelihood) -> nn.Module:
        """A module from codes (..., inputs) to a distribution over views of batch shape (...).

        A net that decodes step by step overrides this and returns a distribution of its own.
        """
        return Decoder(self.body(modality, inputs, likelihood.parameters(modality)), likelihood.head(modality))


class Decoder(nn.Module):
    """A body that gives raw numbers and a head that makes a distribution of them."""

    def __init__(self, body: nn.Module, head: Head) -> None:
        super().__init__()
        self.body, self.head = body, head

    def forward(self, codes: Tensor) -> ViewDistribution:
        """The distribution of views given codes (..., inputs), all decoded in one call of the body."""
        distribution: ViewDistribution = self.head(self.body(codes.flatten(0, -2)), codes.shape[:-1])
        return distribution
