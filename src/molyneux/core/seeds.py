"""Named, independent streams of random numbers from one root seed.

A stream is named by words: `generator(seed, "cdsprites-v1", "train")`. Names are hashed into the key of a counter-based
generator (Philox4x64-10; Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), so streams do not
overlap and none depends on how many numbers another has drawn. `uniforms` goes one step further: it gives sample `i` its
own counter, so that any slice, in any order, on any number of processes, sees the same numbers. `torch_generator` says what
torch keeps of a key. No global generator is used anywhere.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from molyneux.core.lazy import lazy_module
from molyneux.core.tooling.compiled import compiled, upper_product

if TYPE_CHECKING:
    import torch
else:
    torch = lazy_module("torch")

_M0, _M1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_W0, _W1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_ONE, _SHIFT = np.uint64(1), np.uint64(11)


def key(seed: int, *names: str | int) -> np.ndarray:
    """The Philox key of a named stream, (2,) uint64: the BLAKE2b hash of the root seed and the names."""
    words = "\x1f".join(f"{type(name).__name__}:{name}" for name in (seed, *names))
    return np.frombuffer(hashlib.blake2b(words.encode(), digest_size=16).digest(), dtype="<u8").astype(np.uint64)


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """A NumPy generator of a named stream."""
    return np.random.Generator(np.random.Philox(key=key(seed, *names)))


def torch_generator(seed: int, *names: str | int, device: str = "cpu") -> torch.Generator:
    """A torch generator of a named stream, seeded with 63 bits of its key.

    A GPU's generator uses all of them. A CPU's (Mersenne Twister) keeps the lower 32, so two of n streams are the same with a
    probability of about n^2 / 2^33: 3 % among the noise of 16,000 steps of training, where it does no harm if two are.
    Worlds, splits and what must never repeat draw from `uniforms` and `generator`, which use all 128 bits.
    """
    return torch.Generator(device).manual_seed(int(key(seed, *names)[0] >> _ONE))


def uniforms(stream: np.ndarray, indices: np.ndarray, count: int) -> np.ndarray:
    """`count` numbers for each sample, uniform on [0, 1): (n, count) float64.

    Row of sample `i` is what `Generator(Philox(key=stream, counter=[0, i, 0, 0])).random(count)` gives.

    Args:
        stream: key of the stream, from `key`.
        indices: (n,) non-negative sample numbers, any order, repeats allowed.
        count: numbers per sample.
    """
    out = np.empty((len(indices), count), dtype=np.float64)
    _fill(stream, np.ascontiguousarray(indices).astype(np.uint64), out)
    return out


@compiled
def philox(c0: np.uint64, c1: np.uint64, k0: np.uint64, k1: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Philox4x64-10 of the counter (c0, c1, 0, 0); four 64-bit words. Callable from compiled code."""
    c2 = c3 = np.uint64(0)
    for _ in range(10):
        h0, l0, h1, l1 = upper_product(_M0, c0), _M0 * c0, upper_product(_M1, c2), _M1 * c2
        c0, c1, c2, c3 = h1 ^ c1 ^ k0, l1, h0 ^ c3 ^ k1, l0
        k0, k1 = k0 + _W0, k1 + _W1
    return c0, c1, c2, c3


@compiled
def _philox_pair(
    c0: np.uint64, d0: np.uint64, row: np.uint64, k0: np.uint64, k1: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]:
    """`philox` of the counters (c0, row) and (d0, row); the processor computes both at the same time."""
    c1, d1 = row, row
    c2 = c3 = d2 = d3 = np.uint64(0)
    for _ in range(10):
        h0, l0, h1, l1 = upper_product(_M0, c0), _M0 * c0, upper_product(_M1, c2), _M1 * c2
        g0, m0, g1, m1 = upper_product(_M0, d0), _M0 * d0, upper_product(_M1, d2), _M1 * d2
        c0, c1, c2, c3 = h1 ^ c1 ^ k0, l1, h0 ^ c3 ^ k1, l0
        d0, d1, d2, d3 = g1 ^ d1 ^ k0, m1, g0 ^ d3 ^ k1, m0
        k0, k1 = k0 + _W0, k1 + _W1
    return c0, c1, c2, c3, d0, d1, d2, d3


@compiled
def _fill(stream: np.ndarray, indices: np.ndarray, out: np.ndarray) -> None:
    count, unit = out.shape[1], 1.0 / 9007199254740992.0
    for row in range(len(indices)):
        for block in range(0, count // 8 * 2, 2):
            words = _philox_pair(np.uint64(block + 1), np.uint64(block + 2), indices[row], stream[0], stream[1])
            place = 4 * block
            out[row, place] = (words[0] >> _SHIFT) * unit
            out[row, place + 1] = (words[1] >> _SHIFT) * unit
            out[row, place + 2] = (words[2] >> _SHIFT) * unit
            out[row, place + 3] = (words[3] >> _SHIFT) * unit
            out[row, place + 4] = (words[4] >> _SHIFT) * unit
            out[row, place + 5] = (words[5] >> _SHIFT) * unit
            out[row, place + 6] = (words[6] >> _SHIFT) * unit
            out[row, place + 7] = (words[7] >> _SHIFT) * unit
        for place in range(count // 8 * 8, count, 4):
            last = philox(np.uint64(place // 4 + 1), indices[row], stream[0], stream[1])
            for lane in range(min(4, count - place)):
                out[row, place + lane] = (last[lane] >> _SHIFT) * unit
