"""Texts in one form of Unicode, so that what reads the same is the same."""

from __future__ import annotations

import re
from unicodedata import is_normalized, normalize

_SURROGATE = re.compile("[\ud800-\udfff]")


def composed(text: str) -> str:
    """A text in the composed form of Unicode (NFC), in which a letter with its accent is one character where there is such.

    Surrogates become what `whole_characters` makes of them.

    >>> composed("cafe" + chr(0x301)) == "caf" + chr(0xE9)
    True
    """
    if text.isascii():
        return text
    found = whole_characters(text)
    return found if is_normalized("NFC", found) else normalize("NFC", found)


def whole_characters(text: str) -> str:
    """A text in which pairs of surrogates are one character, and half of a pair, which is none, is U+FFFD.

    Half of a pair is left where a text was cut through an emoji; nothing that stores or tokenizes text takes it.

    >>> whole_characters("a" + chr(0xD83D) + "b") == "a" + chr(0xFFFD) + "b"
    True
    """
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
