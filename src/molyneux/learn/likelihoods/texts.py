"""What every distribution over texts does after the end of a text: it counts nothing there."""

from __future__ import annotations

from torch import Tensor

from molyneux.core import Modality
from molyneux.core.views import counted_positions

UNCOUNTED = -100
"""The target that torch's cross-entropy passes over."""


def targets(modality: Modality, ids: Tensor) -> Tensor:
    """Ids (..., L) with `UNCOUNTED` at the positions that a likelihood does not count (`core.views.counted_positions`)."""
    return ids if modality.end is None else ids.where(counted_positions(modality, ids), UNCOUNTED)
