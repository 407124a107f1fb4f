"""The division of a language into splits: which sentences each split has, and in which order.

A split is decided by a keyed permutation of the numbers, which has random access: nothing is shuffled and nothing stored. The
permutation is a Feistel network over pairs of digits with as many rounds as it has keys; the few pairs beyond the last number are
walked through until a number comes (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002, sections 4, 5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from molyneux.core import seeds
from molyneux.core.compiled import compiled
from molyneux.data.worlds.finite import SPLITS
from molyneux.data.worlds.world import Split

_ROUNDS = 8
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_A, _B, _C, _HALF = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


class Division(Protocol):
    """What decides on the sentences of each split."""

    @property
    def sizes(self) -> dict[Split, int]:
        """How many sentences each split has."""
        ...

    def numbers(self, indices: np.ndarray, *, split: Split, seed: int) -> np.ndarray:
        """The numbers (n,) int64 of the sentences at these positions (n,) of a split, which lie within it."""
        ...


def shares(count: int) -> tuple[int, int, int]:
    """How many of so many sentences go to the splits: 60 %, 20 % and the rest, as published.

    >>> shares(9_600)
    (5760, 1920, 1920)
    """
    train, seen = count * 6 // 10, count * 8 // 10
    return train, seen - train, count - seen


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

    @property
    def sizes(self) -> dict[Split, int]:
        """How many sentences each split has."""
        return dict(zip(SPLITS, self._ends[-1].tolist(), strict=True))

    def numbers(self, indices: np.ndarray, *, split: Split, seed: int) -> np.ndarray:
        """See `Division`."""
        part = SPLITS.index(split)
        ends, skipped = (np.ascontiguousarray(table[:, part]) for table in (self._ends, self._skipped))
        out = np.empty(len(indices), np.int64)
        order = _round_keys(seed, self._name, "order", split)
        _divide(np.ascontiguousarray(indices), order, ends, skipped, self._blocks, self._starts, self._keys, out)
        return out


def permutation(size: int, seed: int, *names: str | int) -> np.ndarray:
    """The keyed permutation of range(size) of a named stream, (size,) int64; sources and splits are made of such.

    >>> sorted(permutation(5, 1, "example").tolist())
    [0, 1, 2, 3, 4]
    """
    out = np.empty(size, np.int64)
    _permute(_round_keys(seed, *names), out)
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
def _permute(keys: np.ndarray, out: np.ndarray) -> None:
    for index in range(len(out)):
        out[index] = _permuted(index, len(out), keys)


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
