"""Codes that are not finite are refused before anything is made of them."""

from __future__ import annotations

import numpy as np

from molyneux.core import DataError


def require_finite(what: str, codes: np.ndarray) -> None:
    """Raise DataError where codes are not finite; it names the first row and dimension, counted from 0.

    Args:
        what: whose codes they are, in the words of the message.
        codes: (..., D); rows are counted over all axes but the last.
    """
    finite = np.isfinite(codes)
    if finite.all():
        return
    rows = codes.reshape(-1, codes.shape[-1])
    bad = np.argwhere(~finite.reshape(rows.shape))
    row, dimension = bad[0].tolist()
    raise not_finite(what, len(bad), rows[row, dimension], row=row, dimension=dimension)


def not_finite(what: str, count: int, first: float, *, row: int, dimension: int) -> DataError:
    """The error that says where codes are not finite."""
    return DataError(
        f"{what}: expected finite numbers, got {count} that are not, the first ({first}) in row {row}, dimension {dimension}: "
        "mend the model or leave the samples out"
    )
