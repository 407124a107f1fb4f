"""The contract of a net: settings that make an encoder and a decoder for a modality.

One object describes both sides, so an experiment file names one class for a modality. Sizes are inferred from the modality
and from what the model asks for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn

from molyneux.core import Kind, Modality, SpecError
from molyneux.learn.likelihoods import LikelihoodHead, ViewDistribution, ViewLikelihood, default_likelihood


class Net(ABC):
    """Settings of an encoder and a decoder; a frozen dataclass, checked at construction."""

    kinds: ClassVar[frozenset[Kind]]
    """Kinds of modality that it fits."""

    one_random_code: ClassVar[bool] = False
    """Whether the encoder gives locations, then log-variances, of one code, whose dimensions have meanings to the decoder.

    A model that asks for anything else refuses such a net (`check_code`).
    """

    def check(self, modality: Modality) -> None:
        """Raise SpecError if this net cannot serve the modality."""
        if modality.kind not in self.kinds:
            known = ", ".join(sorted(self.kinds))
            raise SpecError(f"{type(self).__name__} is a net for {known}, but modality {modality.name} is {modality.kind}")

    def check_code(self, modality: Modality, *, one_random: bool) -> None:
        """Raise SpecError if a model has other codes than this net needs (`one_random_code`)."""
        if self.one_random_code and not one_random:
            raise SpecError(
                f"{type(self).__name__} gives {modality.name} one code with locations and log-variances: expected a model whose "
                "codes are normal or Laplace, and those of a modality shared or private alone, such as MLD with a rate above 0; "
                "or use another net"
            )

    def likelihood(self, modality: Modality) -> ViewLikelihood:
        """The likelihood of a modality for which none is named: that of its kind."""
        return default_likelihood(modality)

    def code_grid(self, modality: Modality) -> tuple[int, int] | None:
        """Rows and columns of the grid of a code, which is (channels, rows, columns) flattened; None: it has no grid."""
        self.check(modality)
        return None

    def pair(self, modality: Modality, *, outputs: int, inputs: int, likelihood: ViewLikelihood) -> tuple[nn.Module, nn.Module]:
        """The encoder and the decoder of one modality; a net whose two sides share weights overrides this."""
        return self.encoder(modality, outputs), self.decoder(modality, inputs, likelihood)

    @abstractmethod
    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """A module from views in model form (B, *shape) and, optionally, their lengths (B,) to raw numbers (B, outputs).

        It is called as `encoder(views)` or `encoder(views, lengths)`, `lengths` as in `Batch.lengths`: what lies beyond them
        changes neither the output nor any gradient. Kinds of modality without a length axis ignore them.
        """

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


class MeasuringNet(Net):
    """A net that measures the first dimensions of its one code, with small fixed deviations, and learns the others."""

    measured: ClassVar[int]
    """Dimensions of a code that are measured."""

    one_random_code = True

    def code_size(self, modality: Modality, outputs: int) -> int:
        """Dimensions of a code of which an encoder gives locations and log-variances, `outputs` numbers."""
        if outputs % 2:
            name = type(self).__name__
            raise SpecError(f"{name} gives {modality.name} means and log-variances: expected an even number, got {outputs}")
        return outputs // 2

    def learned(self, modality: Modality, size: int) -> int:
        """Dimensions of a code that are learned."""
        if size <= self.measured:
            raise SpecError(
                f"{type(self).__name__} measures {self.measured} dimensions of the code of {modality.name} and learns the "
                f"others: expected at least {self.measured + 1}, got {size}"
            )
        return size - self.measured


class NetEncoder(nn.Sequential):
    """Layers from views (B, *shape) to raw numbers (B, outputs), after zeros took the place of what lies beyond the lengths.

    Args:
        modality: of the views.
        layers: from views in model form to raw numbers.
    """

    def __init__(self, modality: Modality, *layers: nn.Module) -> None:
        super().__init__(*layers)
        self.length_axis = modality.length_axis

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Raw numbers of views, of which only the first positions count where lengths (B,) are given."""
        if lengths is not None and self.length_axis is not None:
            view = zeros_beyond(view, lengths, 1 + self.length_axis)
        for layer in self:
            view = layer(view)
        return view


class Decoder(nn.Module):
    """A body that gives raw numbers and a head that makes a distribution of them."""

    def __init__(self, body: nn.Module, head: LikelihoodHead) -> None:
        super().__init__()
        self.body, self.head = body, head

    def forward(self, codes: Tensor) -> ViewDistribution:
        """The distribution of views given codes (..., inputs), all decoded in one call of the body."""
        distribution: ViewDistribution = self.head(self.body(codes.flatten(0, -2)), codes.shape[:-1])
        return distribution


class Reshape(nn.Module):
    """Gives every sample a shape, (B, ...) -> (B, *shape)."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, value: Tensor) -> Tensor:
        """The reshaped values."""
        return value.reshape(len(value), *self.shape)


def zeros_beyond(value: Tensor, lengths: Tensor, axis: int) -> Tensor:
    """Values (B, ...) with zeros at the positions along an axis that lie beyond the lengths (B,)."""
    within = torch.arange(value.shape[axis], device=value.device) < lengths.unsqueeze(1)
    shape = [len(value), *(1,) * (axis - 1), value.shape[axis], *(1,) * (value.dim() - axis - 1)]
    return value.masked_fill(~within.reshape(shape), 0)


def unfit_net(name: str, net: object, kind: Kind) -> list[str]:
    """A problem if the setting `name` is no net for this kind of modality."""
    fits = isinstance(net, Net) and kind in net.kinds
    return [] if fits else [f"{name}: expected a net for {kind}, got {type(net).__name__}"]
