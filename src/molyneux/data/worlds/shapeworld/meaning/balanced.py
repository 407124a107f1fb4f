"""Captions and scenes in pairs of two: leak-free by construction.

Two scenes and two captions of the same form, of which the first is true of the first scene alone and the second of the second
alone, are four instances: every scene and every caption occurs once with agreement and once without, so neither the text nor
the picture alone tells anything about the answer (Winoground: Thrush et al., CVPR 2022, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from molyneux.core import ConfigError
from molyneux.data.worlds.shapeworld.meaning.semantics import Semantics
from molyneux.data.worlds.shapeworld.meaning.skeletons import Skeleton
from molyneux.data.worlds.shapeworld.meaning.truth import truth
from molyneux.data.worlds.shapeworld.scenes import Scenes

TRIES = 50
"""How often the two captions of a pair of scenes are drawn, in a form each."""


@dataclass(frozen=True)
class Pairs:
    """Captions for n pairs of scenes.

    Args:
        first: (n, L) int16, captions that are true of the first scene and false of the second.
        second: (n, L) int16, the reverse.
        skeleton: (n,) int64, number of the form of both.
        found: (n,) bool, whether such captions were found; rows without are 0.
    """

    first: np.ndarray
    second: np.ndarray
    skeleton: np.ndarray
    found: np.ndarray


def balanced_captions(
    one: Scenes, other: Scenes, skeletons: Sequence[Skeleton], uniforms: np.ndarray, semantics: Semantics | None = None
) -> Pairs:
    """Two captions of one form for each pair of scenes, each true of its own scene and false of the other one.

    The form of a pair is drawn once and kept, so that hard forms are not rarer than easy ones among the pairs that are tried;
    which of them are found still depends on the form, and equally so for both answers.

    Args:
        one: n scenes.
        other: n scenes to be told from them.
        skeletons: forms, equally likely.
        uniforms: (n, 1 + TRIES * 2 * draws) numbers of [0, 1), where `draws` is the most that a skeleton takes.
        semantics: how truth is evaluated; undetermined captions are never taken.

    Raises:
        ConfigError: no skeletons, or another number of uniform numbers.
    """
    most = max((skeleton.draws for skeleton in skeletons), default=0)
    count, length = len(one), max((skeleton.tree.size for skeleton in skeletons), default=0)
    if not skeletons or uniforms.shape != (count, numbers_of(skeletons)):
        raise ConfigError(
            f"expected skeletons and numbers {(count, 1 + TRIES * 2 * most)}, got {len(skeletons)} and {uniforms.shape}"
        )
    chosen = np.minimum((uniforms[:, 0] * len(skeletons)).astype(np.int64), len(skeletons) - 1)
    first, second = (np.zeros((count, length), np.int16) for _ in range(2))
    found, drawn = np.zeros(count, bool), uniforms[:, 1:].reshape(count, TRIES, 2, most)
    for attempt in range(TRIES):
        open_rows = np.flatnonzero(~found)
        if not len(open_rows):
            break
        trial = [np.zeros((len(open_rows), length), np.int16) for _ in range(2)]
        for number, skeleton in enumerate(skeletons):
            of_form = np.flatnonzero(chosen[open_rows] == number)
            for side, scenes in enumerate((one, other)):
                rows = open_rows[of_form]
                numbers = drawn[rows, attempt, side, : skeleton.draws]
                trial[side][of_form] = skeleton.fill(scenes[rows], numbers, length)
        pair = (one[open_rows], other[open_rows])
        fits = np.ones(len(open_rows), bool)
        for side in range(2):
            fits &= truth(trial[side], pair[side], semantics) == 1
            fits &= truth(trial[side], pair[1 - side], semantics) == -1
        rows = open_rows[fits]
        first[rows], second[rows], found[rows] = trial[0][fits], trial[1][fits], True
    return Pairs(first, second, chosen, found)


def numbers_of(skeletons: Sequence[Skeleton]) -> int:
    """How many uniform numbers a pair of scenes takes."""
    return 1 + TRIES * 2 * max((skeleton.draws for skeleton in skeletons), default=0)
