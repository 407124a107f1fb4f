"""Captions with a paraphrase and a negation: texts that have the truth of a caption, or the opposite of it, in every scene."""

from __future__ import annotations

import numpy as np

from molyneux.core import seeds
from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import substream
from molyneux.data.worlds.shapeworld.meaning.foils.foils import GROWTH, paraphrases
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES, SYMBOLS
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.scenes.scenes import Scenes

_OPPOSITES = {"lt": "geq", "geq": "lt", "leq": "gt", "gt": "leq", "eq": "neq", "neq": "eq"}
"""Comparators of which one is true exactly where the other one is false."""


def related(scenes: Scenes, programs: np.ndarray, stream: np.ndarray, indices: np.ndarray, semantics: Semantics) -> np.ndarray:
    """Each caption, a paraphrase and a negation of it, (n, 3, L + 5) int16.

    A paraphrase has another tree where there is one, such as "a circle is to the right of a square" for "a square is to the left
    of a circle"; otherwise the same tree, and words may differ. A negation denies the whole statement ("it is not true that
    ..."); half of those of counts and shares have the opposite comparator ("at least two", "fewer than two"). To negate what is
    said of an entity is no such negation: "a square is red" and "a square is not red" may both be true.

    Args:
        scenes: n of them.
        programs: (n, L) captions, of which none is undetermined.
        stream: key of the random numbers.
        indices: (n,) numbers of the samples.
        semantics: when a caption is true.
    """
    count, length = programs.shape
    out = np.zeros((count, 3, length + GROWTH), np.int16)
    out[:, 0, :length] = programs
    same = paraphrases(scenes, programs, substream(stream, "paraphrase"), indices, semantics=semantics)
    out[:, 1] = np.where(same.ok[:, None], same.programs, out[:, 0])
    opposite = _opposites()[programs[:, 0]]
    turned = (opposite > 0) & (seeds.uniforms(substream(stream, "negation"), indices, 1)[:, 0] < 0.5)
    out[turned, 2, :length] = programs[turned]
    out[turned, 2, 0] = opposite[turned]
    out[~turned, 2, 0] = CODES["not-true"]
    out[~turned, 2, 1 : length + 1] = programs[~turned]
    return out


def opposite_of(name: str) -> str:
    """The name of the quantifier with the opposite comparator; empty where there is none."""
    symbol = SYMBOLS[name]
    other = name.replace(f"-{symbol.comparator}-", f"-{_OPPOSITES.get(symbol.comparator, '')}-")
    return other if symbol.kind in ("count", "ratio") and other in SYMBOLS else ""


def _opposites() -> np.ndarray:
    """By code, the code of the opposite quantifier; 0 where there is none."""
    table = np.zeros(len(CODES) + 1, np.int16)
    for name, code in CODES.items():
        table[code] = CODES.get(opposite_of(name), 0)
    return table


def wordings_of(indices: np.ndarray, stream: np.ndarray) -> np.ndarray:
    """What draws the words of captions, (n * 3,): paraphrases have others, -1 are the usual ones."""
    wordings = np.full((len(indices), 3), -1.0)
    wordings[:, 1] = seeds.uniforms(stream, indices, 1)[:, 0]
    return wordings.ravel()


def of_other_words(ids: np.ndarray, rows: np.ndarray, text: np.ndarray) -> np.ndarray:
    """Which samples have a text, (B,) bool: a paraphrase in the words of its caption is none."""
    texts = ids.reshape(-1, 3, ids.shape[1])
    different = (texts[:, 0] != texts[:, 1]).any(1)
    return np.asarray(different[rows] | (text != 1))
