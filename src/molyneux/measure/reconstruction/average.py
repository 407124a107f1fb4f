"""The average view of a modality, gathered batch by batch: what a model learns that learns nothing else."""

from __future__ import annotations

from collections import Counter

import torch
from torch import Tensor

from molyneux.core import Modality, views
from molyneux.measure.coherence import ConstantText
from molyneux.measure.reconstruction.frequencies import Frequencies


class Average:
    """Finds the constant views that score best; memory does not grow with the number of samples, but with different texts.

    Args:
        modality: of what.
    """

    def __init__(self, modality: Modality) -> None:
        self.modality = modality
        self.count = 0
        self._total = torch.zeros(modality.shape, dtype=torch.float64)
        self._whole: Counter[bytes] = Counter()
        self._letters = ConstantText(modality) if modality.kind == "text" else None
        self._frequencies = Frequencies(modality)

    def add(self, truth: Tensor) -> None:
        """Take in true stored views (N, *shape)."""
        self.count += len(truth)
        if not self.modality.symbols:
            self._total += views.to_model(self.modality, truth).sum(0, dtype=torch.float64)
            return
        ids = truth.reshape(len(truth), -1).long()
        self._whole.update(row.tobytes() for row in ids.numpy())
        self._frequencies.add(truth)
        if self._letters is not None:
            self._letters.add(truth)

    @property
    def views(self) -> list[Tensor]:
        """Constant stored views (*shape): the mean; or the most common whole, and the text of the best letters."""
        if not self.modality.symbols:
            return [views.to_stored(self.modality, self._total / max(1, self.count))]
        whole = torch.frombuffer(bytearray(self._whole.most_common(1)[0][0]), dtype=torch.int64)
        found = [whole] if self._letters is None else [whole, torch.from_numpy(self._letters.ids)]
        return [views.to_stored(self.modality, view.reshape(self.modality.shape)) for view in found]

    @property
    def log_likelihood(self) -> float | None:
        """See `Frequencies`."""
        return self._frequencies.log_likelihood
