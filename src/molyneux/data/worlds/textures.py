"""Banks of grey textures: procedural by default, or a folder of pictures, or flat.

A bank is an array (count, side, side) uint8; each texture is stretched to 0..255. A scene takes one by number.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from molyneux.core import DataError, StoreError, seeds
from molyneux.data.worlds.parallel import spread
from molyneux.data.worlds.patterns import PARAMETERS, PATTERNS, draw_patterns

COUNT = 4096
"""Procedural textures in a bank, as long as it stays within `MEMORY`."""

MEMORY = 64 << 20
"""Most bytes of a procedural bank: 128 pixels a side have all textures, 256 have 1024."""

SUFFIXES = (".bmp", ".jpeg", ".jpg", ".png")


@lru_cache(maxsize=2)
def procedural(side: int) -> np.ndarray:
    """The bank of procedural textures, (count, side, side) uint8; always the same one.

    It stands where the published generator has a photographic data set, so it belongs to the world's version and not to
    the seed. Kept in memory because it is a pure function that every world instance shares.
    """
    count = min(COUNT, MEMORY // side**2)
    stream = seeds.generator(0, "textures-v1")
    numbers = stream.random((COUNT, PARAMETERS))
    keys = stream.integers(0, 1 << 63, COUNT).astype(np.uint64)
    family = np.arange(COUNT) % len(PATTERNS)
    bank = np.empty((count, side, side), np.uint8)
    spread(lambda part: draw_patterns(family[part], numbers[part], keys[part], bank[part]), count, threads=2)
    bank.setflags(write=False)
    return bank


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
def _digest(path: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for file, size, _ in files:
        digest.update(f"{file.relative_to(path).as_posix()}:{size}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def flat(side: int) -> np.ndarray:
    """A bank of one even grey."""
    return np.full((1, side, side), 128, np.uint8)


def _texture(file: Path, side: int) -> np.ndarray:
    try:
        with Image.open(file) as picture:
            grey = np.asarray(picture.convert("L").resize((side, side), Image.Resampling.BILINEAR), np.float64)
    except (UnidentifiedImageError, OSError) as error:
        raise DataError(f"expected a picture, got {file}, which cannot be read ({error}): remove it or repair it") from error
    low, high = grey.min(), grey.max()
    return np.asarray((grey - low) * (255.0 / max(high - low, 1.0)) + 0.5).astype(np.uint8)
