"""Captions: a template and the values of its factors give every caption there is, as text and as ids.

A template is data: words and `{factor}` places, such as `{size} {colour} {shape} {position}`. A value may have several words
("at top left"). Captions use 27 symbols: 0 is the space, 1..26 are a..z, and 0 also pads a caption to the longest one.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from molyneux.core import ConfigError, Factor, Modality
from molyneux.data.worlds.combinations import Combinations

ALPHABET = (" ", *string.ascii_lowercase)
"""The symbols of captions in the order of their ids."""

PADDING = 0


@dataclass(frozen=True)
class Slot:
    """One place of a template: what it is called and the phrases that may stand there."""

    name: str
    phrases: tuple[str, ...]


class Grammar:
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
        missing = [f"the caption template names {name!r}, which is no factor" for name in names if name not in known]
        if missing:
            raise ConfigError(missing)
        self.factors = tuple(known[name] for name in names)
        self.slots = tuple(_slot(place, known) for place in places)
        self.captions = tuple(" ".join(phrases) for phrases in product(*(slot.phrases for slot in self.slots)))
        problems = [_problem(phrase) for slot in self.slots for phrase in slot.phrases]
        if found := [problem for problem in problems if problem]:
            raise ConfigError(found)
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

    def write(self, codes: np.ndarray) -> np.ndarray:
        """Caption ids (n, length) uint8 of factor codes (n, F), columns as `factors`."""
        return self.ids[self.combinations.numbers(codes)]  # type: ignore[no-any-return]


def encode(captions: Sequence[str], length: int) -> np.ndarray:
    """Ids of captions, padded, (n, length) uint8.

    >>> encode(["heart"], 6).tolist()
    [[8, 5, 1, 18, 20, 0]]
    """
    letters = np.frombuffer("".join(caption.ljust(length) for caption in captions).encode("ascii"), np.uint8)
    return np.where(letters == ord(" "), 0, letters - (ord("a") - 1)).astype(np.uint8).reshape(len(captions), length)


def _slot(place: str, known: dict[str, Factor]) -> Slot:
    if place.startswith("{"):
        return Slot(place[1:-1], known[place[1:-1]].values)
    return Slot("word", (place,))


def _problem(phrase: str) -> str | None:
    """What is wrong with a phrase of a caption, if anything."""
    foreign = sorted({symbol for symbol in phrase if symbol not in ALPHABET})
    if foreign:
        return (
            f"captions have the letters a to z and single spaces, got {phrase!r} with {' '.join(map(repr, foreign))}: rename it"
        )
    if not all(phrase.split(" ")):
        return f"captions have single spaces between words, got {phrase!r}: rename it"
    return None
