"""Positions of samples in a source."""

from __future__ import annotations

import numpy as np

from molyneux.core import DataError


def check_positions(indices: np.ndarray, size: int) -> np.ndarray:
    """`indices` as (B,) int64.

    Raises:
        DataError: they are no integers in one row, or lie outside [0, size).
    """
    rows = np.asarray(indices)
    if rows.ndim != 1 or (rows.dtype.kind not in "iu" and rows.size):
        raise DataError(f"expected positions as one row of integers, got {rows.dtype} {rows.shape}")
    if rows.size and (rows.min() < 0 or rows.max() >= size):
        raise DataError(f"expected positions from 0 to {size - 1}, got {rows.min()} to {rows.max()}")
    return rows.astype(np.int64, copy=False)
