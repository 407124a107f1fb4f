"""The published caption parser, kept so that published numbers can be understood. It is no measure of ours.

The toolkit's Features for captions splits on single spaces and looks for vocabulary items as substrings. It marks true
captions wrong: at level 4 it demands a seventh word, and at level 5 trailing spaces hide the background.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from molyneux.core import Factor

_SHAPE_WORD = {1: 0, 2: 1, 3: 2, 4: 2, 5: 2}


def published_features(read: Sequence[str], truth: Sequence[str], level: int, factors: Sequence[Factor]) -> np.ndarray:
    """How many features of each caption the published parser counts as right, (N,).

    A feature counts if one of its values is a substring of its piece of the text and also of the true caption. Pieces:
    size is word 0; colour is word 1; shape is word 0, 1, 2, 2, 2 at levels 1 to 5; position is words 3 to 6 joined,
    where all four have to exist; background is the last two words joined.

    Args:
        read: generated captions as the parser saw them: decoded texts keep their trailing spaces.
        truth: true captions without padding.
        level: 1 to 5.
        factors: the factors of the caption; those named size, colour, shape, position and background are used.
    """
    return np.array([_count(text, caption, level, factors) for text, caption in zip(read, truth, strict=True)])


def _count(text: str, caption: str, level: int, factors: Sequence[Factor]) -> int:
    found = 0
    for factor in factors:
        piece = _piece(text.split(" "), factor.name, level)
        found += any(value in piece and value in caption for value in factor.values)
    return found


def _piece(words: list[str], factor: str, level: int) -> str:
    if factor == "position":
        return " ".join(words[3:7]) if len(words) > 6 else ""
    if factor == "background":
        return " ".join(words[-2:])
    index = {"size": 0, "colour": 1, "shape": _SHAPE_WORD[level]}.get(factor, len(words))
    return words[index] if index < len(words) else ""
