"""What words of the command line are turned into, and refused with a sentence where they cannot be."""

from __future__ import annotations

import argparse
import math
from pathlib import Path


def path(word: str) -> Path:
    """A path; an empty word, which would be the present folder, is refused."""
    if not word:
        raise argparse.ArgumentTypeError("expected the name of a file or folder, got an empty word")
    return Path(word)


def place(word: str) -> Path | str:
    """A path, or an address with `://` as it is; errors as `path`."""
    return word if "://" in word else path(word)


def count(word: str) -> int:
    """A whole number, also written as 1e6 or 1,000,000."""
    try:
        number = float(word.replace(",", "").replace("_", ""))
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number == int(number)):
        raise argparse.ArgumentTypeError(f"expected a whole number such as 10000 or 1e6, got {word!r}")
    return int(number)


def part(word: str) -> tuple[int, int]:
    """Which part of how many, such as 2/8."""
    number, slash, parts = word.partition("/")
    if not (slash and number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise argparse.ArgumentTypeError(f"expected a part of how many, such as 2/8, got {word!r}")
    return int(number), int(parts)
