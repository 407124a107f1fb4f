"""Captions: a template and the values of its factors give every caption there is, as text and as ids; and their exact reader.

A template is data: words and `{factor}` places, such as `{size} {colour} {shape} {position}`. A value may have several words
("at top left"). Captions use 27 symbols: 0 is the space, 1..26 are a..z, and 0 also pads a caption to the longest one.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from molyneux.core import ConfigError, Factor, Modality, nearest
from molyneux.data.worlds.combinations import Combinations
from molyneux.data.worlds.symbol_reader import KnownRows, SymbolReader

ALPHABET = (" ", *string.ascii_lowercase)
"""The symbols of captions in the order of their ids."""

PADDING = 0


class Slot(NamedTuple):
    """One place of a template: what it is called and the phrases that may stand there."""

    name: str
    phrases: tuple[str, ...]


class TemplateCaptions:
    """Every caption of a template, numbered as `Combinations` of its factors are.

    Args:
        template: words and `{factor}` places, separated by single spaces; each factor at most once.
        factors: known factors; those that the template names, in its order, are `self.factors`.

    Raises:
        ConfigError: a place without a factor, symbols outside the alphabet, or two combinations with the same caption.
    """

    def __init__(self, template: str, factors: Sequence[Factor]) -> None:
        known = {factor.name: factor for factor in factors}
        places = template.split(" ")
        names = [place[1:-1] for place in places if place.startswith("{")]
        if missing := [f"the caption template names {name!r}, which is no factor" for name in names if name not in known]:
            raise ConfigError(missing)
        self.factors = tuple(known[name] for name in names)
        self.slots = tuple(
            Slot(place[1:-1], known[place[1:-1]].values) if place.startswith("{") else Slot("word", (place,)) for place in places
        )
        phrases = [phrase for slot in self.slots for phrase in slot.phrases]
        if found := [
            f"captions have the letters a to z and single spaces between words, got {phrase!r}: rename it"
            for phrase in phrases
            if not is_phrase(phrase)
        ]:
            raise ConfigError(found)
        self.captions = tuple(" ".join(chosen) for chosen in product(*(slot.phrases for slot in self.slots)))
        if len(set(self.captions)) != len(self.captions):
            raise ConfigError(f"two combinations have the same caption under {template!r}: rename a value")
        self.length = max(len(caption) for caption in self.captions)
        self.ids = encode(self.captions, self.length)
        self.combinations = Combinations.every(self.factors)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the factors, in the order in which a caption says them."""
        return tuple(factor.name for factor in self.factors)

    def modality(self, name: str = "text") -> Modality:
        """What captions look like in a batch: (length,) uint8 ids."""
        return Modality(name, "text", (self.length,), "uint8", ALPHABET, PADDING)

    def sentence(self, values: Mapping[str, str]) -> str:
        """The caption of a value for each factor."""
        return " ".join(values.get(slot.name, slot.phrases[0]) for slot in self.slots)

    @cached_property
    def by_words(self) -> Mapping[str, Mapping[str, str]]:
        """By caption, the values that it says."""
        rows = (dict(zip(self.names, chosen, strict=True)) for chosen in product(*(factor.values for factor in self.factors)))
        return {self.sentence(row): row for row in rows}

    def write(self, codes: np.ndarray) -> np.ndarray:
        """Caption ids (n, length) uint8 of factor codes (n, F), columns as `factors`."""
        return self.ids[self.combinations.numbers(codes)]  # type: ignore[no-any-return]


def is_phrase(text: str) -> bool:
    """Whether a caption can say a text: words of the letters a to z with single spaces between."""
    return re.fullmatch(r"[a-z]+( [a-z]+)*", text) is not None


def encode(captions: Sequence[str], length: int) -> np.ndarray:
    """Ids of captions, padded, (n, length) uint8.

    >>> encode(["heart"], 6).tolist()
    [[8, 5, 1, 18, 20, 0]]
    """
    letters = np.frombuffer("".join(caption.ljust(length) for caption in captions).encode("ascii"), np.uint8)
    return np.where(letters == ord(" "), 0, letters - (ord("a") - 1)).astype(np.uint8).reshape(len(captions), length)


class CaptionReader(SymbolReader):
    """Reads the factors that a caption says.

    A caption is accepted if it is one of the grammar's captions followed by padding only; there is no looking for words inside
    words. A rejected caption has a reason, and at least one factor is unreadable: where every place has its words and only
    some factors are misspelt, those factors; otherwise all.

    Args:
        grammar: what to accept.
    """

    def __init__(self, grammar: TemplateCaptions) -> None:
        super().__init__(grammar.names, grammar.length, "captions")
        self.grammar = grammar
        self._known = KnownRows(grammar.ids)

    def codes(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `SymbolReader.codes`."""
        ids = np.where(_is_symbol(ids), ids, len(ALPHABET)).astype(np.uint8)
        numbers = self._known.find(ids)
        codes = self.grammar.combinations.codes[numbers]
        rejected = np.flatnonzero(numbers < 0)
        if len(rejected):
            different, which = np.unique(ids[rejected], axis=0, return_inverse=True)
            codes[rejected] = np.stack([self._legible(row) for row in different])[which]
        return codes, numbers >= 0

    def reason(self, ids: np.ndarray) -> str:
        """The first place of a row that does not fit, counted in words from 1."""
        if not (known := _is_symbol(ids)).all():
            return f"letter {int(known.argmin()) + 1}: its id is none of the {len(ALPHABET)} symbols"
        words, position = _words(ids), 0
        for slot in self.grammar.slots:
            phrases = [phrase.split(" ") for phrase in slot.phrases]
            fitting = [len(phrase) for phrase in phrases if words[position : position + len(phrase)] == phrase]
            if not fitting:
                return _expected(slot, words, position)
            position += max(fitting)
        return f"position {position + 1}: expected the end, got {' '.join(words[position:])!r}"

    def _legible(self, ids: np.ndarray) -> np.ndarray:
        """Codes of a rejected row, (F,): of the places that are spelt right, if the others are misspelt factors; else all -1."""
        nothing = np.full(len(self.factors), -1)
        words = _words(ids)
        lengths = [{phrase.count(" ") + 1 for phrase in slot.phrases} for slot in self.grammar.slots]
        if any(len(choice) > 1 for choice in lengths) or sum(min(choice) for choice in lengths) != len(words):
            return nothing
        codes, position = list[int](), 0
        for slot, (length,) in zip(self.grammar.slots, lengths, strict=True):
            phrase = " ".join(words[position : position + length])
            position += length
            if slot.name in self.factors:
                codes.append(slot.phrases.index(phrase) if phrase in slot.phrases else -1)
            elif phrase not in slot.phrases:
                return nothing
        return np.array(codes) if -1 in codes else nothing


def _is_symbol(ids: np.ndarray) -> np.ndarray:
    return (ids >= 0) & (ids < len(ALPHABET))


def _words(ids: np.ndarray) -> list[str]:
    """The words of a row of ids; an id that is no symbol is a question mark."""
    return "".join((*ALPHABET, "?")[i] for i in ids).rstrip(" ").split(" ")


def _expected(slot: Slot, words: list[str], position: int) -> str:
    article = "an" if slot.name[0] in "aeiou" else "a"
    length = max(phrase.count(" ") + 1 for phrase in slot.phrases)
    if not (got := " ".join(words[position : position + length])):
        return f"position {position + 1}: expected {article} {slot.name}, got nothing"
    return f"position {position + 1}: expected {article} {slot.name}, got {got!r}; {nearest(got, slot.phrases)}"
