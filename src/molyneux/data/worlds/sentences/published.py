"""The published splits, sentence by sentence: what the generators of the study make of a seed.

The study is Zhang, Prokhorov and Shareghi, "Unsupervised Representation Disentanglement of Text: An Evaluation on Synthetic
Datasets" (RepL4NLP 2021). Its generators write all sentences into a list and shuffle it with Python's `random`. The same
permutation is made here of numbers: Python seeds the generator, a compiled loop does what `random.shuffle` does with it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from molyneux.core.compiled import compiled
from molyneux.data.worlds.finite import SPLITS
from molyneux.data.worlds.sentences.division import shares
from molyneux.data.worlds.world import Split

_WORDS, _SHIFT = 624, 397
_UPPER, _LOWER, _TWIST = 0x80000000, 0x7FFFFFFF, 0x9908B0DF
_MASK_B, _MASK_C = 0x9D2C5680, 0xEFC60000


class PublishedDivision:
    """The published sentences of each split, in the order of the published files, whatever the source's seed.

    Args:
        blocks: how many sentences each form has.
        words: number of words in the vocabulary, which is shuffled too.
        cap: at most so many of each form are used, and each form is divided; None = the whole language is divided at once.
        seed: of the generator; 0 is published.
    """

    def __init__(self, blocks: Sequence[int], *, words: int, cap: int | None, seed: int) -> None:
        self._recipe = (tuple(blocks), words, cap, seed)

    @property
    def sizes(self) -> dict[Split, int]:
        """How many sentences each split has."""
        blocks, _, cap, _ = self._recipe
        parts = [shares(sum(blocks))] if cap is None else [shares(min(block, cap)) for block in blocks]
        return dict(zip(SPLITS, (sum(part) for part in zip(*parts, strict=True)), strict=True))

    def numbers(self, indices: np.ndarray, *, split: Split, seed: int) -> np.ndarray:
        """See `Division`; `seed` changes nothing."""
        return np.asarray(_shuffled(*self._recipe)[SPLITS.index(split)][indices])

    @property
    def vocabulary(self) -> np.ndarray:
        """The order of the words in the published file, (words,) of positions in the vocabulary."""
        return _shuffled(*self._recipe)[-1]


@lru_cache(maxsize=2)
def _shuffled(blocks: tuple[int, ...], words: int, cap: int | None, seed: int) -> tuple[np.ndarray, ...]:
    """Numbers of the sentences of each split, and the order of the vocabulary."""
    state = np.array(random.Random(seed).getstate()[1], np.uint32)
    vocabulary = np.arange(words, dtype=np.uint32)
    if cap is None:
        numbers = np.arange(sum(blocks), dtype=np.uint32)
        parts = np.split(_shuffle(state, numbers, times=3), np.cumsum(shares(len(numbers)))[:2])
        _shuffle(state, vocabulary, times=2)
    else:
        _shuffle(state, vocabulary)
        parts = _by_form(state, blocks, cap)
    found: tuple[np.ndarray, ...] = (*(part.astype(np.int64) for part in parts), vocabulary)
    for array in found:
        array.setflags(write=False)
    return found


def _by_form(state: np.ndarray, blocks: Sequence[int], cap: int) -> list[np.ndarray]:
    """The splits where each form is shuffled, cut and divided, and then each split is shuffled."""
    parts: tuple[list[np.ndarray], ...] = ([], [], [])
    start = 0
    for block in blocks:
        kept = _shuffle(state, np.arange(block, dtype=np.uint32))[:cap]
        for part, piece in zip(parts, np.split(kept, np.cumsum(shares(len(kept)))[:2]), strict=True):
            part.append(piece + np.uint32(start))
        start += block
    return [_shuffle(state, np.concatenate(part)) for part in parts]


def _shuffle(state: np.ndarray, numbers: np.ndarray, *, times: int = 1) -> np.ndarray:
    """`numbers`, shuffled in place as `random.shuffle` does with a generator in this state, which goes on."""
    for _ in range(times):
        _shuffle_once(state, numbers)
    return numbers


@compiled
def _shuffle_once(state: np.ndarray, numbers: np.ndarray) -> None:
    bits = 32
    for last in range(len(numbers) - 1, 0, -1):
        while (last + 1) >> (bits - 1) == 0:
            bits -= 1
        drawn = _word(state) >> (32 - bits)
        while drawn > last:
            drawn = _word(state) >> (32 - bits)
        numbers[last], numbers[drawn] = numbers[drawn], numbers[last]


@compiled
def _word(state: np.ndarray) -> Any:
    """The next 32 bits of the Mersenne Twister (Matsumoto and Nishimura, 1998); the last item of `state` is the position."""
    if state[_WORDS] >= _WORDS:
        for at in range(_WORDS):
            following = at + 1 if at + 1 < _WORDS else 0
            far = at + _SHIFT if at + _SHIFT < _WORDS else at + _SHIFT - _WORDS
            joint = (np.int64(state[at]) & _UPPER) | (np.int64(state[following]) & _LOWER)
            state[at] = np.int64(state[far]) ^ (joint >> 1) ^ (_TWIST if joint & 1 else 0)
        state[_WORDS] = 0
    word = np.int64(state[state[_WORDS]])
    state[_WORDS] += 1
    word ^= word >> 11
    word ^= (word << 7) & _MASK_B
    word ^= (word << 15) & _MASK_C
    return word ^ (word >> 18)
