"""Exact readers of symbols: what the readers of captions and of sentences share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from molyneux.core import Reading, SpecError
from molyneux.core.lazy import lazy_module

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = lazy_module("torch")


class SymbolReader(ABC):
    """Reads the factors that a row of symbols says: it accepts a language, nothing else, and says why it rejects.

    A subclass is a `core.Reader` of the modality `text`; `what` its rows of `length` symbols are called is for messages.
    """

    modality = "text"
    """Name of the modality it reads."""

    version = "1"
    """Raised whenever some view may be read otherwise."""

    def __init__(self, factors: tuple[str, ...], length: int, what: str) -> None:
        self.factors, self._length, self._what = factors, length, what

    @property
    def accuracy(self) -> Mapping[str, float]:
        """1 for every factor: the reader is exact."""
        return dict.fromkeys(self.factors, 1.0)

    def read(self, view: Tensor) -> Reading:
        """Factor codes of rows (B, length) of ids; -1 for what is absent or unreadable; reasons where a row is rejected.

        Raises:
            SpecError: the ids do not have the language's length, or are no integers.
        """
        if view.ndim != 2 or view.shape[1] != self._length:
            raise SpecError(f"expected {self._what} of shape (B, {self._length}), got {tuple(view.shape)}")
        ids = view.detach().cpu().numpy()
        if ids.dtype.kind not in "iu":
            got = f"{ids.dtype}: give the symbols, not their embeddings"
            raise SpecError(f"expected {self._what} as ids, which are integers, got {got}")
        codes, accepted = self.codes(ids)
        rejected = np.flatnonzero(~accepted)
        rows = dict(zip(rejected.tolist(), ids[rejected], strict=True))
        return Reading(torch.from_numpy(codes), self.factors, _Reasons(rows, self.reason))

    @abstractmethod
    def codes(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes (n, F) int64 of rows (n, length), and whether each is accepted, (n,) bool."""

    @abstractmethod
    def reason(self, ids: np.ndarray) -> str:
        """The first thing that is wrong with a row (length,) that was rejected."""


class _Reasons(Mapping[int, str]):
    """Reasons of rejected rows, worked out when they are asked for: an untrained model has thousands that nobody reads."""

    def __init__(self, rows: Mapping[int, np.ndarray], reason: Callable[[np.ndarray], str]) -> None:
        self._rows, self._reason = rows, reason

    def __getitem__(self, row: int) -> str:
        return self._reason(self._rows[row])

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class KnownRows:
    """Finds rows of unsigned integers in a table (N, length); rows that differ in zeros at their ends alone are the same."""

    def __init__(self, table: np.ndarray) -> None:
        rows = _as_bytes(table)
        self._order = np.argsort(rows)
        self._sorted = rows[self._order]
        self.repeats = bool((self._sorted[1:] == self._sorted[:-1]).any())
        """Whether two rows are the same."""

    def find(self, rows: np.ndarray) -> np.ndarray:
        """The number of each row (n, length) in the table, (n,) int64; -1 where it is not there."""
        wanted = _as_bytes(rows)
        place = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.where(self._sorted[place] == wanted, self._order[place], -1)


def _as_bytes(rows: np.ndarray) -> np.ndarray:
    """Rows as byte strings, which compare and sort as a whole; zeros at their ends do not count."""
    return np.ascontiguousarray(rows).view(f"S{rows.itemsize * rows.shape[1]}").ravel()
