"""The text net that reads without order: the mean of the vectors of what is said."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import torch
from torch import Tensor, nn

from molyneux.core import ConfigError, Modality
from molyneux.core.views import counted_positions
from molyneux.learn.likelihoods import ViewLikelihood
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.recurrent import Recurrent
from molyneux.learn.nets.writing import Vectors, writer_problems


@dataclass(frozen=True)
class Averaging(Net):
    """A text is read as the mean of the vectors of its symbols, without their order; another net writes.

    The deep averaging network of Iyyer et al., Deep Unordered Composition Rivals Syntactic Methods for Text Classification (ACL
    2015): vectors of symbols, their mean, hidden layers. Every word is one step away from the code, and not as many as it has
    words after it. With a writer that hears the code alone (`Recurrent` of coupling "concat-only") it comes near the neural
    variational document model of Miao, Yu and Blunsom, Neural Variational Inference for Text Processing (ICML 2016), which has
    bags of words on both sides.

    Args:
        embedding: length of the vector of each symbol.
        width: units of each hidden layer.
        layers: hidden layers after the mean.
        dropout: share of the symbols of a text that are left out of the mean, in training (Iyyer et al., section 4).
        writer: the net of the decoder.
    """

    embedding: int = 64
    width: int = 128
    layers: int = 1
    dropout: float = 0.0
    writer: Net = field(default_factory=lambda: Recurrent(embedding=64, width=128, coupling="concat"))

    kinds = frozenset({"text"})

    def __post_init__(self) -> None:
        least = {"embedding": 1, "width": 1, "layers": 0}
        problems = [
            f"{name}: expected at least {number}, got {getattr(self, name)}"
            for name, number in least.items()
            if getattr(self, name) < number
        ]
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout: expected a share in 0..1, below 1, got {self.dropout}")
        problems += writer_problems(self.writer)
        if problems:
            raise ConfigError(problems)

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        return AveragingReader(self, modality, outputs)

    def decoder(self, modality: Modality, inputs: int, likelihood: ViewLikelihood) -> nn.Module:
        """See `Net`."""
        return self.writer.decoder(modality, inputs, likelihood)


class AveragingReader(nn.Module):
    """Symbols to raw numbers: the mean of the vectors of those that count, times the root of their number, and layers.

    With the root, what the layers read is of one size for short and long texts while the vectors are random, as at the start.
    """

    def __init__(self, net: Averaging, modality: Modality, outputs: int) -> None:
        super().__init__()
        self.modality, self.dropout = modality, net.dropout
        self.table = Vectors(len(modality.symbols), net.embedding)
        nn.init.normal_(self.table.weight)
        sizes = [net.embedding, *[net.width] * net.layers]
        hidden = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
        self.layers = nn.Sequential(*hidden, nn.Linear(sizes[-1], outputs))

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (B, L) to raw numbers (B, outputs)."""
        counted = counted_positions(self.modality, ids)
        if self.training and self.dropout:
            counted &= torch.rand(ids.shape, device=ids.device) >= self.dropout
        said = counted.unsqueeze(-1)
        raw: Tensor = self.layers((self.table(ids) * said).sum(1) / said.sum(1).clamp(min=1).sqrt())
        return raw
