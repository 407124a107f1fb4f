"""What every classifier of codes asks of the codes and labels it is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from molyneux.core import DataError
from molyneux.measure.latents.finite import not_finite, require_finite


def labelled(codes: Any, labels: Any, *, names: tuple[str, str], width: int | None = None) -> tuple[Any, np.ndarray]:
    """Codes as they are, an array or a sparse matrix (N, D), and their labels (N,) int64, N at least 1.

    Args:
        codes: (N, D) finite numbers; a sparse SciPy matrix, or what NumPy makes an array of.
        labels: (N,) whole numbers from 0.
        names: of codes and labels, for the messages.
        width: D, where it is known.

    Raises:
        DataError: not such arrays; the message says where.
    """
    found, numbers = finite_codes(codes, names[0], width=width), _whole(labels, names[1])
    if found.shape[0] != len(numbers) or not len(numbers):
        got = f"{names[0]} of {found.shape[0]} samples and {len(numbers)} {names[1]}"
        raise DataError(f"expected codes with a label each, at least one, got {got}: give a label for each code")
    return found, numbers


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
    if isinstance(found, np.ndarray):
        require_finite(name, found)
    else:
        _require_finite_entries(name, found)
    return found


def _require_finite_entries(name: str, codes: Any) -> None:
    """`require_finite` of a sparse matrix: only what is stored in it can be wrong."""
    entries = codes.tocoo()
    bad = np.flatnonzero(~np.isfinite(entries.data))
    if len(bad):
        first = bad[0]
        raise not_finite(name, len(bad), entries.data[first], row=int(entries.row[first]), dimension=int(entries.col[first]))


def _whole(labels: Any, name: str) -> np.ndarray:
    """Labels as (N,) int64; raises DataError where they are no whole numbers from 0."""
    try:
        given = np.asarray(labels)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{name}: expected whole numbers (samples,), got what makes no such array: {error}") from error
    if given.ndim != 1 or (given.dtype.kind not in "biuf" and given.size):
        raise DataError(f"{name}: expected whole numbers (samples,), got {given.dtype} {given.shape}: number the classes from 0")
    bad = np.flatnonzero(~(np.isfinite(given) & (given >= 0) & (given == np.floor(given))))
    if len(bad):
        hint = "leave out samples whose label is absent (-1)" if given[bad[0]] == -1 else "number the classes 0, 1, ..."
        raise DataError(f"{name}: expected whole numbers from 0, got {given[bad[0]]} in row {bad[0]}: {hint}")
    return given.astype(np.int64)
