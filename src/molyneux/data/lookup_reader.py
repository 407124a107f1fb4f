"""The reader of texts or symbols that determine factors: each view that occurs has one value of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from molyneux.core import Factor, Modality, Reading
from molyneux.core.lazy import lazy_module
from molyneux.core.views import padded

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = lazy_module("torch")


class LookupReader:
    """Reads the labels of texts, or of symbols, that determine them: each view that occurs in the data has one value of a factor.

    Args:
        modality: what is read.
        factors: what it determines.
        known: by the bytes of a view's ids, the code of each factor.
    """

    version = "1"
    """Raised whenever some view may be read otherwise."""

    def __init__(self, modality: Modality, factors: Sequence[Factor], known: Mapping[bytes, Sequence[int]]) -> None:
        self._modality, self._known = modality, dict(known)
        self.factors = tuple(factor.name for factor in factors)

    @property
    def modality(self) -> str:
        """Name of the modality it reads."""
        return self._modality.name

    @property
    def accuracy(self) -> Mapping[str, float]:
        """Every view of the data is read without error."""
        return dict.fromkeys(self.factors, 1.0)

    def read(self, view: Tensor) -> Reading:
        """Factor codes of views (B, *shape); -1 of one that does not occur in the data."""
        rows = padded(self._modality, view.cpu().long()).numpy()
        found = [self._known.get(row.tobytes()) for row in rows]
        missing = [-1] * len(self.factors)
        codes = torch.tensor([missing if row is None else list(row) for row in found], dtype=torch.int64)
        reasons = {row: "not a text of the data" for row, codes in enumerate(found) if codes is None}
        return Reading(codes.reshape(len(found), len(self.factors)), self.factors, reasons)


def label_reader(modality: Modality, factor: Factor) -> LookupReader:
    """The reader of a label whose symbols are the values of a factor, in their order."""
    known = {np.int64(code).tobytes(): (code,) for code in range(len(factor.values))}
    return LookupReader(modality, [factor], known)
