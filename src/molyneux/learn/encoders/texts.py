"""Encoders of texts: a bag of words, and an LSTM or GRU in one or both directions. No padding enters a vector or a state.

A text ends at its `end` symbol, or at its last symbol that is not padding (`core.views.text_lengths`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from molyneux.core import Modality, choice_problems
from molyneux.core.views import text_lengths
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.encoding import Encoder, Encoding, ViewEncoder
from molyneux.learn.encoders.nets.autoregressive import SymbolEmbedding
from molyneux.learn.encoders.nets.net import zeros_beyond
from molyneux.learn.encoders.nets.recurrent import Cell, RecurrentLayers

Readout = Literal["last", "published"]


@dataclass(frozen=True)
class BagOfWords(ViewEncoder):
    """A learned vector of each word; the vector of a text is their mean over its true length (0 for a text without words).

    Args:
        width: numbers of a word; the bag of words of Kuhnle & Copestake, ShapeWorld (2017), has 64, their co-attention 32.
        masked: whether what lies beyond the length of a text is left out. False reads padding like a word, as the published
            code of the ShapeWorld paper does in its co-attention.
    """

    width: int = 64
    masked: bool = True

    kinds = frozenset({"text"})

    def __post_init__(self) -> None:
        refuse(too_small(self, "width"))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return BagOfWordsEncoder(modality, self)


class BagOfWordsEncoder(Encoder):
    """See `BagOfWords`."""

    def __init__(self, modality: Modality, settings: BagOfWords) -> None:
        super().__init__(modality, vector=settings.width, width=settings.width, grid=(1, modality.shape[0]))
        self.masked, self.table = settings.masked, words(modality, settings.width)

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        counts = text_lengths(self.modality, view, lengths) if self.masked else torch.full_like(view[:, 0], view.shape[1])
        parts = zeros_beyond(self.table(view), counts, 1)
        return Encoding(parts.sum(1) / counts.clamp(min=1).unsqueeze(1), parts, within(counts, view.shape[1]))


@dataclass(frozen=True)
class RecurrentWords(ViewEncoder):
    """An LSTM or GRU over the words; the vector of a text is the state at its last word, its parts are the states at each word.

    Kuhnle & Copestake, ShapeWorld (2017): embeddings of 32, 64 units. See `nets.recurrent.RecurrentLayers` for the cells.

    Args:
        cell: "lstm" or "gru".
        embedding: numbers of a word.
        width: units of each direction.
        bidirectional: whether a second one reads the words from the last to the first; states stand side by side.
        readout: "last" takes the state at the last word of each text. "published" takes the state at the last position of the
            longest possible text, which is 0 for every shorter one, as the paper's published code does.
    """

    cell: Cell = "lstm"
    embedding: int = 32
    width: int = 64
    bidirectional: bool = False
    readout: Readout = "last"

    kinds = frozenset({"text"})

    def __post_init__(self) -> None:
        problems = too_small(self, "embedding", "width")
        problems += choice_problems(cell=(self.cell, get_args(Cell)), readout=(self.readout, get_args(Readout)))
        if self.bidirectional and self.readout == "published":
            problems.append("readout: expected last with bidirectional, got published: the published code has one direction")
        refuse(problems)

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return RecurrentWordsEncoder(modality, self)


class RecurrentWordsEncoder(Encoder):
    """See `RecurrentWords`."""

    def __init__(self, modality: Modality, settings: RecurrentWords) -> None:
        width = settings.width * (1 + settings.bidirectional)
        super().__init__(modality, vector=width, width=width, grid=(1, modality.shape[0]))
        self.readout, self.table = settings.readout, words(modality, settings.embedding)
        directions = range(1 + settings.bidirectional)
        layers = (RecurrentLayers(settings.cell, settings.embedding, width=settings.width, layers=1) for _ in directions)
        self.directions = nn.ModuleList(layers)

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        counts, longest = text_lengths(self.modality, view, lengths), view.shape[1]
        vectors = self.table(view)
        forward, *backward = self.directions
        states = [_states(forward, vectors)]
        ends = [states_at(states[0], counts)]
        for layers in backward:
            order = turned(counts, longest)
            found = _states(layers, reordered(vectors, order))
            states.append(reordered(found, order))
            ends.append(states_at(found, counts))
        vector = torch.cat(ends, -1)
        if self.readout == "published":
            vector = vector * (counts == longest).unsqueeze(1)
        return Encoding(vector, zeros_beyond(torch.cat(states, -1), counts, 1), within(counts, longest))


def words(modality: Modality, width: int) -> SymbolEmbedding:
    """A learned vector for each symbol of a text, standard normal at the start, divided by the square root of its length."""
    table = SymbolEmbedding(len(modality.symbols), width)
    nn.init.normal_(table.weight, std=width**-0.5)
    return table


def within(counts: Tensor, longest: int) -> Tensor:
    """Which of `longest` positions lie within lengths (B,), (B, longest) bool."""
    return torch.arange(longest, device=counts.device) < counts.unsqueeze(1)


def turned(counts: Tensor, longest: int) -> Tensor:
    """Positions that turn texts round, (B, longest): the first `counts` (B,) backwards, those beyond as they are."""
    position = torch.arange(longest, device=counts.device)
    return torch.where(within(counts, longest), counts.unsqueeze(1) - 1 - position, position)


def reordered(parts: Tensor, order: Tensor) -> Tensor:
    """Parts (B, N, P) in the order of positions (B, N)."""
    return parts.gather(1, order.unsqueeze(-1).expand_as(parts))


def states_at(states: Tensor, counts: Tensor) -> Tensor:
    """The states (B, N, W) at the last of `counts` (B,) positions, (B, W); 0 where there is none."""
    last = states[torch.arange(len(states), device=states.device), (counts - 1).clamp(min=0)]
    return last * (counts > 0).unsqueeze(1)


def _states(layers: nn.Module, vectors: Tensor) -> Tensor:
    """Hidden states (B, L, W) of vectors (B, L, E)."""
    states: Tensor = layers(vectors.transpose(0, 1))[0]
    return states.transpose(0, 1)
