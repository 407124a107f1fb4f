"""Orders of very many samples in constant memory: a keyed permutation, and one that keeps samples of a block together.

An array of 10^9 positions is 8 GB, and drawing it anew for each epoch takes a minute. Here the place of a sample is computed
when it is asked for, from the number of samples and a key, so that an order can be entered anywhere and is the same for any
number of readers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from molyneux.core import seeds
from molyneux.core.errors import ConfigError
from molyneux.core.sources import check_positions
from molyneux.core.tooling.compiled import compiled

_ROUNDS = 8
_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _ONE = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(1)


class KeyedPermutation:
    """A permutation of 0 to `size` - 1 that a key chooses, in constant memory.

    A Feistel network of eight rounds over the smallest power of four that is not below `size`, walked until the number lies
    within (Black & Rogaway, Ciphers with Arbitrary Finite Domains, CT-RSA 2002, section 4). Each round mixes as SplitMix64 does
    (Steele, Lea & Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014). It shuffles samples; it keeps no secrets.

    Args:
        size: how many numbers are permuted.
        key: of the order, (2,) uint64, from `seeds.key`.

    Raises:
        ConfigError: `size` below 1.
    """

    def __init__(self, size: int, key: np.ndarray) -> None:
        if size < 1:
            raise ConfigError(f"expected at least one number to permute, got a size of {size}")
        self.size = size
        self._half = np.uint64(max(1, ((size - 1).bit_length() + 1) // 2))
        words = np.random.Philox(key=key).random_raw(_ROUNDS)
        self._keys = np.ascontiguousarray(words).astype(np.uint64)

    def __call__(self, positions: np.ndarray) -> np.ndarray:
        """What stands at these positions of the order, (n,) int64.

        Raises:
            DataError: a position outside 0 to `size` - 1.
        """
        rows = check_positions(positions, self.size)
        found = np.empty(len(rows), np.int64)
        _permute(np.ascontiguousarray(rows), found, np.uint64(self.size), self._half, self._keys)
        return found


@compiled
def _permute(rows: np.ndarray, found: np.ndarray, size: np.uint64, half: np.uint64, keys: np.ndarray) -> None:
    """Write what the permutation makes of `rows` (n,) int64 to `found` (n,) int64."""
    mask = (_ONE << half) - _ONE
    for place in range(len(rows)):
        number = np.uint64(rows[place])
        while True:
            left, right = number >> half, number & mask
            for key in keys:
                mixed = right + key
                mixed = (mixed ^ (mixed >> _S30)) * _A
                mixed = (mixed ^ (mixed >> _S27)) * _B
                left, right = right, left ^ ((mixed ^ (mixed >> _S31)) & mask)
            number = (left << half) | right
            if number < size:
                break
        found[place] = np.int64(number)


@dataclass(frozen=True)
class BlockOrder:
    """Every position of a source once, in an order in which positions of the same block are read at about the same time.

    Blocks are permuted, and then the positions of each `window` of them. A source whose samples lie in shards is then read from
    `window` shards at a time, and two samples that lie together meet in a batch about as seldom as any two of
    `window * block` samples. Positions that stand `together` stay so. The order is a function of these numbers and the key;
    any part of it is computed without the rest.

    Where blocks leave a rest, they begin at a place that the key chooses, and the positions before and after them are shuffled
    with those of the last window. What is left of a row of positions that stand together comes last.

    Args:
        size: how many positions there are.
        block: positions that lie together, such as those of a shard.
        window: blocks whose positions are mixed.
        key: of the order, (2,) uint64, from `seeds.key`.
        together: positions in a row that keep their order.

    Raises:
        ConfigError: a number below 1.
    """

    size: int
    block: int
    window: int
    key: np.ndarray
    together: int = 1

    def __post_init__(self) -> None:
        numbers = {"size": self.size, "block": self.block, "window": self.window, "together": self.together}
        if problems := [f"order: expected {name} of at least 1, got {number}" for name, number in numbers.items() if number < 1]:
            raise ConfigError(problems)

    def __len__(self) -> int:
        return self.size

    def positions(self, start: int, stop: int) -> np.ndarray:
        """The positions that stand from `start` to `stop` in the order, (stop - start,) int64."""
        if self.together == 1:
            return self._units(start, stop)
        whole = self.size // self.together * self.together
        first, last = start // self.together, -(-min(stop, whole) // self.together)
        units = self._units(first, last) if first < last else np.empty(0, np.int64)
        rows = (units[:, None] * self.together + np.arange(self.together)).ravel()
        offset = first * self.together
        rest = np.arange(max(start, whole), stop)
        return np.concatenate([rows[max(0, start - offset) : max(0, min(stop, whole) - offset)], rest])

    def _units(self, start: int, stop: int) -> np.ndarray:
        """Numbers of units of `together` positions, from `start` to `stop` of their order."""
        count = self.size // self.together
        block = max(1, min(self.block // self.together, count))
        blocks = count // block
        rest = count - blocks * block
        shift = int(self.key[1] % np.uint64(rest + 1))
        order = KeyedPermutation(blocks, self._of(0))
        span, found = self.window * block, []
        last = (blocks - 1) // self.window
        while start < stop:
            number = min(start // span, last)
            begin = number * span
            end = count if number == last else begin + span
            here = np.arange(start, min(stop, end))
            inside = KeyedPermutation(end - begin, self._of(1 + number))(here - begin) + begin
            which = np.minimum(inside // block, blocks - 1)
            units = order(which) * block + (inside - which * block) + shift
            found.append(np.where(inside < blocks * block, units, self._outside(inside - blocks * block, shift, blocks * block)))
            start = int(here[-1]) + 1
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def _outside(self, numbers: np.ndarray, shift: int, whole: int) -> np.ndarray:
        """Units before the first block, and those after the last, by their number."""
        return np.where(numbers < shift, numbers, numbers + whole)

    def _of(self, number: int) -> np.ndarray:
        return seeds.key(int(self.key[0]), int(self.key[1]), number)
