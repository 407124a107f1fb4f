"""Texts in one Unicode form, so that texts that look the same are equal."""

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
    """A text in which each pair of surrogates is one character, and each unpaired surrogate is U+FFFD.

    A text that was cut within an emoji ends in an unpaired surrogate, which no encoder or tokenizer accepts.

    >>> whole_characters("a" + chr(0xD83D) + "b") == "a" + chr(0xFFFD) + "b"
    True
    """
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
