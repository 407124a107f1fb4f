"""The exact reader of sentences: it accepts the language, nothing else, and says why it rejects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Reading, SpecError
from molyneux.data.worlds.sentences.language import Language
from molyneux.data.worlds.sentences.outlines import Outlines, rejection_reason

_CHUNK = 1024


class SentenceReader:
    """Reads the factors of sentences.

    A sentence is accepted if its words have the kinds of one of the language's forms, no word stands twice where words have to
    differ, articles agree, and `<eos>` and padding follow. It need not belong to a split. A rejected one has a reason, and at
    least one factor of it is unreadable: where only one form fits all places but one, and that place is a factor's, that
    factor; where a word is repeated, the factors of its group; otherwise all.

    Args:
        language: what to accept.
    """

    def __init__(self, language: Language) -> None:
        self._language = language
        self._outlines = Outlines(language)

    @property
    def modality(self) -> str:
        """Name of the modality it reads."""
        return self._language.modality.name

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors it reads."""
        return tuple(factor.name for factor in self._language.factors)

    @property
    def accuracy(self) -> Mapping[str, float]:
        """1 for every factor: the reader is exact."""
        return dict.fromkeys(self.factors, 1.0)

    def read(self, view: Tensor) -> Reading:
        """Factor codes of sentences (B, length) of ids; -1 for what is absent or unreadable; reasons where a row is no sentence.

        Raises:
            SpecError: the ids do not have the language's length, or are no integers.
        """
        if view.ndim != 2 or view.shape[1] != self._language.length:
            raise SpecError(f"expected sentences of shape (B, {self._language.length}), got {tuple(view.shape)}")
        ids = view.detach().cpu().numpy()
        if ids.dtype.kind not in "iu":
            raise SpecError(
                f"expected sentences as ids, which are integers, got {ids.dtype}: give the symbols, not their embeddings"
            )
        codes, accepted = self.codes(ids)
        rejected = np.flatnonzero(~accepted)
        reasons = _Reasons(self._language, self._outlines, dict(zip(rejected.tolist(), ids[rejected], strict=True)))
        return Reading(torch.from_numpy(codes), self.factors, reasons)

    def codes(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes (n, F) of sentences (n, length), and whether each is accepted, (n,) bool."""
        kinds = self._outlines.kinds(ids)
        forms = self._outlines.find(kinds)
        foreign = np.flatnonzero(forms < 0)
        for start in range(0, len(foreign), _CHUNK):
            rows = foreign[start : start + _CHUNK]
            forms[rows] = self._outlines.nearly(kinds[rows])
        legible = np.flatnonzero(forms >= 0)
        known = np.where(self._outlines.is_symbol(ids[legible]), ids[legible], 0)
        codes, accepted = np.full((len(ids), len(self.factors)), -1, np.int64), np.zeros(len(ids), bool)
        codes[legible], accepted[legible] = self._language.read(known, forms[legible])
        return codes, accepted


class _Reasons(Mapping[int, str]):
    """Reasons of rejected rows, worked out when they are asked for: an untrained model has thousands that nobody reads."""

    def __init__(self, language: Language, outlines: Outlines, rows: Mapping[int, np.ndarray]) -> None:
        self._language, self._outlines, self._rows = language, outlines, rows

    def __getitem__(self, row: int) -> str:
        return rejection_reason(self._language, self._outlines, self._rows[row])

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
