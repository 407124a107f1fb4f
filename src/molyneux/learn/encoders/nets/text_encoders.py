"""Text nets that are encoders only and take the decoder of another net: the mean of word vectors, and slots."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Modality, SpecError, choice_problems
from molyneux.core.views import counted_positions
from molyneux.learn.checks import dropout_problems, not_positive, refuse, too_small
from molyneux.learn.encoders.nets.autoregressive import SymbolEmbedding
from molyneux.learn.encoders.nets.net import Net, unfit_net, zeros_beyond
from molyneux.learn.encoders.nets.recurrent import Recurrent
from molyneux.learn.likelihoods import ViewLikelihood

Assignment = Literal["soft", "gumbel", "balanced"]
Role = Literal["position", "symbol"]
ROUNDS = 3
"""How often the balanced assignment makes the shares of slots equal."""

MOMENTUM = 0.05
"""Weight of each batch in the running mean of a symbol's logits."""


@dataclass(frozen=True)
class Averaging(Net):
    """The encoder averages the vectors of the symbols of a text, without their order; the decoder is that of another net.

    The deep averaging network of Iyyer et al., Deep Unordered Composition Rivals Syntactic Methods for Text Classification (ACL
    2015): vectors of symbols, their mean, hidden layers. With a decoder that reads the code alone (`Recurrent` of coupling
    "concat-only") it is close to the neural variational document model of Miao, Yu and Blunsom, Neural Variational Inference for
    Text Processing (ICML 2016), which has bags of words on both sides.

    Args:
        embedding: length of the vector of each symbol.
        width: units of each hidden layer.
        layers: hidden layers after the mean.
        dropout: share of the symbols of a text that are left out of the mean, in training (Iyyer et al., section 4).
        writer: the net whose decoder is used.
    """

    embedding: int = 64
    width: int = 128
    layers: int = 1
    dropout: float = 0.0
    writer: Net = field(default_factory=lambda: Recurrent(embedding=64, width=128, coupling="concat"))

    kinds = frozenset({"text"})

    def __post_init__(self) -> None:
        problems = too_small(self, "embedding", "width") + too_small(self, "layers", least=0)
        refuse(problems + dropout_problems(dropout=self.dropout) + unfit_net("writer", self.writer, "text"))

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        return AveragingEncoder(self, modality, outputs)

    def decoder(self, modality: Modality, inputs: int, likelihood: ViewLikelihood) -> nn.Module:
        """See `Net`."""
        return self.writer.decoder(modality, inputs, likelihood)


class AveragingEncoder(nn.Module):
    """Symbols to raw numbers: the mean of the vectors of those that count, times the root of their number, and layers.

    With the root, what the layers read is of one size for short and long texts while the vectors are random, as at the start.
    """

    def __init__(self, net: Averaging, modality: Modality, outputs: int) -> None:
        super().__init__()
        self.modality, self.dropout = modality, net.dropout
        self.table = SymbolEmbedding(len(modality.symbols), net.embedding)
        nn.init.normal_(self.table.weight)
        sizes = [net.embedding, *[net.width] * net.layers]
        hidden = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
        self.layers = nn.Sequential(*hidden, nn.Linear(sizes[-1], outputs))

    def forward(self, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Ids (B, L) to raw numbers (B, outputs)."""
        ids = ids if lengths is None else zeros_beyond(ids, lengths, 1)
        counted = counted_positions(self.modality, ids, lengths)
        if self.training and self.dropout:
            counted &= torch.rand(ids.shape, device=ids.device) >= self.dropout
        kept = counted.unsqueeze(-1)
        raw: Tensor = self.layers((self.table(ids) * kept).sum(1) / kept.sum(1).clamp(min=1).sqrt())
        return raw


@dataclass(frozen=True)
class Slots(Net):
    """Slots compete for the symbols of a text, and each makes its own share of the code; the decoder is that of another net.

    The information of one word then goes to one slot instead of being spread over every number of the code. One round of the
    attention of Locatello et al., Object-Centric Learning with Slot Attention (NeurIPS 2020, algorithm 1): a softmax over slots
    at every position, then the weighted mean over positions, here of the vectors of the symbols alone. Which slot a position
    goes to is read from the symbols around it and from its place by a layer of convolutions, in place of learned queries.

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
            probable. A slot then gets nothing of the positions of another. "balanced": the same, where slots get equal
            shares of the positions of each text, softly, by three rounds of Sinkhorn's normalisation: before the mean over the
            positions of a symbol, and of what is drawn (Gumbel-Sinkhorn: Mena et al., Learning Latent Permutations, ICLR 2018,
            section 3). Two words of a text then rarely share a slot.
        features: features of each number of the code, of that number alone, that the decoder gets in place of the code; 0
            gives it the code itself. A decoder separates forty values more easily by features than by one number.
        writer: the net whose decoder is used.
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
        problems = [*too_small(self, "slots", "width"), *too_small(self, "reach", "features", least=0)]
        if self.own not in (True, False):
            problems.append(f"own: expected true or false, got {self.own!r}")
        if self.own is False and self.reach == 0:
            problems.append("reach: expected at least 1 where a position does not look at its own symbol, got 0")
        problems += choice_problems(role=(self.role, get_args(Role)), assignment=(self.assignment, get_args(Assignment)))
        refuse([*problems, *not_positive(sharpness=self.sharpness), *unfit_net("writer", self.writer, "text")])

    def pair(self, modality: Modality, *, outputs: int, inputs: int, likelihood: ViewLikelihood) -> tuple[nn.Module, nn.Module]:
        """See `Net`. Means and deviations of a number come from one slot only if the slots divide the size of the code."""
        self._check_size(modality, inputs)
        return super().pair(modality, outputs=outputs, inputs=inputs, likelihood=likelihood)

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        self._check_size(modality, outputs)
        return SlotEncoder(self, modality, outputs // self.slots)

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


class SlotEncoder(nn.Module):
    """Symbols to raw numbers, each from the symbols that are assigned to its slot; each slot makes `share` numbers."""

    def __init__(self, net: Slots, modality: Modality, share: int) -> None:
        super().__init__()
        self.modality, self.sharpness, self.assignment = modality, net.sharpness, net.assignment
        width, slots = net.width, net.slots
        self.table = SymbolEmbedding(len(modality.symbols), width)
        nn.init.normal_(self.table.weight)
        self.places = nn.Parameter(torch.randn(modality.size, width) / 2)
        self.roles = PositionLogits(width, slots, reach=net.reach, own=net.own)
        self.symbol_means = SymbolMeans(len(modality.symbols), slots) if net.role == "symbol" else None
        self.inner = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.weights = nn.Parameter(torch.randn(slots, width, share) / width**0.5)
        self.biases = nn.Parameter(torch.zeros(slots, share))

    def forward(self, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Ids (B, L) to raw numbers (B, share * slots), slots varying fastest."""
        ids = ids if lengths is None else zeros_beyond(ids, lengths, 1)
        symbols = self.table(ids) if lengths is None else zeros_beyond(self.table(ids), lengths, 1)
        found: Tensor = self.inner(torch.bmm(self.attention(ids, symbols, lengths), symbols))
        raw = torch.einsum("bsw,swk->bks", found, self.weights) + self.biases.t()
        return raw.flatten(1)

    def attention(self, ids: Tensor, symbols: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Weight of each position for each slot, (B, slots, L): over the positions of a slot it adds up to 1."""
        counted = counted_positions(self.modality, ids, lengths)
        counted[:, :1] = True  # an empty text keeps its first position
        assigned = self._assigned(self.logits(ids, symbols, counted), counted) * counted.unsqueeze(1)
        shares: Tensor = assigned / assigned.sum(-1, keepdim=True).clamp(min=1e-8 if self.assignment == "soft" else 1.0)
        return shares.to(symbols.dtype)

    def logits(self, ids: Tensor, symbols: Tensor, counted: Tensor) -> Tensor:
        """How well each position fits each slot, (B, slots, L), for ids (B, L), their vectors, and which of them count."""
        logits = self.sharpness * self.roles(symbols, self.places).float()
        means = self.symbol_means
        if means is None:
            return balanced(logits, counted) if self.assignment == "balanced" else logits
        if not self.training:
            return means.running(logits, ids)
        mean, present = means.mean(logits, ids, counted)
        if self.assignment == "balanced":
            mean, present = means.mean(balanced(mean[ids].transpose(1, 2), counted), ids, counted)
        means.update(mean.detach(), present)
        return mean[ids].transpose(1, 2)

    def _assigned(self, logits: Tensor, counted: Tensor) -> Tensor:
        """Share of each position that goes to each slot, for logits (B, slots, L) and which positions (B, L) count."""
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

    The zeros of the first layer's units start in about -1.5..1.5, where most of a standard normal distribution lies.

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


class PositionLogits(nn.Module):
    """How well each position fits each slot, from the symbols around it and its place; see `Slots` for `reach` and `own`."""

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


class SymbolMeans(nn.Module):
    """How well each symbol fits each slot: the mean of the logits of all its positions.

    A symbol then has one slot wherever it stands, and symbols that stand in the same places have the same (compare Brown et al.,
    Class-Based n-gram Models of Natural Language, Computational Linguistics 1992). In training it is the mean over the batch;
    in evaluation a running mean over the batches of the training, and for a symbol that did not occur in them the logits of its
    position.
    """

    table: Tensor
    observed: Tensor

    def __init__(self, symbols: int, slots: int) -> None:
        super().__init__()
        self.register_buffer("table", torch.zeros(symbols, slots))
        self.register_buffer("observed", torch.zeros(symbols, dtype=torch.bool))

    def mean(self, logits: Tensor, ids: Tensor, counted: Tensor) -> tuple[Tensor, Tensor]:
        """Means (symbols, slots) of logits (B, slots, L) by ids (B, L), and which symbols occur."""
        flat, weights = ids.flatten(), counted.flatten().to(logits.dtype)
        weighted = logits.transpose(1, 2).flatten(0, 1) * weights.unsqueeze(1)
        total = torch.zeros_like(self.table).index_add(0, flat, weighted)
        count = torch.zeros_like(self.table[:, 0]).index_add(0, flat, weights)
        return total / count.clamp(min=1).unsqueeze(1), count > 0

    def update(self, mean: Tensor, present: Tensor) -> None:
        """Update the running means of the symbols that occur in a batch."""
        updated = torch.where(self.observed.unsqueeze(1), self.table.lerp(mean, MOMENTUM), mean)
        self.table.copy_(torch.where(present.unsqueeze(1), updated, self.table))
        self.observed |= present

    def running(self, logits: Tensor, ids: Tensor) -> Tensor:
        """The running means for ids (B, L), and the logits (B, slots, L) at symbols that did not occur in training."""
        return torch.where(self.observed[ids].unsqueeze(1), self.table[ids].transpose(1, 2), logits)
