"""Which slot a symbol of a text goes to, by what stands around it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

MOMENTUM = 0.05
"""How much of the running mean of a symbol's roles each batch renews."""


class PositionRoles(nn.Module):
    """How well each position fits each slot, by the symbols around it and its place.

    Args:
        width: of the vectors of symbols and places, and units of the hidden layer.
        slots: how many.
        reach: symbols on each side.
        own: whether a position looks at its own symbol.
    """

    mask: Tensor

    def __init__(self, width: int, slots: int, *, reach: int, own: bool) -> None:
        super().__init__()
        self.own = own
        self.near = nn.Conv1d(width, width, 2 * reach + 1, padding=reach)
        self.last = nn.Conv1d(width, slots, 1)
        mask = torch.ones(2 * reach + 1)
        mask[reach] = own
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, symbols: Tensor, places: Tensor) -> Tensor:
        """Vectors of symbols (B, L, width) and of places (L, width) to logits (B, slots, L)."""
        if self.own:
            hidden = self.near((symbols + places).transpose(1, 2))
        else:
            weight, padding = self.near.weight * self.mask, self.near.padding[0]
            hidden = functional.conv1d(symbols.transpose(1, 2), weight, self.near.bias, padding=padding) + places.t()
        logits: Tensor = self.last(hidden.relu())
        return logits


class SymbolRoles(nn.Module):
    """How well each symbol fits each slot: the mean of what is said of all its positions.

    A symbol then has one role wherever it stands, and symbols that stand in the same places have the same: the classes of words
    that are interchangeable (Brown et al., Class-Based n-gram Models of Natural Language, Computational Linguistics 1992).
    In training it is the mean over the batch; else over the batches before, the later ones counting more, and for a symbol that
    was never seen what is said of its position.

    Args:
        symbols: how many there are.
        slots: how many.
    """

    table: Tensor
    seen: Tensor

    def __init__(self, symbols: int, slots: int) -> None:
        super().__init__()
        self.register_buffer("table", torch.zeros(symbols, slots))
        self.register_buffer("seen", torch.zeros(symbols, dtype=torch.bool))

    def mean(self, said: Tensor, ids: Tensor, counted: Tensor) -> tuple[Tensor, Tensor]:
        """Means (symbols, slots) of what is said, (B, slots, L), by ids (B, L), and which symbols are there."""
        flat, weights = ids.flatten(), counted.flatten().to(said.dtype)
        weighted = said.transpose(1, 2).flatten(0, 1) * weights.unsqueeze(1)
        total = torch.zeros_like(self.table).index_add(0, flat, weighted)
        count = torch.zeros_like(self.table[:, 0]).index_add(0, flat, weights)
        return total / count.clamp(min=1).unsqueeze(1), count > 0

    def remember(self, mean: Tensor, here: Tensor) -> None:
        """Renew the running means of the symbols that are here."""
        renewed = torch.where(self.seen.unsqueeze(1), self.table.lerp(mean, MOMENTUM), mean)
        self.table.copy_(torch.where(here.unsqueeze(1), renewed, self.table))
        self.seen |= here

    def recalled(self, said: Tensor, ids: Tensor) -> Tensor:
        """The running means for ids (B, L), and what is said, (B, slots, L), of the symbols that were never seen."""
        return torch.where(self.seen[ids].unsqueeze(1), self.table[ids].transpose(1, 2), said)
