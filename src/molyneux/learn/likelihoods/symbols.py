"""Distributions over symbols: independent ones at each position, and texts that are written symbol by symbol.

What comes after the end of a text counts nothing in either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Size, Tensor
from torch.nn import functional

from molyneux.core import ConfigError, Modality
from molyneux.core.views import counted_positions, padded
from molyneux.learn.likelihoods.likelihood import LikelihoodHead, ViewDistribution, ViewLikelihood

UNCOUNTED = -100
"""The target that torch's cross-entropy passes over."""


def targets(modality: Modality, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Ids (..., L) with `UNCOUNTED` at the positions that a likelihood does not count (`core.views.counted_positions`)."""
    if modality.end is None and lengths is None:
        return ids
    return ids.where(counted_positions(modality, ids, lengths), UNCOUNTED)


class CategoricalViews(ViewDistribution):
    """Independent symbols, by logits (..., B, V, *event) over V symbols.

    A text ends with the first `end` symbol of its modality: what comes after it is not counted, and written as padding. So the
    probabilities of all texts, those that fill their length without an `end` included, add up to 1. Where the modality has no
    `end`, every position counts: padding is a symbol to be predicted, which is how a model learns where a text ends.
    """

    def __init__(self, logits: Tensor, batch_shape: Size, modality: Modality) -> None:
        self.logits, self.modality = logits, modality
        super().__init__(batch_shape, logits.shape[len(batch_shape) + 1 :], modality.length_axis)

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
        """See `mode`; ids have no mean."""
        return self.mode

    def log_prob(self, value: Tensor) -> Tensor:
        """Nats of ids (B, *event), summed over the event, (..., B)."""
        target = targets(self.modality, value.long(), self.lengths).expand(self.batch_shape + self.event_shape)
        rows = len(self.batch_shape)
        each = functional.cross_entropy(self.logits.flatten(0, rows - 1), target.flatten(0, rows - 1), reduction="none")
        return -self._sum(each.reshape(target.shape))

    def _draw(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        rows = self.probs.movedim(len(self.batch_shape), -1)
        rows = rows.expand(*shape, rows.shape[-1]).flatten(0, -2)
        return padded(self.modality, torch.multinomial(rows, 1, generator=generator).reshape(shape))


class CategoricalHead(LikelihoodHead):
    """One logit for each symbol of each position."""

    def __init__(self, modality: Modality) -> None:
        super().__init__()
        self.modality = modality

    def forward(self, raw: Tensor, batch_shape: Size) -> CategoricalViews:
        """See `LikelihoodHead`."""
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


State = tuple[Tensor, ...]
"""What a decoder remembers of the texts so far: tensors with one row for each text."""


class AutoregressiveDecoder(Protocol):
    """An autoregressive text decoder: writes N texts at the same time, each given its code, symbol by symbol."""

    modality: Modality
    first: int
    """What stands before the first symbol of a text."""

    def forced(self, codes: Tensor, ids: Tensor) -> Tensor:
        """Teacher forcing: logits of every symbol given those before it, (L, N, V) for codes (N, D) and ids (N, L)."""
        ...

    def begin(self, codes: Tensor) -> State:
        """The state of texts of which nothing is written, for codes (N, D)."""
        ...

    def step(self, symbols: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits of the next symbol (N, V) after `symbols` (N,), and the state then."""
        ...


def generate(decoder: AutoregressiveDecoder, codes: Tensor, choose: Callable[[Tensor], Tensor]) -> Tensor:
    """Texts (N, L), symbol by symbol: `choose` picks the symbols (N,) of each position by their logits (N, V)."""
    modality, symbols = decoder.modality, codes.new_full((len(codes),), decoder.first, dtype=torch.long)
    ids = symbols.new_zeros(len(codes), *modality.shape)
    ended = torch.zeros_like(symbols, dtype=torch.bool)
    state = decoder.begin(codes)
    for position in range(modality.shape[0]):
        logits, state = decoder.step(symbols, state)
        ids[:, position] = symbols = choose(logits)
        if modality.end is not None:
            ended |= symbols == modality.end
            if bool(ended.all()):
                break
    return padded(modality, ids)


def beam_search(decoder: AutoregressiveDecoder, codes: Tensor, beams: int) -> Tensor:
    """The most probable texts (N, L) that a beam search finds; raises ConfigError if there is no beam.

    Each step keeps the `beams` most probable beginnings of each text; those that have ended stay as they are. Probabilities are
    those of `log_prob`, without a correction for length.
    """
    if beams < 1:
        raise ConfigError(f"beams: expected at least 1, got {beams}")
    modality, rows, width = decoder.modality, len(codes), 1
    end = -1 if modality.end is None else modality.end
    ids = torch.zeros(rows, 1, *modality.shape, dtype=torch.long, device=codes.device)
    score = torch.zeros(rows, 1, device=codes.device)
    symbols, state = codes.new_full((rows,), decoder.first, dtype=torch.long), decoder.begin(codes)
    ended = torch.zeros(rows, 1, dtype=torch.bool, device=codes.device)
    for position in range(modality.shape[0]):
        logits, state = decoder.step(symbols, state)
        each = _continued(logits.log_softmax(-1).reshape(rows, width, logits.shape[-1]), ended)
        candidates = (score.unsqueeze(-1) + each).flatten(1)
        score, chosen = candidates.topk(min(beams, candidates.shape[1]))
        parent, symbol = chosen // each.shape[-1], chosen % each.shape[-1]
        row = (parent + width * torch.arange(rows, device=codes.device).unsqueeze(-1)).flatten()
        width = score.shape[1]
        state = tuple(part.index_select(0, row) for part in state)
        ids = ids.take_along_dim(parent.unsqueeze(-1), 1)
        ids[:, :, position], symbols = symbol, symbol.flatten()
        ended = ended.take_along_dim(parent, 1) | (symbol == end)
        if bool(ended[:, 0].all()):
            break
    return padded(modality, ids[:, 0])


def _continued(each: Tensor, ended: Tensor) -> Tensor:
    """Log-probabilities (N, K, V) of the next symbol; an ended text (N, K) has one continuation, at no cost."""
    nothing = each.new_full(each.shape[-1:], -torch.inf)
    nothing[0] = 0.0
    return each.where(~ended.unsqueeze(-1), nothing)


class AutoregressiveTexts(ViewDistribution):
    """Texts of a decoder given codes: `p(x | z) = prod_t p(x_t | x_<t, z)`, up to and including the first `end`.

    A text without an `end` counts to its last position, so the probabilities of all texts add up to 1.

    Args:
        decoder: writes one text for each code.
        codes: (N, D), N the product of `batch_shape`.
        batch_shape: (..., B).
        beams: of the search for `mode` and `view`; None decodes greedily.
    """

    def __init__(self, decoder: AutoregressiveDecoder, codes: Tensor, batch_shape: Size, *, beams: int | None = None) -> None:
        self.decoder, self.codes, self.beams = decoder, codes, beams
        super().__init__(batch_shape, Size(decoder.modality.shape), decoder.modality.length_axis)

    @property
    def mode(self) -> Tensor:
        """The text that greedy decoding or the beam search finds, int64 ids (..., B, L); not always the most probable."""
        return self.greedy() if self.beams is None else self.best(self.beams)

    @property
    def view(self) -> Tensor:
        """The same as `mode`: ids have no mean."""
        return self.mode

    @torch.no_grad()
    def greedy(self) -> Tensor:
        """Texts of the most probable symbol given those before, (..., B, L)."""
        return self._shaped(generate(self.decoder, self.codes, lambda logits: logits.argmax(-1)))

    @torch.no_grad()
    def best(self, beams: int) -> Tensor:
        """The most probable texts that a search with so many beams finds, (..., B, L)."""
        return self._shaped(beam_search(self.decoder, self.codes, beams))

    def log_prob(self, value: Tensor) -> Tensor:
        """Nats of ids (B, L), summed over the positions that count, (..., B); one call of the network for all codes."""
        value = self._within(value.long())
        target = targets(self.decoder.modality, value, self.lengths)
        ids, target = (part.expand(self.batch_shape + self.event_shape).flatten(0, -2) for part in (value, target))
        logits = self.decoder.forced(self.codes, ids).float()
        each = functional.cross_entropy(logits.flatten(0, 1), target.t().flatten(), reduction="none")
        return -each.reshape(logits.shape[:2]).sum(0).reshape(self.batch_shape)

    def _draw(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        copies = Size(shape).numel() // max(1, len(self.codes) * self.event_shape.numel())
        codes = self.codes.expand(copies, *self.codes.shape).flatten(0, 1)
        drawn = generate(
            self.decoder, codes, lambda logits: torch.multinomial(logits.softmax(-1), 1, generator=generator).squeeze(-1)
        )
        return drawn.reshape(shape)

    def _shaped(self, ids: Tensor) -> Tensor:
        return ids.reshape(self.batch_shape + self.event_shape)
