"""Weighted means of many views, compiled: ghosts are made as they are learnt from."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from molyneux.core.compiled import compiled


def weighted_sums(views: Tensor, rows: np.ndarray, weights: np.ndarray, *, count: int) -> Tensor:
    """Sums (count, ...) float32 of views with weights, on the CPU.

    Args:
        views: (M, ...) uint8 or float32.
        rows: (M,) to which sum each view belongs.
        weights: (M,).
        count: how many sums.
    """
    flat = views.flatten(1).numpy()
    sums = np.zeros((count, flat.shape[1]), np.float32)
    _add(flat, rows, weights.astype(np.float32), sums)
    return torch.from_numpy(sums).view(count, *views.shape[1:])


@compiled
def _add(views: np.ndarray, rows: np.ndarray, weights: np.ndarray, sums: np.ndarray) -> None:
    for member in range(len(views)):
        row, weight = rows[member], weights[member]
        for i in range(views.shape[1]):
            sums[row, i] += weight * views[member, i]
