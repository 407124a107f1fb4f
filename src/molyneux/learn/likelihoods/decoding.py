"""Writing texts symbol by symbol: greedily, by drawing, or with beams. Loops run over positions only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from molyneux.core import ConfigError, Modality
from molyneux.core.views import padded

State = tuple[Tensor, ...]
"""What a writer remembers of the texts so far: tensors with one row for each text."""


class Writer(Protocol):
    """Writes N texts at the same time, each given its code, a symbol after the other."""

    modality: Modality
    first: int
    """What stands before the first symbol of a text."""

    def forced(self, codes: Tensor, ids: Tensor) -> Tensor:
        """Logits of every symbol given those before it, (L, N, V) for codes (N, D) and ids (N, L)."""
        ...

    def begin(self, codes: Tensor) -> State:
        """The state of texts of which nothing is written, for codes (N, D)."""
        ...

    def step(self, symbols: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits of the next symbol (N, V) after `symbols` (N,), and the state then."""
        ...


def written(writer: Writer, codes: Tensor, choose: Callable[[Tensor], Tensor]) -> Tensor:
    """Texts (N, L) in which `choose` picks each symbol (N,) by its logits (N, V) given the symbols before."""
    modality, symbols = writer.modality, codes.new_full((len(codes),), writer.first, dtype=torch.long)
    ids = symbols.new_zeros(len(codes), *modality.shape)
    closed = torch.zeros_like(symbols, dtype=torch.bool)
    state = writer.begin(codes)
    for position in range(modality.shape[0]):
        logits, state = writer.step(symbols, state)
        ids[:, position] = symbols = choose(logits)
        if modality.end is not None:
            closed |= symbols == modality.end
            if bool(closed.all()):
                break
    return padded(modality, ids)


def greedy(logits: Tensor) -> Tensor:
    """The most probable symbols (N,) by logits (N, V)."""
    return logits.argmax(-1)


def drawn(generator: torch.Generator | None) -> Callable[[Tensor], Tensor]:
    """A choice of symbols (N,) with the probabilities that the logits (N, V) give."""
    return lambda logits: torch.multinomial(logits.softmax(-1), 1, generator=generator).squeeze(-1)


def best_of_beams(writer: Writer, codes: Tensor, beams: int) -> Tensor:
    """The most probable texts (N, L) that a search with so many beams finds.

    Each step keeps the `beams` most probable beginnings of each text; those that are closed stay as they are. Probabilities are
    those of `log_prob`: there is no premium on length. As many beams as there are texts find the most probable of all.

    Raises:
        ConfigError: there is no beam.
    """
    if beams < 1:
        raise ConfigError(f"beams: expected at least 1, got {beams}")
    modality, rows, width = writer.modality, len(codes), 1
    end = -1 if modality.end is None else modality.end
    ids = torch.zeros(rows, 1, *modality.shape, dtype=torch.long, device=codes.device)
    score = torch.zeros(rows, 1, device=codes.device)
    symbols, state = codes.new_full((rows,), writer.first, dtype=torch.long), writer.begin(codes)
    closed = torch.zeros(rows, 1, dtype=torch.bool, device=codes.device)
    for position in range(modality.shape[0]):
        logits, state = writer.step(symbols, state)
        each = _continued(logits.log_softmax(-1).reshape(rows, width, logits.shape[-1]), closed)
        candidates = (score.unsqueeze(-1) + each).flatten(1)
        score, chosen = candidates.topk(min(beams, candidates.shape[1]))
        parent, symbol = chosen // each.shape[-1], chosen % each.shape[-1]
        row = (parent + width * torch.arange(rows, device=codes.device).unsqueeze(-1)).flatten()
        width = score.shape[1]
        state = tuple(part.index_select(0, row) for part in state)
        ids = ids.take_along_dim(parent.unsqueeze(-1), 1)
        ids[:, :, position], symbols = symbol, symbol.flatten()
        closed = closed.take_along_dim(parent, 1) | (symbol == end)
        if bool(closed[:, 0].all()):
            break
    return padded(modality, ids[:, 0])


def _continued(each: Tensor, closed: Tensor) -> Tensor:
    """Log-probabilities (N, K, V) of the next symbol; a closed text (N, K) has one continuation, at no cost."""
    nothing = each.new_full(each.shape[-1:], -torch.inf)
    nothing[0] = 0.0
    return each.where(~closed.unsqueeze(-1), nothing)
