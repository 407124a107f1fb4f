"""Codes as arrays: their checks, and an order of rows that depends on their content alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from molyneux.core import DataError

_DIGITS = 6
"""Digits that tell samples apart where they are put in order."""


def content_order(rows: np.ndarray) -> np.ndarray:
    """Places (N,) of rows (N, ...) in an order that depends on what they hold and not on how they were given.

    The order itself means nothing: it is that of their bytes. Numbers count to six digits of the largest of their column, since
    the last ones differ between processors and with the place of a sample in its batch. Rows that are the same to these digits,
    as numbers far from 0 or beside a much larger one are, stand by all digits.
    """
    flat = np.asarray(rows.reshape(len(rows), -1), np.float64)
    scale = np.abs(flat).max(0, initial=0.0)
    short = (flat / np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)).round(_DIGITS)
    keys = [_bytes_of(part) for part in (flat, short)]
    return np.asarray(np.lexsort(keys) if flat.shape[1] else np.arange(len(flat)))


def _bytes_of(rows: np.ndarray) -> np.ndarray:
    """Rows (N, D) as one number each (N,) by which they are sorted: the place of their bytes among those of all."""
    rows = np.ascontiguousarray(rows + 0.0)  # without the sign of zeros
    if rows.shape[1] < 2:
        return rows.reshape(len(rows), -1)[:, 0] if rows.shape[1] else np.zeros(len(rows))
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
    return np.asarray(np.unique(keys, return_inverse=True)[1].ravel())


def in_order(rows: np.ndarray) -> np.ndarray:
    """The rows (N, ...) in the order of `content_order`, so that what is drawn by place is the same however they were given."""
    return np.asarray(rows[content_order(rows)])


def require_finite(what: str, codes: Any) -> None:
    """Raise DataError where codes are not finite; it names the first row and dimension, counted from 0.

    Args:
        what: whose codes they are, in the words of the message.
        codes: (..., D), rows are counted over all axes but the last; or a sparse SciPy matrix.
    """
    if isinstance(codes, np.ndarray):
        rows = codes.reshape(-1, codes.shape[-1])
        bad = np.argwhere(~np.isfinite(rows))
        first = rows[tuple(bad[0])] if len(bad) else 0.0
    else:
        entries = codes.tocoo()
        wrong = ~np.isfinite(entries.data)
        bad = np.stack([entries.row[wrong], entries.col[wrong]], 1)
        first = entries.data[wrong][0] if len(bad) else 0.0
    if len(bad):
        row, dimension = bad[0].tolist()
        raise DataError(
            f"{what}: expected finite numbers, got {len(bad)} that are not, the first ({first}) in row {row}, "
            f"dimension {dimension}: correct the model or leave the samples out"
        )


def finite_codes(codes: Any, name: str, *, width: int | None = None) -> Any:
    """Codes as they are, an array or a sparse matrix (N, D) of finite numbers, D at least 1 and `width` where that is given.

    Raises:
        DataError: not such codes; the message says where.
    """
    try:
        found = codes if hasattr(codes, "tocoo") else np.asarray(codes)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{name}: expected numbers (samples, dimensions), got what makes no such array: {error}") from error
    if found.dtype.kind not in "biuf":
        raise DataError(f"{name}: expected real numbers (samples, dimensions), got {found.dtype}")
    if found.ndim != 2 or found.shape[1] < 1:
        raise DataError(f"{name}: expected (samples, dimensions), at least one dimension, got shape {tuple(found.shape)}")
    if width is not None and found.shape[1] != width:
        raise DataError(f"{name}: expected {width} dimensions, as the codes to fit have, got {found.shape[1]}: use the same code")
    require_finite(name, found)
    return found
