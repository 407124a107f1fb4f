"""Sources made of other sources: what they share, and the samples at some positions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from molyneux.core.batch import Batch, Source
from molyneux.core.errors import DataError
from molyneux.core.spec import Spec


def check_positions(indices: npt.ArrayLike, size: int) -> np.ndarray:
    """Positions of samples in a source, (B,) int64.

    Raises:
        DataError: they are no integers in one row, or lie outside [0, size).
    """
    rows = row_of_integers(indices, "positions")
    if rows.size and (rows.min() < 0 or rows.max() >= size):
        raise DataError(f"expected positions from 0 to {size - 1}, got {rows.min()} to {rows.max()}")
    return rows


def row_of_integers(numbers: npt.ArrayLike, what: str) -> np.ndarray:
    """`numbers` as (n,) int64; `what` they are is for the message.

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


def origin_of(source: Source, **changes: Any) -> Mapping[str, Any] | None:
    """The origin of a source, or of what these changes make of it: two sources of the same origin hold the same bytes.

    None where the source has no `origin` that says everything its samples depend on.
    """
    origin: Mapping[str, Any] | None = getattr(source, "origin", None)
    if origin is None:
        return None
    return {"of": dict(origin), **changes} if changes else dict(origin)


class DerivedSource:
    """A source made of another one.

    Args:
        source: what it is made of.
        spec: what a batch looks like; as in `source` by default.
        changes: what is done to the samples, as plain data, for the origin.
    """

    def __init__(self, source: Source, *, spec: Spec | None = None, **changes: Any) -> None:
        self.source, self.spec, self._changes = source, source.spec if spec is None else spec, changes

    @property
    def origin(self) -> Mapping[str, Any] | None:
        """Everything the samples depend on; None where the source cannot say."""
        return origin_of(self.source, **self._changes)

    @property
    def block_size(self) -> int | None:
        """How many samples lie together in what it is made of, such as those of a shard; None where their order is all one."""
        found: int | None = getattr(self.source, "block_size", None)
        return found

    @property
    def fetch_size(self) -> int | None:
        """How many samples are best asked for at once, where small batches are slow; None where any number is as good."""
        found: int | None = getattr(self.source, "fetch_size", None)
        return found

    def __len__(self) -> int:
        return len(self.source)


class Span(DerivedSource):
    """The samples of a source from one position to before another; memory does not grow with their number.

    Raises:
        DataError: no such samples.
    """

    def __init__(self, source: Source, start: int, stop: int) -> None:
        if not 0 <= start < stop <= len(source):
            raise DataError(f"expected positions from 0 to {len(source)} with a sample between them, got {start} to {stop}")
        self.start, self.stop = start, stop
        super().__init__(source, span=[start, stop])

    def __len__(self) -> int:
        return self.stop - self.start

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions of the span."""
        return self.source.batch(self.start + check_positions(indices, len(self)))


class Subset(DerivedSource):
    """The samples of a source at these positions, in this order.

    Raises:
        DataError: a position lies outside the source.
    """

    def __init__(self, source: Source, indices: np.ndarray) -> None:
        self.indices = check_positions(indices, len(source))
        super().__init__(source, subset=hashlib.sha256(self.indices.astype("<i8").tobytes()).hexdigest())

    @property
    def block_size(self) -> None:
        """None: positions may be any."""

    def __len__(self) -> int:
        return len(self.indices)

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions of the subset."""
        return self.source.batch(self.indices[check_positions(indices, len(self))])
