"""Encoders of predictors that are made of a net for generative models (`NetVector`) or of another encoder (`Projected`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import torch
from torch import Tensor, nn

from molyneux.core import Kind, Modality
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.defaults import default_encoder
from molyneux.learn.encoders.encoding import Encoder, Encoding, ViewEncoder
from molyneux.learn.encoders.general import ALL
from molyneux.learn.encoders.nets import Net, default_net


@dataclass(frozen=True)
class NetVector(ViewEncoder):
    """The encoder of a `Net`, which serves any kind of modality: a vector of the whole view, which is its only part too.

    Args:
        net: the net; by default that of the kind of modality.
        width: numbers of the vector.
    """

    net: Net | None = None
    width: int = 128

    kinds = frozenset(get_args(Kind))

    def __post_init__(self) -> None:
        refuse(too_small(self, "width"))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        net = self.net or default_net(modality)
        return NetVectorEncoder(modality, net.encoder(modality, self.width), self.width)


class NetVectorEncoder(Encoder):
    """See `NetVector`."""

    def __init__(self, modality: Modality, net: nn.Module, width: int) -> None:
        super().__init__(modality, vector=width, width=width, grid=(1, 1))
        self.net = net

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        vector: Tensor = self.net(view) if lengths is None else self.net(view, lengths)
        return Encoding(vector, vector.unsqueeze(1), torch.ones_like(vector[:, :1], dtype=torch.bool))


@dataclass(frozen=True)
class Projected(ViewEncoder):
    """A linear layer on the vector of another encoder: for objectives and fusions that ask for vectors of a width of their own.

    MultiBench's recipes for RefNet, CCA, MFM and MVAE have one after LeNet. Parts stay those of the other encoder.

    Args:
        encoder: the other one; by default that of the kind of modality.
        width: numbers of the vector.
    """

    encoder: ViewEncoder | None = None
    width: int = 128

    kinds = ALL

    def __post_init__(self) -> None:
        refuse(too_small(self, "width"))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        inner = self.encoder or default_encoder(modality)
        inner.check(modality)
        return ProjectedEncoder(inner.build(modality), self.width)


class ProjectedEncoder(Encoder):
    """See `Projected`; the vector is one more hidden layer."""

    def __init__(self, inner: Encoder, width: int) -> None:
        layers = (*inner.encoding_spec.layers, width)
        super().__init__(inner.modality, vector=width, width=inner.width, grid=inner.grid, layers=layers)
        self.streams = inner.streams
        self.inner, self.linear = inner, nn.Linear(inner.vector, width)

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        found: Encoding = self.inner(view) if lengths is None else self.inner(view, lengths)
        vector = self.linear(found.vector)
        return replace(found, vector=vector, layers=(*found.hidden, vector))
