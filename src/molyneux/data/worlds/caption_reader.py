"""The exact reader of captions: it accepts the grammar, nothing else, and says why it rejects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Reading, SpecError, nearest
from molyneux.data.worlds.grammar import ALPHABET, Grammar, Slot


class CaptionReader:
    """Reads the factors that a caption says.

    A caption is accepted if it is one of the grammar's captions followed by padding only; there is no looking for words inside
    words. A rejected caption has a reason, and at least one factor is unreadable: where every place has its words and only
    some factors are misspelt, those factors; otherwise all.

    Args:
        grammar: what to accept.
        modality: name of the modality that is read.
    """

    def __init__(self, grammar: Grammar, modality: str = "text") -> None:
        self.grammar = grammar
        self._modality = modality
        rows = _as_bytes(grammar.ids)
        self._order = np.argsort(rows)
        self._sorted = rows[self._order]

    @property
    def modality(self) -> str:
        """Name of the modality it reads."""
        return self._modality

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors it reads, in the order in which a caption says them."""
        return self.grammar.names

    @property
    def accuracy(self) -> Mapping[str, float]:
        """1 for every factor: the reader is exact."""
        return dict.fromkeys(self.factors, 1.0)

    def read(self, view: Tensor) -> Reading:
        """Factor codes of captions (B, length) of ids; -1 for what is unreadable, with the reason, where a row is no caption.

        Raises:
            SpecError: the ids do not have the grammar's length.
        """
        if view.ndim != 2 or view.shape[1] != self.grammar.length:
            raise SpecError(f"expected captions of shape (B, {self.grammar.length}), got {tuple(view.shape)}")
        ids = view.detach().cpu().numpy()
        ids = np.where((ids >= 0) & (ids < len(ALPHABET)), ids, len(ALPHABET)).astype(np.uint8)
        rows = _as_bytes(ids)
        place = np.minimum(np.searchsorted(self._sorted, rows), len(self._sorted) - 1)
        known = self._sorted[place] == rows
        codes = np.where(known[:, None], self.grammar.combinations.codes[self._order[place]], -1)
        rejected = np.flatnonzero(~known)
        if len(rejected):
            different, which = np.unique(ids[rejected], axis=0, return_inverse=True)
            codes[rejected] = np.stack([_legible(self.grammar, row) for row in different])[which]
        reasons = _Reasons(self.grammar, dict(zip(rejected.tolist(), ids[rejected], strict=True)))
        return Reading(torch.from_numpy(codes), self.factors, reasons)


class _Reasons(Mapping[int, str]):
    """Reasons of rejected rows, worked out when they are asked for: an untrained model has thousands that nobody reads."""

    def __init__(self, grammar: Grammar, rows: Mapping[int, np.ndarray]) -> None:
        self._grammar, self._rows = grammar, rows

    def __getitem__(self, row: int) -> str:
        return _why(self._grammar, self._rows[row])

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _legible(grammar: Grammar, ids: np.ndarray) -> np.ndarray:
    """Codes of a rejected row, (F,): of the places that are spelt right, if the others are misspelt factors; else all -1."""
    nothing = np.full(len(grammar.names), -1)
    words = _words(ids)
    lengths = [{phrase.count(" ") + 1 for phrase in slot.phrases} for slot in grammar.slots]
    if any(len(choice) > 1 for choice in lengths) or sum(min(choice) for choice in lengths) != len(words):
        return nothing
    codes, position = list[int](), 0
    for slot, choice in zip(grammar.slots, lengths, strict=True):
        phrase = " ".join(words[position : position + min(choice)])
        position += min(choice)
        if slot.name in grammar.names:
            codes.append(slot.phrases.index(phrase) if phrase in slot.phrases else -1)
        elif phrase not in slot.phrases:
            return nothing
    return np.array(codes) if -1 in codes else nothing


def _words(ids: np.ndarray) -> list[str]:
    """The words of a row of ids; an id that is no symbol is a question mark."""
    return "".join((*ALPHABET, "?")[i] for i in ids).rstrip(" ").split(" ")


def _why(grammar: Grammar, ids: np.ndarray) -> str:
    """Why a row of ids is no caption: the first place that does not fit, counted in words from 1."""
    if (ids == len(ALPHABET)).any():
        return f"letter {int((ids == len(ALPHABET)).argmax()) + 1}: its id is none of the {len(ALPHABET)} symbols"
    words = _words(ids)
    position = 0
    for slot in grammar.slots:
        fits = [phrase for phrase in slot.phrases if _starts(words[position:], phrase)]
        if not fits:
            return _expected(slot, words, position)
        position += max(phrase.count(" ") + 1 for phrase in fits)
    return f"position {position + 1}: expected the end, got {' '.join(words[position:])!r}"


def _as_bytes(ids: np.ndarray) -> np.ndarray:
    """Rows of uint8 as byte strings, which compare and sort as a whole; trailing padding (0) does not count."""
    return np.ascontiguousarray(ids).view(f"S{ids.shape[1]}").ravel()


def _starts(words: list[str], phrase: str) -> bool:
    parts = phrase.split(" ")
    return words[: len(parts)] == parts


def _expected(slot: Slot, words: list[str], position: int) -> str:
    article = "an" if slot.name[0] in "aeiou" else "a"
    length = max(phrase.count(" ") + 1 for phrase in slot.phrases)
    got = " ".join(words[position : position + length])
    if not got:
        return f"position {position + 1}: expected {article} {slot.name}, got nothing"
    return f"position {position + 1}: expected {article} {slot.name}, got {got!r}; {nearest(got, slot.phrases)}"
