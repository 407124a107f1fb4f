"""Trees in Polish notation: which symbols are the arguments of which, and how high each stands above the leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from molyneux.core import Modality, SpecError
from molyneux.core.views import text_lengths
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.encoding import Encoder, Encoding, ViewEncoder
from molyneux.learn.encoders.nets.net import zeros_beyond
from molyneux.learn.encoders.texts import within, words


@dataclass(frozen=True)
class TreeEncoding(Encoding):
    """Texts in Polish notation, encoded: parts are the vectors of the symbols, the root first.

    Args:
        vector: the mean of the vectors of the symbols of each text, (B, P).
        parts: (B, L, P); 0 beyond the end of a text.
        mask: (B, L) bool: the symbols of each text.
        arguments: positions of the arguments of each symbol, (B, L, A), where A is the largest arity; -1 where it takes fewer, or
            where a text that is no whole tree lacks one.
        heights: how high each symbol stands, (B, L): 0 without arguments, else 1 more than its highest argument.
    """

    arguments: Tensor
    heights: Tensor


@dataclass(frozen=True)
class SymbolTrees(ViewEncoder):
    """A learned vector of each symbol of a text in Polish notation, and the tree that the text stands for.

    Args:
        width: numbers of a symbol.
        arities: how many arguments each symbol takes, by symbol; by default what the modality says (`Modality.arities`). Symbols
            that are not named take none.
    """

    width: int = 64
    arities: Mapping[str, int] | None = None

    kinds = frozenset({"text"})

    def __post_init__(self) -> None:
        problems = too_small(self, "width")
        wrong = {symbol: arity for symbol, arity in (self.arities or {}).items() if type(arity) is not int or arity < 0}
        refuse(problems + [f"arities.{symbol}: expected at least 0 arguments, got {arity!r}" for symbol, arity in wrong.items()])

    def build(self, modality: Modality) -> SymbolTreesEncoder:
        """See `ViewEncoder`."""
        self.check(modality)
        if self.arities is None:
            if not modality.arities:
                raise SpecError(
                    f"SymbolTrees reads texts in Polish notation, but modality {modality.name} has no arities: choose another "
                    "text, or give SymbolTrees the arities of its symbols"
                )
            return SymbolTreesEncoder(modality, self.width, modality.arities)
        if unknown := sorted(self.arities.keys() - set(modality.symbols)):
            raise SpecError(f"arities: expected symbols of modality {modality.name}, got {', '.join(unknown)}, which it has not")
        return SymbolTreesEncoder(modality, self.width, tuple(self.arities.get(symbol, 0) for symbol in modality.symbols))


class SymbolTreesEncoder(Encoder):
    """See `SymbolTrees`."""

    arities: Tensor

    def __init__(self, modality: Modality, width: int, arities: tuple[int, ...]) -> None:
        super().__init__(modality, vector=width, width=width, grid=(1, modality.shape[0]))
        self.table, self.most = words(modality, width), max(1, *arities)
        self.register_buffer("arities", torch.tensor(arities), persistent=False)

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> TreeEncoding:
        """See `Encoder`."""
        counts = text_lengths(self.modality, view, lengths)
        parts, mask = zeros_beyond(self.table(view), counts, 1), within(counts, view.shape[1])
        mean = parts.sum(1) / counts.clamp(min=1).unsqueeze(1)
        return TreeEncoding(mean, parts, mask, *trees(self.arities[view], mask, self.most))

    def blank(self, size: int, like: Tensor) -> TreeEncoding:
        """See `Encoder`."""
        plain = super().blank(size, like)
        zeros = torch.zeros(plain.mask.shape, dtype=torch.int64, device=like.device)
        arguments = torch.full((*zeros.shape, self.most), -1, device=like.device)
        return TreeEncoding(plain.vector, plain.parts, plain.mask, arguments, zeros, present=plain.present)


def trees(arities: Tensor, mask: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """The arguments (B, L, most) and heights (B, L) of symbols, see `TreeEncoding`, of all texts at once.

    A text is read from its end: a symbol takes its arguments from a stack, the first of them from the top, and is put there.

    Args:
        arities: (B, L).
        mask: which symbols belong to the text, (B, L) bool, the first ones.
        most: the largest arity.
    """
    size, length = arities.shape
    device, numbers = arities.device, torch.arange(most, device=arities.device)
    stack = torch.full((size, most + length), -1, device=device)
    top = torch.full((size, 1), most, device=device)  # where the next one goes; below the first place there are none
    arguments = torch.full((size, length, most), -1, device=device)
    heights = torch.full((size, length + 1), -1, device=device)  # the last place serves the position -1
    for position in reversed(range(length)):
        here = mask[:, position, None]
        wanted = arities[:, position, None] * here
        taken = stack.gather(1, top - 1 - numbers).where(numbers < wanted, -1)
        arguments[:, position] = taken
        highest = heights.gather(1, taken % (length + 1)).amax(1)
        heights[:, position] = (highest + 1).where(here[:, 0], -1)
        top = (top - wanted).clamp(min=most)
        stack = stack.scatter(1, top, torch.where(here, position, stack.gather(1, top)))
        top = top + here.long()
    return arguments, heights[:, :length].clamp(min=0)
