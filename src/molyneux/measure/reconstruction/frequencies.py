"""How often each symbol stands at each position, gathered batch by batch."""

from __future__ import annotations

import torch
from torch import Tensor

from molyneux.core import Modality, views


class Frequencies:
    """Counts symbols; memory does not grow with the number of samples.

    Only what a likelihood counts is counted: of texts that have an `end`, the symbols up to it, not the padding behind it.

    Args:
        modality: one of symbols; of numbers nothing is counted.
    """

    def __init__(self, modality: Modality) -> None:
        self.modality = modality
        self._count = 0
        self._symbols = torch.zeros(modality.size, len(modality.symbols), dtype=torch.float64)

    def add(self, truth: Tensor) -> None:
        """Take in true stored views (N, *shape)."""
        size, symbols = self._symbols.shape
        if symbols:
            ids = truth.reshape(len(truth), -1).long()
            place = (torch.arange(size) * symbols + ids)[views.counted_positions(self.modality, ids)]
            self._symbols += torch.bincount(place, minlength=size * symbols).reshape(size, symbols)
        self._count += len(truth)

    @property
    def log_likelihood(self) -> float | None:
        """Nats per sample that the samples taken in have under their own frequencies; None for numbers.

        No distribution whose symbols depend on their positions and on nothing else has more on these samples.
        """
        if not self.modality.symbols:
            return None
        shares = self._symbols / self._symbols.sum(-1, keepdim=True).clamp(min=1)
        return float(torch.xlogy(self._symbols, shares).sum()) / max(1, self._count)
