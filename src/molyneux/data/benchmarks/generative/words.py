"""Digits as written words: the text modality of data sets of digits, and its exact reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from molyneux.core import ConvertedViews, DataError, Factor, Modality, Understood, nearest, views_of
from molyneux.data.lookup_reader import LookupReader
from molyneux.data.worlds.named_values import NamedValues

DIGITS = tuple("0123456789")
"""Names of the classes."""

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
"""What is written for each class."""

SYMBOLS = (" ", *sorted({letter for word in WORDS for letter in word}))
"""A blank, which is the padding, and the letters of the words."""


def word_modality(length: int) -> Modality:
    """The modality `text`: a word in so many characters, the others being blank."""
    return Modality("text", "text", (length,), "uint8", SYMBOLS, padding=0)


def placed_words(labels: np.ndarray, starts: np.ndarray, length: int) -> np.ndarray:
    """The words of classes (B,) that begin at these characters (B,), as symbols (B, length) uint8."""
    table = np.zeros((len(WORDS), 2 * length), np.uint8)
    for row, word in enumerate(WORDS):
        table[row, length : length + len(word)] = [SYMBOLS.index(letter) for letter in word]
    found: np.ndarray = table[labels[:, None], length + np.arange(length) - starts[:, None]]
    return found


def word_reader(length: int, factor: Factor) -> LookupReader:
    """Reads the class of a word in any place of a text of blanks."""
    labels, starts = (part.reshape(-1) for part in np.mgrid[: len(WORDS), :length])
    whole = np.array([len(WORDS[label]) for label in labels]) + starts <= length
    labels, starts = labels[whole], starts[whole]
    texts = placed_words(labels, starts, length).astype(np.int64)
    known = {text.tobytes(): (int(label),) for text, label in zip(texts, labels, strict=True)}
    return LookupReader(word_modality(length), [factor], known)


def understood_digit(text: str) -> Understood:
    """What a text says of the factor `label`: a digit as a word or a figure; its captions are `WORDS`.

    >>> understood_digit("The digit 7.").nearest
    'seven'
    """
    finder = NamedValues((Factor("label", DIGITS),), dict(zip(WORDS, DIGITS, strict=True)))

    def draw(possible: Mapping[str, Sequence[str]], generator: np.random.Generator) -> Mapping[str, str]:
        return {"label": possible["label"][int(generator.integers(len(possible["label"])))]}

    return finder.understand(text, write=lambda values: WORDS[DIGITS.index(values["label"])], draw=draw)


def views_of_word(word: str, length: int) -> Mapping[str, ConvertedViews]:
    """The view of one of `WORDS` in so many characters, from the first on; raises DataError for another word."""
    if word not in WORDS:
        raise DataError(f"expected the word of a digit, got {word!r}; {nearest(word, WORDS)}")
    return {"text": views_of(word_modality(length), word)}
