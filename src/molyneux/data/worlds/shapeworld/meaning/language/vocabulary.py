"""The words of a data set and their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from molyneux.core import ConfigError, DataError, Modality

PADDING = 0

START, END = "<bos>", "<eos>"
"""Special symbols for what stands before the first and after the last word, where a vocabulary has them."""

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
        special: symbols before them; id 0 is padding. Where `END` is one of them, every sentence ends with it.

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

    @property
    def end(self) -> int | None:
        """The id of `END`, if there is one."""
        return self.special.index(END) if END in self.special else None

    def modality(self, length: int, *, name: str = "text", dtype: str = "int64") -> Modality:
        """What texts of at most so many symbols look like in a batch: (length,) ids."""
        start = self.special.index(START) if START in self.special else None
        return Modality(name, "text", (length,), dtype, self.symbols, PADDING, start, self.end)

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
