"""Captions and scenes in pairs of two: leak-free by construction.

Two scenes and two captions of the same form, of which the first is true of the first scene alone and the second of the second
alone, are four instances: every scene and every caption occurs once with agreement and once without, so neither the text nor
the picture alone tells anything about the answer (Winoground: Thrush et al., CVPR 2022, section 3).
"""

from __future__ import annotations

import itertools
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
    captions, found = np.zeros((2, count, length), np.int16), np.zeros((2, count), bool)
    drawn = uniforms[:, 1:].reshape(count, TRIES, 2, most)
    for attempt, side in itertools.product(range(TRIES), range(2)):
        rows = np.flatnonzero(~found[side])
        if not len(rows):
            continue
        own, foreign = (scenes[rows] for scenes in ((one, other) if side == 0 else (other, one)))
        trial = np.zeros((len(rows), length), np.int16)
        for number, skeleton in enumerate(skeletons):
            places = np.flatnonzero(chosen[rows] == number)
            numbers = drawn[rows[places], attempt, side, : skeleton.draws]
            trial[places] = skeleton.fill(own[places], numbers, length)
        fits = (truth(trial, own, semantics) == 1) & (truth(trial, foreign, semantics) == -1)
        captions[side, rows[fits]], found[side, rows[fits]] = trial[fits], True
    both = np.logical_and(found[0], found[1])
    captions[:, ~both] = 0
    return Pairs(captions[0], captions[1], chosen, both)


def numbers_of(skeletons: Sequence[Skeleton]) -> int:
    """How many uniform numbers a pair of scenes takes."""
    return 1 + TRIES * 2 * max((skeleton.draws for skeleton in skeletons), default=0)
