"""Positions of samples in a source."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from molyneux.core import DataError


def check_positions(indices: np.ndarray, size: int) -> np.ndarray:
    """`indices` as (B,) int64.

    Raises:
        DataError: they are no integers in one row, or lie outside [0, size).
    """
    rows = row_of_integers(indices, "positions")
    if rows.size and (rows.min() < 0 or rows.max() >= size):
        raise DataError(f"expected positions from 0 to {size - 1}, got {rows.min()} to {rows.max()}")
    return rows


def row_of_integers(numbers: npt.ArrayLike, what: str) -> np.ndarray:
    """`numbers` as (n,) int64.

    Args:
        numbers: an array, or what NumPy makes one of.
        what: they are, in the words of the message.

    Raises:
        DataError: they are no integers in one row.
    """
    try:
        row = np.asarray(numbers)
    except ValueError as error:
        raise DataError(f"expected {what} as one row of integers, got what makes no such array: {error}") from error
    if row.ndim != 1 or (row.dtype.kind not in "iu" and row.size):
        raise DataError(f"expected {what} as one row of integers, got {row.dtype} {row.shape}")
    return row.astype(np.int64, copy=False)
