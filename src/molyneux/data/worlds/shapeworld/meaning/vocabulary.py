"""The words of a data set and their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from molyneux.core import ConfigError, DataError, Modality, nearest

PADDING = 0

PAPER_UNUSED: Mapping[str, tuple[str, ...]] = {
    "oneshape": ("black",),
    "multishape": ("black",),
    "spatial": ("black",),
    "quantification": ("black", "every", "some"),
}
"""Words in the vocabularies of Kuhnle & Copestake (2017) that no caption has, by data set."""


@dataclass(frozen=True)
class Vocabulary:
    """Words and their ids: special symbols first, the first of which is padding, then the words, sorted.

    Args:
        words: in any order; each counts once.
        special: symbols before them; id 0 is padding.

    Raises:
        ConfigError: no symbol for padding, or a special symbol that is a word too.

    >>> Vocabulary(("is", "a", ".")).symbols
    ('<pad>', '.', 'a', 'is')
    """

    words: tuple[str, ...]
    special: tuple[str, ...] = ("<pad>",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(sorted(set(self.words))))
        if not self.special or len({*self.special, *self.words}) < len(self.special) + len(self.words):
            raise ConfigError(f"expected a symbol for padding, and special symbols that are no words, got {self.special}")

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbol of each id."""
        return (*self.special, *self.words)

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """The id of each symbol."""
        return {symbol: number for number, symbol in enumerate(self.symbols)}

    def modality(self, length: int, *, name: str = "text") -> Modality:
        """What texts of at most so many words look like in a batch: (length,) int64 ids."""
        return Modality(name, "text", (length,), "int64", self.symbols, PADDING)

    def encode(self, sentences: Sequence[Sequence[str]], length: int | None = None) -> np.ndarray:
        """Ids of sentences, (n, T) int64, padded with 0.

        Args:
            sentences: n rows of words.
            length: T; that of the longest by default.

        Raises:
            DataError: a word that is not in the vocabulary, or a sentence that is longer.
        """
        longest = max(map(len, sentences), default=0)
        if length is not None and longest > length:
            raise DataError(f"expected sentences of at most {length} words, got one of {longest}")
        found = np.full((len(sentences), longest if length is None else length), PADDING, np.int64)
        for row, words in zip(found, sentences, strict=True):
            row[: len(words)] = [self._id(word) for word in words]
        return found

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The words of a row of ids, without padding and other special symbols.

        Raises:
            DataError: a number that is no id.
        """
        numbers = [int(number) for number in ids]
        if unknown := [number for number in numbers if not 0 <= number < len(self.symbols)]:
            raise DataError(f"expected ids of 0 to {len(self.symbols) - 1}, got {unknown[0]}")
        return [self.symbols[number] for number in numbers if number >= len(self.special)]

    def lookup(self, words: Sequence[str]) -> np.ndarray:
        """The ids of words, (len(words),) int64; -1 for those that the vocabulary does not have."""
        return np.array([self.ids.get(word, -1) for word in words], np.int64)

    def _id(self, word: str) -> int:
        if word not in self.ids:
            raise DataError(f"the vocabulary has no word {word!r}; {nearest(word, self.words)}")
        return self.ids[word]
