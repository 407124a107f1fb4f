"""How texts and words of a user's files are spelled: forms of Unicode, characters that are none, words that mean no value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from molyneux.core.characters import composed, whole_characters
from molyneux.data.own.content import Where

MISSING_NUMBERS = frozenset(("", "#n/a", "<na>", "-nan", "n/a", "na", "nan", "none", "null"))
"""What stands for no number in a column of text, in lower case."""

MISSING_WORDS = frozenset(("#N/A", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "nan", "null"))
"""What programs write for no value, and what may be a class too: nobody but the owner of the file knows."""


def composed_texts(texts: Sequence[str | None], what: str, where: Where) -> tuple[list[str | None], tuple[str, ...]]:
    """Texts in composed form, and what was converted, in sentences.

    Args:
        texts: (N,) None where there is none.
        what: what an error or a sentence calls them, such as `column 'note'`.
        where: says where a row stands.
    """
    found = [None if text is None else composed(text) for text in texts]
    changed = [(row, text) for row, (text, new) in enumerate(zip(texts, found, strict=True)) if text is not None and text != new]
    halves = [row for row, text in changed if whole_characters(text) != text]
    others = [row for row, text in changed if whole_characters(text) == text]
    notes = []
    if halves:
        notes.append(
            f"{where(halves[0])}, {what}: half of a character (a lone surrogate, as of an emoji that was cut) was read as U+FFFD "
            f"({counted_texts(len(halves))})"
        )
    if others:
        notes.append(f"{where(others[0])}, {what}: letters and accents were joined (Unicode NFC; {counted_texts(len(others))})")
    return found, tuple(notes)


def counted_texts(count: int) -> str:
    """A number of texts in words, such as `1 text` or `3 texts`."""
    return "in 1 text" if count == 1 else f"in {count:,} texts"


def look_alike(words: Iterable[str]) -> list[str]:
    """The first words that differ only in capital letters; empty if there are none.

    >>> look_alike(["cat", "dog", "Cat"])
    ['cat', 'Cat']
    """
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word.casefold(), []).append(word)
    return next((group for group in groups.values() if len(group) > 1), [])


def distinct_spellings(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The distinct spellings of labels (N,), the number of the spelling of each label (N,), and each spelling normalised."""
    distinct, inverse = np.unique(values, return_inverse=True)
    return distinct, inverse.ravel(), [composed(word).strip() for word in distinct.tolist()]
