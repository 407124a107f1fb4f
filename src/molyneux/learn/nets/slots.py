"""The text net whose latent numbers compete for words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from molyneux.core import ConfigError, Modality, SpecError
from molyneux.core.views import counted_positions
from molyneux.learn.likelihoods import ViewLikelihood
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.recurrent import Recurrent
from molyneux.learn.nets.roles import PositionRoles, SymbolRoles
from molyneux.learn.nets.writing import Vectors, choice_problems, writer_problems

Assignment = Literal["soft", "gumbel", "balanced"]
Role = Literal["position", "symbol"]
ROUNDS = 3
"""How often the balanced assignment makes the shares of slots equal."""


@dataclass(frozen=True)
class Slots(Net):
    """Slots compete for the symbols of a text, and each makes its own share of the code; another net writes.

    What one word says then goes to one slot, and not a little to every number of the code, as it does where the last state of
    a reader is mixed by a linear layer. One round of the attention of Locatello et al., Object-Centric Learning with Slot
    Attention (NeurIPS 2020, algorithm 1): a softmax over slots at every position, then the weighted mean over positions, here of
    the vectors of the symbols alone. Which slot a position goes to is read from the symbols around it and from its place by a
    layer of convolutions, so slots have learned roles and not learned queries; there is no second round.

    The defaults are for texts whose factors are words: with about as many slots as a text has symbols, every kind of word gets a
    slot of its own. Slot attention proper is `own: true`, `role: position`, `assignment: soft`, `features: 0`.

    Args:
        slots: how many; the latent size of the model has to be a multiple of it. Number n of the code comes from slot n modulo
            `slots`.
        width: units of each layer.
        reach: symbols on each side that a position looks at to find its slot.
        own: whether it also looks at its own symbol. Without, all words that can stand in a place go to the same slot.
        role: what has a role: "position": every position finds its slot by itself; "symbol": a symbol has the same slot wherever
            it stands, by the mean over all its positions, so a kind of word that stands in several places is not split.
        sharpness: factor of what the softmax over slots is taken of.
        assignment: "soft": every position is shared among the slots; "gumbel": it goes to one of them, drawn in training by
            the straight-through Gumbel-softmax (Jang, Gu and Poole, ICLR 2017, section 2.2, temperature 1), else the most
            probable. A slot then hears nothing of what another one won. "balanced": the same, where slots get equal
            shares of the positions of each text, softly, by three rounds of Sinkhorn's normalisation: before the mean over the
            positions of a symbol, and of what is drawn (Gumbel-Sinkhorn: Mena et al., Learning Latent Permutations, ICLR 2018,
            section 3). Two words of a text then rarely share a slot.
        features: features of each number of the code, of that number alone, that the writer gets in place of the code; 0 gives
            it the code itself. A writer tells forty values from each other more easily by features than by one number.
        writer: the net of the decoder.
    """

    slots: int = 2
    width: int = 64
    reach: int = 2
    own: bool = False
    role: Role = "symbol"
    sharpness: float = 1.0
    assignment: Assignment = "balanced"
    features: int = 8
    writer: Net = field(default_factory=lambda: Recurrent(embedding=16, width=64, coupling="concat"))

    kinds = frozenset({"text"})

    def __post_init__(self) -> None:
        problems = [
            f"{name}: expected at least 1, got {getattr(self, name)}" for name in ("slots", "width") if getattr(self, name) < 1
        ]
        problems += [
            f"{name}: expected 0 or more, got {getattr(self, name)}" for name in ("reach", "features") if getattr(self, name) < 0
        ]
        if self.own not in (True, False):
            problems.append(f"own: expected true or false, got {self.own!r}")
        if self.own is False and self.reach == 0:
            problems.append("reach: expected at least 1 where a position does not look at its own symbol, got 0")
        problems += choice_problems("role", self.role, get_args(Role))
        problems += choice_problems("assignment", self.assignment, get_args(Assignment))
        if not self.sharpness > 0:
            problems.append(f"sharpness: expected a number above 0, got {self.sharpness}")
        problems += writer_problems(self.writer)
        if problems:
            raise ConfigError(problems)

    def pair(self, modality: Modality, *, outputs: int, inputs: int, likelihood: ViewLikelihood) -> tuple[nn.Module, nn.Module]:
        """See `Net`. Means and deviations of a number come from one slot only if the slots divide the size of the code."""
        self._check_size(modality, inputs)
        return super().pair(modality, outputs=outputs, inputs=inputs, likelihood=likelihood)

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        self._check_size(modality, outputs)
        return SlotReader(self, modality, outputs // self.slots)

    def _check_size(self, modality: Modality, numbers: int) -> None:
        if numbers % self.slots:
            raise SpecError(
                f"Slots has {self.slots} slots, but is asked for {numbers} numbers for each {modality.name}: "
                "set `slots` to a divisor of the latent size"
            )

    def decoder(self, modality: Modality, inputs: int, likelihood: ViewLikelihood) -> nn.Module:
        """See `Net`."""
        if not self.features:
            return self.writer.decoder(modality, inputs, likelihood)
        writer = self.writer.decoder(modality, inputs * self.features, likelihood)
        return nn.Sequential(NumberFeatures(inputs, self.width, self.features), writer)


class SlotReader(nn.Module):
    """Symbols to raw numbers, each from the symbols that its slot won.

    Args:
        net: the settings.
        modality: the texts.
        share: numbers that each slot makes.
    """

    def __init__(self, net: Slots, modality: Modality, share: int) -> None:
        super().__init__()
        self.modality, self.sharpness, self.assignment = modality, net.sharpness, net.assignment
        width, slots = net.width, net.slots
        self.table = Vectors(len(modality.symbols), width)
        nn.init.normal_(self.table.weight)
        self.places = nn.Parameter(torch.randn(modality.size, width) / 2)
        self.roles = PositionRoles(width, slots, reach=net.reach, own=net.own)
        self.of_symbols = SymbolRoles(len(modality.symbols), slots) if net.role == "symbol" else None
        self.inner = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.weights = nn.Parameter(torch.randn(slots, width, share) / width**0.5)
        self.biases = nn.Parameter(torch.zeros(slots, share))

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (B, L) to raw numbers (B, share * slots), slots varying fastest."""
        symbols = self.table(ids)
        found: Tensor = self.inner(torch.bmm(self.attention(ids, symbols), symbols))
        raw = torch.einsum("bsw,swk->bks", found, self.weights) + self.biases.t()
        return raw.flatten(1)

    def attention(self, ids: Tensor, symbols: Tensor) -> Tensor:
        """How much each position counts for each slot, (B, slots, L): over the positions of a slot it adds up to 1."""
        counted = counted_positions(self.modality, ids)
        won = self._won(self.logits(ids, symbols, counted), counted) * counted.unsqueeze(1)
        shares: Tensor = won / won.sum(-1, keepdim=True).clamp(min=1e-8 if self.assignment == "soft" else 1.0)
        return shares.to(symbols.dtype)

    def logits(self, ids: Tensor, symbols: Tensor, counted: Tensor) -> Tensor:
        """How well each position fits each slot, (B, slots, L), for ids (B, L), their vectors, and which of them count."""
        said = self.sharpness * self.roles(symbols, self.places).float()
        of_symbols = self.of_symbols
        if of_symbols is None:
            return balanced(said, counted) if self.assignment == "balanced" else said
        if not self.training:
            return of_symbols.recalled(said, ids)
        mean, here = of_symbols.mean(said, ids, counted)
        if self.assignment == "balanced":
            mean, here = of_symbols.mean(balanced(mean[ids].transpose(1, 2), counted), ids, counted)
        of_symbols.remember(mean.detach(), here)
        return mean[ids].transpose(1, 2)

    def _won(self, logits: Tensor, counted: Tensor) -> Tensor:
        """How much of each position goes to each slot, for logits (B, slots, L) and which positions (B, L) count."""
        if self.assignment == "soft":
            return logits.softmax(1)
        if self.training:
            logits = logits - torch.empty_like(logits).exponential_().log()
            if self.assignment == "balanced":
                logits = balanced(logits, counted)
        winner = torch.zeros_like(logits).scatter_(1, logits.argmax(1, keepdim=True), 1.0)
        if not self.training:
            return winner
        shares = logits.softmax(1)
        return winner + shares - shares.detach()


def balanced(logits: Tensor, counted: Tensor) -> Tensor:
    """Logits (B, slots, L) whose shares of a text's positions that count are nearly equal: `ROUNDS` rounds of Sinkhorn's."""
    share = (counted.sum(-1, keepdim=True) / logits.shape[1]).log().unsqueeze(1)
    ignored = ~counted.unsqueeze(1)
    for _ in range(ROUNDS):
        logits = logits - logits.masked_fill(ignored, -math.inf).logsumexp(2, keepdim=True) + share
        logits = logits.log_softmax(1)
    return logits


class NumberFeatures(nn.Module):
    """Each number of a code to features of its own: two layers, which no two numbers share.

    The kinks of the first layer start anywhere in -1.5..1.5 or so, where most of a standard normal distribution is.

    Args:
        numbers: how many there are in a code.
        width: units of the hidden layer of each.
        features: of each number.
    """

    def __init__(self, numbers: int, width: int, features: int) -> None:
        super().__init__()
        self.slopes = nn.Parameter(2 * torch.randn(numbers, width))
        self.offsets = nn.Parameter(torch.empty(numbers, width).uniform_(-3, 3))
        self.weights = nn.Parameter(torch.randn(numbers, width, features) / width**0.5)

    def forward(self, codes: Tensor) -> Tensor:
        """Codes (..., numbers) to features (..., numbers * features)."""
        hidden = (codes.float().unsqueeze(-1) * self.slopes + self.offsets).relu()
        return torch.einsum("...nw,nwf->...nf", hidden, self.weights).flatten(-2)
