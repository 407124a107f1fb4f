"""How often each symbol stands at each position, gathered batch by batch."""

from __future__ import annotations

import torch
from torch import Tensor

from molyneux.core import Modality


class Frequencies:
    """Counts symbols; memory does not grow with the number of samples.

    Args:
        modality: one of symbols; of numbers nothing is counted.
    """

    def __init__(self, modality: Modality) -> None:
        self.modality = modality
        self._symbols = torch.zeros(modality.size, len(modality.symbols), dtype=torch.float64)

    def add(self, truth: Tensor) -> None:
        """Take in true stored views (N, *shape)."""
        size, symbols = self._symbols.shape
        if symbols:
            place = (torch.arange(size) * symbols + truth.reshape(len(truth), -1).long()).flatten()
            self._symbols += torch.bincount(place, minlength=size * symbols).reshape(size, symbols)

    @property
    def log_likelihood(self) -> float | None:
        """Nats per sample of the distribution that knows these frequencies and nothing else; None for numbers."""
        if not self.modality.symbols:
            return None
        shares = self._symbols / self._symbols.sum(-1, keepdim=True).clamp(min=1)
        return float(torch.xlogy(shares, shares).sum())
