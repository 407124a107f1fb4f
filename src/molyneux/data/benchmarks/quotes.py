"""Quotes in files of comma-separated values: one that nothing closes tells that a file was cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from molyneux.core import DataError
from molyneux.core.compiled import compiled

_BLOCK = 16 << 20
_QUOTE, _COMMA, _RETURN, _FEED = 34, 44, 13, 10
_START, _PLAIN, _QUOTED, _MAYBE_CLOSED = 0, 1, 2, 3
"""Where a reader is: before a field, in one without quotes, in one with quotes, behind a quote that closes it unless a second
one follows."""


def require_closed(path: Path) -> None:
    """Raise DataError if a field's quote is not closed at the end of a file: a reader would take what is there for the whole row.

    A quote opens a field only where the field begins, and two of them inside it stand for one, as Arrow reads them.
    """
    state = np.array([_START, 1, 0], np.int64)
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            _follow(np.frombuffer(block, np.uint8), state)
    if state[0] == _QUOTED:
        raise DataError(
            f"{path}, line {state[2]}: expected a quote that closes the field before the end of the file, got none: "
            "the file was cut, restore it"
        )


@compiled
def _follow(block: np.ndarray, state: np.ndarray) -> None:
    """Go on through the bytes of a file.

    Args:
        block: the next ones.
        state: where the reader is, the line it is in, and the line in which the last field in quotes began.
    """
    where, line, opened = state[0], state[1], state[2]
    for byte in block:
        if where == _QUOTED:
            where = _MAYBE_CLOSED if byte == _QUOTE else _QUOTED
        elif byte in (_COMMA, _RETURN, _FEED):
            where = _START
        elif byte == _QUOTE and where == _START:
            where, opened = _QUOTED, line
        elif byte == _QUOTE and where == _MAYBE_CLOSED:
            where = _QUOTED
        else:
            where = _PLAIN
        line += byte == _FEED
    state[0], state[1], state[2] = where, line, opened
