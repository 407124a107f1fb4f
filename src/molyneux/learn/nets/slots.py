"""The text net whose latent numbers compete for words."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from molyneux.core import ConfigError, Modality, SpecError
from molyneux.core.views import counted_positions
from molyneux.learn.likelihoods import ViewLikelihood
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.recurrent import Recurrent
from molyneux.learn.nets.writing import Vectors


@dataclass(frozen=True)
class Slots(Net):
    """Slots compete for the symbols of a text, and each makes its own share of the code; another net writes.

    What one word says then goes to one slot, and not a little to every number of the code, as it does where the last state of
    a reader is mixed by a linear layer. One round of the attention of Locatello et al., Object-Centric Learning with Slot
    Attention (NeurIPS 2020, algorithm 1): a softmax over slots at every position, then the weighted mean over positions, here of
    the vectors of the symbols alone. Which slot a position goes to is read from the symbols around it and from its place by a
    layer of convolutions, so slots have learned roles and not learned queries; there is no second round.

    Args:
        slots: how many; the latent size of the model has to be a multiple of it. Number n of the code comes from slot n modulo
            `slots`.
        width: units of each layer.
        reach: symbols on each side that a position looks at to find its slot.
        sharpness: factor of what the softmax over slots is taken of.
        writer: the net of the decoder.
    """

    slots: int = 2
    width: int = 64
    reach: int = 1
    sharpness: float = 1.0
    writer: Net = field(default_factory=Recurrent)

    kinds = frozenset({"text"})

    def __post_init__(self) -> None:
        problems = [
            f"{name}: expected at least 1, got {getattr(self, name)}" for name in ("slots", "width") if getattr(self, name) < 1
        ]
        if self.reach < 0:
            problems.append(f"reach: expected 0 or more, got {self.reach}")
        if not self.sharpness > 0:
            problems.append(f"sharpness: expected a number above 0, got {self.sharpness}")
        if not isinstance(self.writer, Net) or "text" not in self.writer.kinds:
            problems.append(f"writer: expected a net for text, got {type(self.writer).__name__}")
        if problems:
            raise ConfigError(problems)

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        if outputs % self.slots:
            raise SpecError(
                f"Slots has {self.slots} slots, but is asked for {outputs} numbers for each {modality.name}: "
                "set `slots` to a divisor of the latent size"
            )
        return SlotReader(self, modality, outputs // self.slots)

    def decoder(self, modality: Modality, inputs: int, likelihood: ViewLikelihood) -> nn.Module:
        """See `Net`."""
        return self.writer.decoder(modality, inputs, likelihood)


class SlotReader(nn.Module):
    """Symbols to raw numbers, each from the symbols that its slot won.

    Args:
        net: the settings.
        modality: the texts.
        share: numbers that each slot makes.
    """

    def __init__(self, net: Slots, modality: Modality, share: int) -> None:
        super().__init__()
        self.modality, self.sharpness = modality, net.sharpness
        width, slots = net.width, net.slots
        self.table = Vectors(len(modality.symbols), width)
        nn.init.normal_(self.table.weight)
        self.places = nn.Parameter(torch.randn(modality.size, width) / 2)
        self.roles = nn.Sequential(
            nn.Conv1d(width, width, 2 * net.reach + 1, padding=net.reach), nn.ReLU(), nn.Conv1d(width, slots, 1)
        )
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
        roles = self.roles((symbols + self.places).transpose(1, 2)).float()
        won = (self.sharpness * roles).softmax(1) * counted_positions(self.modality, ids).unsqueeze(1)
        shares: Tensor = won / won.sum(-1, keepdim=True).clamp(min=1e-8)
        return shares.to(symbols.dtype)
