"""Categorical views: a symbol at every position, such as the letters of a caption, or one label."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Size, Tensor
from torch.nn import functional

from molyneux.core import Modality
from molyneux.core.views import padded
from molyneux.learn.likelihoods.likelihood import Head, ViewDistribution, ViewLikelihood
from molyneux.learn.likelihoods.texts import targets


class CategoricalViews(ViewDistribution):
    """Independent symbols, by logits (..., B, V, *event) over V symbols.

    A text ends with the first `end` symbol of its modality: what comes after it is not counted, and written as padding. So the
    probabilities of all texts, those that fill their length without an `end` included, add up to 1. Where the modality has no
    `end`, every position counts: padding is a symbol to be predicted, which is how a model learns where a text ends.

    Args:
        logits: (..., B, V, *event).
        batch_shape: the shape (..., B).
        modality: of the views.
    """

    def __init__(self, logits: Tensor, batch_shape: Size, modality: Modality) -> None:
        self.logits, self.modality = logits, modality
        super().__init__(batch_shape, logits.shape[len(batch_shape) + 1 :])

    @property
    def probs(self) -> Tensor:
        """Probabilities of the symbols, (..., B, V, *event)."""
        return self.logits.softmax(len(self.batch_shape))

    @property
    def mode(self) -> Tensor:
        """The most probable symbol of each position, int64 ids (..., B, *event)."""
        return padded(self.modality, self.logits.argmax(len(self.batch_shape)))

    @property
    def view(self) -> Tensor:
        """The most probable symbols: ids have no mean."""
        return self.mode

    def log_prob(self, value: Tensor) -> Tensor:
        """Nats of ids (B, *event), summed over the event, (..., B)."""
        target = targets(self.modality, value.long()).expand(self.batch_shape + self.event_shape)
        rows = len(self.batch_shape)
        each = functional.cross_entropy(self.logits.flatten(0, rows - 1), target.flatten(0, rows - 1), reduction="none")
        return -self._sum(each.reshape(target.shape))

    def _draw(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        rows = self.probs.movedim(len(self.batch_shape), -1)
        rows = rows.expand(*shape, rows.shape[-1]).flatten(0, -2)
        return padded(self.modality, torch.multinomial(rows, 1, generator=generator).reshape(shape))


class CategoricalHead(Head):
    """One logit for each symbol of each position."""

    def __init__(self, modality: Modality) -> None:
        super().__init__()
        self.modality = modality

    def forward(self, raw: Tensor, batch_shape: Size) -> CategoricalViews:
        """See `Head`."""
        return CategoricalViews(raw.float().reshape(batch_shape + raw.shape[1:]), batch_shape, self.modality)


@dataclass(frozen=True)
class Categorical(ViewLikelihood):
    """Categorical likelihood of symbols: the cross-entropy over the alphabet at every position that counts.

    Uniform logits over 27 letters cost 45 ln 27 = 148.3127 nats for a text of 45 positions. In texts with an `end` symbol what
    comes after the first one does not count: 9 words and the end cost 10 ln V, however much padding follows.
    """

    kinds = frozenset({"label", "text"})

    def parameters(self, modality: Modality) -> int:
        """One logit for each symbol."""
        return len(modality.symbols)

    def head(self, modality: Modality) -> CategoricalHead:
        """See `ViewLikelihood`."""
        self.check(modality)
        return CategoricalHead(modality)
