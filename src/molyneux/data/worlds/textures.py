"""Banks of grey textures: procedural by default, or a folder of pictures, or flat.

A bank is an array (count, side, side) uint8; each texture is stretched to 0..255. A scene takes one by number.

A procedural texture is a pattern: a function of the unit torus, so that it can be rolled without a seam. Only arithmetic that is
exact to the last bit on every machine is used (no sine, no power): the same number gives the same texture everywhere. It is made
of periodic waves over integer directions, value noise in octaves (Perlin, "An image synthesizer", SIGGRAPH 1985, with values
instead of gradients) and cells (Worley, "A cellular texture basis function", SIGGRAPH 1996).
"""

from __future__ import annotations

import hashlib
import math
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from threading import Lock

import numpy as np
from PIL import Image

from molyneux.core import StoreError, files, seeds
from molyneux.core.image_files import decoded, open_image
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.combinations import pick

COUNT = 4096
"""Procedural textures in a bank, as long as it stays within `MEMORY`."""

MEMORY = 64 << 20
"""Most bytes of a procedural bank: 128 pixels a side have all textures, 256 have 1024."""

PATTERNS = ("stripes", "checks", "dots", "clouds", "ridges", "waves", "marble", "cells", "cracks", "weave")
"""Names of the families; a family's code is its place here."""

_SHARED = 256
"""Textures from which on two threads draw them."""

PARAMETERS = 12
"""Numbers of [0, 1) that a pattern is made from."""

_STRIPES, _CHECKS, _DOTS, _CLOUDS, _RIDGES, _WAVES, _MARBLE, _CELLS, _CRACKS = range(9)

SUFFIXES = (".bmp", ".jpeg", ".jpg", ".png")


@lru_cache(maxsize=2)
def procedural(side: int) -> ProceduralBank:
    """The bank of procedural textures of a side; always the same one, whose textures are drawn when they are first needed.

    It stands where the published generator has a photographic data set, so it belongs to the world's version and not to
    the seed. Kept in memory because it is a pure function that every world instance shares.
    """
    return ProceduralBank(side)


class ProceduralBank:
    """Procedural textures, each drawn when it is first needed: a small batch needs few of them, and all take seconds."""

    def __init__(self, side: int) -> None:
        stream = seeds.generator(0, "textures-v1")
        self._numbers = stream.random((COUNT, PARAMETERS))
        self._keys = stream.integers(0, 1 << 63, COUNT).astype(np.uint64)
        self._family = np.arange(COUNT) % len(PATTERNS)
        self._made = np.empty((min(COUNT, MEMORY // side**2), side, side), np.uint8)
        self._drawn = np.zeros(len(self._made), bool)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._made)

    def all(self) -> np.ndarray:
        """All textures, (count, side, side) uint8, read-only."""
        return self.having(np.arange(len(self)))

    def having(self, numbers: np.ndarray) -> np.ndarray:
        """The array of all textures, (count, side, side) uint8, read-only, of which those of these numbers (n,) are drawn."""
        if not self._drawn[numbers].all():
            with self._lock:
                lacking = np.unique(numbers[~self._drawn[numbers]])
                parts = np.array_split(lacking, 2 if len(lacking) > _SHARED else 1)
                with ThreadPoolExecutor(len(parts)) as pool:
                    list(pool.map(self._draw, parts))
                self._drawn[lacking] = True
        textures = self._made.view()
        textures.setflags(write=False)
        return textures

    def _draw(self, numbers: np.ndarray) -> None:
        drawn = np.empty((len(numbers), *self._made.shape[1:]), np.uint8)
        draw_patterns(self._family[numbers], self._numbers[numbers], self._keys[numbers], drawn)
        self._made[numbers] = drawn


def choice(which: np.ndarray, how: np.ndarray, bank: np.ndarray | ProceduralBank, side: int) -> np.ndarray:
    """Number, symmetry and rolls of textures of a side, (n, 4) int64, from uniform numbers (n,) each.

    Procedural textures are varied by rolls and turns; photographs are used as they are, as published.
    """
    number = pick(which, len(bank))
    if not isinstance(bank, ProceduralBank):
        return np.stack([number, *[np.zeros_like(number)] * 3], 1)
    symmetry, place = np.divmod(pick(how, 8 * side * side), side * side)
    return np.stack([number, symmetry, place // side, place % side], 1)


@lru_cache(maxsize=2)
def folder(path: Path, side: int) -> np.ndarray:
    """The pictures of a folder and its sub-folders as a bank, by sorted path: grey, resized, then stretched to 0..255.

    Raises:
        StoreError: no such folder, or no pictures in it. DataError: a file that cannot be read as a picture.
    """
    files = texture_files(path)
    bank = np.stack([_texture(file, side) for file in files])
    bank.setflags(write=False)
    return bank


def texture_files(path: Path) -> list[Path]:
    """The pictures of a folder and its sub-folders, sorted.

    Raises:
        StoreError: no such folder, or no pictures in it.
    """
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES)
    if not files:
        raise StoreError(f"expected a folder with pictures ({', '.join(SUFFIXES)}) as textures, got {path}: check the path")
    return files


def folder_digest(path: Path) -> str:
    """A hash of the names and the content of a folder's pictures, 16 hex digits: it changes when textures do.

    Content is read once as long as sizes and times of change stay the same, because every record of a world asks for it.
    """
    stamps = [(file, file.stat()) for file in texture_files(path)]
    return _digest(path, tuple((file, stamp.st_size, stamp.st_mtime_ns) for file, stamp in stamps))


@lru_cache(maxsize=8)
def _digest(path: Path, found: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for file, size, _ in found:
        digest.update(f"{file.relative_to(path).as_posix()}:{size}\n".encode())
        digest.update(files.read_plain(file, most=1 << 29))
    return digest.hexdigest()


def _texture(file: Path, side: int) -> np.ndarray:
    with open_image(file, str(file)) as picture:
        grey = np.asarray(decoded(picture, "L", str(file)).resize((side, side), Image.Resampling.BILINEAR), np.float64)
    low, high = grey.min(), grey.max()
    return np.asarray((grey - low) * (255.0 / max(high - low, 1.0)) + 0.5).astype(np.uint8)


@compiled
def draw_patterns(family: np.ndarray, numbers: np.ndarray, keys: np.ndarray, out: np.ndarray) -> None:
    """Draw patterns of families (n,) into `out` (n, side, side) uint8, each stretched to 0..255.

    They are made of numbers (n, PARAMETERS) of [0, 1) and keys (n,) uint64 of their noise.
    """
    side = out.shape[1]
    values = np.empty((side, side), np.float64)
    for row in range(len(family)):
        p = numbers[row]
        low, high = math.inf, -math.inf
        for i in range(side):
            for j in range(side):
                value = _pattern(family[row], (j + 0.5) / side, (i + 0.5) / side, p, keys[row])
                values[i, j] = value
                low, high = min(low, value), max(high, value)
        scale = 255.0 / (high - low) if high > low else 0.0
        for i in range(side):
            for j in range(side):
                out[row, i, j] = int((values[i, j] - low) * scale + 0.5)


@compiled
def _pattern(family: int, x: float, y: float, p: np.ndarray, key: np.uint64) -> float:
    """Value of a pattern at a point of the unit torus, any range."""
    if family == _CLOUDS:
        return _octaves(x, y, 2 + int(p[0] * 6.0), 1 + int(p[1] * 5.0), 0.4 + 0.4 * p[2], key)
    if family == _RIDGES:
        return -abs(_octaves(x, y, 2 + int(p[0] * 5.0), 1 + int(p[1] * 4.0), 0.4 + 0.3 * p[2], key) - 0.5)
    if family in (_CELLS, _CRACKS):
        return _cells(x, y, 3 + int(p[0] * 9.0), 0.2 + 0.8 * p[1], family == _CRACKS, key)
    grain: float = 0.0 if p[10] < 0.5 else (p[10] - 0.5) * 1.6 * (_octaves(x, y, 8, 2, 0.5, key) - 0.5)
    if p[11] > 0.5 or family == _MARBLE:
        strength: float = 0.1 + 0.6 * p[11] if family == _MARBLE else (p[11] - 0.5) * 0.5
        bend = strength * (_octaves(x, y, 2 + int(p[9] * 3.0), 2, 0.5, key) - 0.5)
        x, y = x + bend, y + bend
    phases: tuple[float, float] = _directions(x, y, p)
    along, across = phases
    if family in (_STRIPES, _MARBLE):
        return _profile(along, p[4]) + grain
    if family == _CHECKS:
        return _profile(along, p[4]) * _profile(across, p[4]) + grain
    if family == _DOTS:
        u, v = along - math.floor(along) - 0.5, across - math.floor(across) - 0.5
        depth: float = (0.15 + 0.3 * p[5] - math.sqrt(u * u + v * v)) * (2.0 + 20.0 * p[4])
        return min(max(depth, -1.0), 1.0) + grain
    if family == _WAVES:
        third = (1.0 + math.floor(p[6] * 5.0)) * x - (1.0 + math.floor(p[7] * 5.0)) * y + p[8]
        sum_of_three: float = _wave(along) + p[4] * _wave(across) + p[5] * _wave(third)
        return sum_of_three + grain
    over = math.floor(along) + math.floor(across)
    thread = _wave(along) if over - 2.0 * math.floor(over / 2.0) > 0.5 else _wave(across)
    return abs(thread) + grain


@compiled
def _directions(x: float, y: float, p: np.ndarray) -> tuple[float, float]:
    """Phases of two waves, the second across the first.

    Along each axis the torus has a whole number of periods of both, together an even one: the weave needs that.
    """
    a, b = math.floor(p[0] * 7.0), math.floor(p[1] * 15.0) - 7.0
    if (a + b) % 2.0 > 0.5:
        b += 1.0
    if a == 0.0 and b == 0.0:
        a, b = 3.0, 1.0
    if p[3] < 0.3:
        return 2.0 * (a * x + b * y) + p[2], 2.0 * (b * x - a * y) + p[3]
    return a * x + b * y + p[2], b * x - a * y + p[3]


@compiled
def _wave(phase: float) -> float:
    """A smooth wave of period 1, -1..1: two parabolas, within 0.06 of a sine."""
    t = phase - math.floor(phase)
    return 16.0 * t * (0.5 - t) if t < 0.5 else -16.0 * (t - 0.5) * (1.0 - t)


@compiled
def _profile(phase: float, hardness: float) -> float:
    """A wave between soft (0) and square (1), -1..1."""
    return min(max(_wave(phase) * (1.0 + 8.0 * hardness * hardness), -1.0), 1.0)


@compiled
def _octaves(x: float, y: float, base: int, count: int, persistence: float, key: np.uint64) -> float:
    """Value noise in octaves, mean about 0.5: a lattice of `base` cells a side, doubled `count - 1` times."""
    total, weight, strength = 0.0, 0.0, 1.0
    for octave in range(count):
        total += strength * _noise(x, y, base << octave, key + np.uint64(octave))
        weight += strength
        strength *= persistence
    return total / weight


@compiled
def _noise(x: float, y: float, cells: int, key: np.uint64) -> float:
    """Smooth noise of one lattice, 0..1."""
    u, v = x * cells, y * cells
    i, j = math.floor(u), math.floor(v)
    s, t = u - i, v - j
    s, t = s * s * (3.0 - 2.0 * s), t * t * (3.0 - 2.0 * t)
    i0, j0 = i % cells, j % cells
    i1, j1 = (i0 + 1) % cells, (j0 + 1) % cells
    top = _hash(i0, j0, key) * (1.0 - s) + _hash(i1, j0, key) * s
    return top * (1.0 - t) + (_hash(i0, j1, key) * (1.0 - s) + _hash(i1, j1, key) * s) * t


@compiled
def _cells(x: float, y: float, cells: int, jitter: float, cracks: bool, key: np.uint64) -> float:
    """Distance to the nearest scattered point, or with `cracks` how much farther the second is; in cells."""
    u, v = x * cells, y * cells
    i, j = math.floor(u), math.floor(v)
    first, second = math.inf, math.inf
    for di in range(-1, 2):
        for dj in range(-1, 2):
            ci, cj = (i + di) % cells, (j + dj) % cells
            px = i + di + 0.5 + jitter * (_hash(ci, cj, key) - 0.5) - u
            py = j + dj + 0.5 + jitter * (_hash(ci, cj, key + np.uint64(7)) - 0.5) - v
            d = px * px + py * py
            if d < first:
                first, second = d, first
            elif d < second:
                second = d
    return min(math.sqrt(second) - math.sqrt(first), 0.35) if cracks else math.sqrt(first)


@compiled
def _hash(i: int, j: int, key: np.uint64) -> float:
    """A number of [0, 1) for a lattice point (finaliser of MurmurHash3)."""
    h = (np.uint64(i) * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(j) * np.uint64(0xC2B2AE3D27D4EB4F)) ^ key
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return float((h ^ (h >> np.uint64(33))) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
