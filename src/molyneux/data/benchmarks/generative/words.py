"""Digits as written words: the text modality of data sets of digits, and its exact reader."""

from __future__ import annotations

import numpy as np

from molyneux.core import Factor, Modality
from molyneux.data.lookup_reader import LookupReader

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
