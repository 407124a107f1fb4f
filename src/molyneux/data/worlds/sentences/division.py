"""The division of a language into splits: which sentences each split has, and in which order.

A split is decided by a keyed permutation of the numbers, which has random access: nothing is shuffled and nothing stored. The
permutation is a Feistel network over pairs of digits with as many rounds as it has keys; the few pairs beyond the last number are
walked through until a number comes (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002, sections 4, 5).

The published splits are those of Zhang, Prokhorov and Shareghi, "Unsupervised Representation Disentanglement of Text: An
Evaluation on Synthetic Datasets" (RepL4NLP 2021). Its generators write all sentences into a list and shuffle it with Python's
`random`. The same permutation is made here of numbers: Python seeds the generator, NumPy draws its words, and a compiled loop
does what `random.shuffle` does with them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from molyneux.core import seeds
from molyneux.core.tooling.compiled import compiled
from molyneux.data.dataset import SPLITS, Split

_ROUNDS = 8
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_A, _B, _C, _HALF = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)

_WAITING = 1 << 20
"""Random words that are drawn at once."""


def shares(count: int) -> tuple[int, int, int]:
    """How many of so many sentences go to the splits: 60 %, 20 % and the rest, as published.

    >>> shares(9_600)
    (5760, 1920, 1920)
    """
    train, rest = count * 6 // 10, count * 8 // 10
    return train, rest - train, count - rest


class KeyedDivision:
    """Every block of numbers is permuted by a key of its own; what comes first is the train split, and so on.

    A source's seed permutes each split again, so it decides on the order alone: a sentence is in the same split for every
    source, and splits stay disjoint between sources of different seeds.

    Args:
        name: of the world.
        blocks: how many numbers each block has.
        cap: at most so many of each block are used; None = all.
        seed: root seed of the splits.
    """

    def __init__(self, name: str, blocks: Sequence[int], *, cap: int | None, seed: int) -> None:
        self._name = name
        used = [block if cap is None else min(block, cap) for block in blocks]
        parts = np.array([shares(count) for count in used], np.int64)
        self._ends = parts.cumsum(0)
        self._skipped = np.concatenate([np.zeros((len(blocks), 1), np.int64), parts.cumsum(1)[:, :2]], 1)
        self._blocks = np.array(blocks, np.int64)
        self._starts = self._blocks.cumsum() - self._blocks
        self._keys = np.stack([_round_keys(seed, name, "splits", block) for block in range(len(blocks))])
        self.sizes: dict[Split, int] = dict(zip(SPLITS, self._ends[-1].tolist(), strict=True))
        """How many sentences each split has."""

    def numbers(self, indices: np.ndarray, *, split: Split, seed: int) -> np.ndarray:
        """The numbers (n,) int64 of the sentences at these positions (n,) of a split, which lie within it."""
        part = SPLITS.index(split)
        ends, skipped = (np.ascontiguousarray(table[:, part]) for table in (self._ends, self._skipped))
        out = np.empty(len(indices), np.int64)
        order = _round_keys(seed, self._name, "order", split)
        _divide(np.ascontiguousarray(indices), order, ends, skipped, self._blocks, self._starts, self._keys, out)
        return out


def _round_keys(seed: int, *names: str | int) -> np.ndarray:
    """One key for each round, (8,) uint64."""
    return np.concatenate([seeds.key(seed, *names, pair) for pair in range(_ROUNDS // 2)])


@compiled
def _mixed(value: int, key: np.uint64, limit: int) -> Any:
    """A number below `limit`, which is below 2^32, from a number and a key: the finaliser of SplitMix64, scaled."""
    word = np.uint64(value) ^ key
    word = (word ^ (word >> _A)) * _FIRST
    word = (word ^ (word >> _B)) * _SECOND
    word = word ^ (word >> _C)
    return np.int64(((word >> _HALF) * np.uint64(limit)) >> _HALF)


@compiled
def _permuted(index: int, size: int, keys: np.ndarray) -> int:
    """Where the keyed permutation of range(size) sends a number."""
    high = math.ceil(math.sqrt(size))
    low = (size + high - 1) // high
    while True:
        left, right = index // low, index % low
        for turn in range(0, len(keys), 2):
            left += _mixed(right, keys[turn], high)
            left -= high if left >= high else 0
            right += _mixed(left, keys[turn + 1], low)
            right -= low if right >= low else 0
        index = left * low + right
        if index < size:
            return index


@compiled
def _divide(
    indices: np.ndarray,
    order: np.ndarray,
    ends: np.ndarray,
    skipped: np.ndarray,
    blocks: np.ndarray,
    starts: np.ndarray,
    keys: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the numbers of sentences: position in the split, block, position in the block, number."""
    for row in range(len(indices)):
        place = _permuted(indices[row], ends[-1], order)
        block = np.searchsorted(ends, place, side="right")
        within = place - (ends[block - 1] if block else 0) + skipped[block]
        out[row] = starts[block] + _permuted(within, blocks[block], keys[block])


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
        parts = [shares(sum(blocks))] if cap is None else [shares(min(block, cap)) for block in blocks]
        self.sizes: dict[Split, int] = dict(zip(SPLITS, map(sum, zip(*parts, strict=True)), strict=True))
        """How many sentences each split has."""

    def numbers(self, indices: np.ndarray, *, split: Split, seed: int) -> np.ndarray:
        """As `KeyedDivision.numbers`; `seed` changes nothing."""
        return np.asarray(_shuffled(*self._recipe)[SPLITS.index(split)][indices])

    @property
    def vocabulary(self) -> np.ndarray:
        """The order of the words in the published file, (words,) of positions in the vocabulary."""
        return _shuffled(*self._recipe)[-1]


@lru_cache(maxsize=2)
def _shuffled(blocks: tuple[int, ...], words: int, cap: int | None, seed: int) -> tuple[np.ndarray, ...]:
    """Numbers of the sentences of each split, and the order of the vocabulary."""
    *key, position = random.Random(seed).getstate()[1]
    bits = np.random.MT19937()
    bits.state = {"bit_generator": "MT19937", "state": {"key": np.array(key, np.uint32), "pos": position}}
    vocabulary = np.arange(words, dtype=np.uint32)
    if cap is None:
        numbers = np.arange(sum(blocks), dtype=np.uint32)
        parts = np.split(_shuffle(bits, numbers, times=3), np.cumsum(shares(len(numbers)))[:2])
        _shuffle(bits, vocabulary, times=2)
    else:
        _shuffle(bits, vocabulary)
        parts = _by_form(bits, blocks, cap)
    found: tuple[np.ndarray, ...] = (*(part.astype(np.int64) for part in parts), vocabulary)
    for array in found:
        array.setflags(write=False)
    return found


def _by_form(bits: np.random.MT19937, blocks: Sequence[int], cap: int) -> list[np.ndarray]:
    """The splits where each form is shuffled, cut and divided, and then each split is shuffled."""
    parts: tuple[list[np.ndarray], ...] = ([], [], [])
    start = 0
    for block in blocks:
        kept = _shuffle(bits, np.arange(block, dtype=np.uint32))[:cap]
        for part, piece in zip(parts, np.split(kept, np.cumsum(shares(len(kept)))[:2]), strict=True):
            part.append(piece + np.uint32(start))
        start += block
    return [_shuffle(bits, np.concatenate(part)) for part in parts]


def _shuffle(bits: np.random.MT19937, numbers: np.ndarray, *, times: int = 1) -> np.ndarray:
    """`numbers`, shuffled in place as `random.shuffle` does with a generator in this state, which goes on.

    Every number takes at least one word of 32 bits, so the words that are drawn are all used.
    """
    for _ in range(times):
        last = len(numbers) - 1
        while last > 0:
            last = _swap(bits.random_raw(min(last, _WAITING)), numbers, last)
    return numbers


@compiled
def _swap(words: np.ndarray, numbers: np.ndarray, last: int) -> int:
    """Swap the numbers from `last` downwards with those that the words draw; what is last when there are no more words."""
    bits = 32
    for word in words:
        while (last + 1) >> (bits - 1) == 0:
            bits -= 1
        drawn = np.int64(word) >> (32 - bits)
        if drawn <= last:
            numbers[last], numbers[drawn] = numbers[drawn], numbers[last]
            last -= 1
    return last
