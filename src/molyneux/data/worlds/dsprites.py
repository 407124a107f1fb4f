"""The original sprites: masks from the dSprites archive in place of drawn ones.

Expected is `dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz` (Matthey et al., 2017, github.com/google-deepmind/dsprites-dataset,
Apache-2.0): `imgs` (737280, 64, 64) uint8 of 0 and 1, and `latents_classes` (737280, 6) int64: colour, shape, scale,
orientation, x, y. Its pickled `metadata` is never opened. Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import IO

import numpy as np

from molyneux.core import CorruptFileError, DataError
from molyneux.core.errors import short
from molyneux.data.formats.array_files import UNPACKING, is_archive, read_array_header, unpack_array
from molyneux.data.formats.limits import require_unpacked

DEFAULT_SHAPES = ("square", "ellipse", "heart")
"""Shapes of the archive, in the order of its classes."""

ROTATIONS = 40
"""Orientations: linspace(0, 2 pi, 40), so the first and the last are the same picture."""

PLACES = 32
"""Positions along each axis, numbered from the left and from the top."""

SIDE = 64
_ROWS = 4096
_FILES = ("imgs.npy", "latents_classes.npy")
_PLACE = "github.com/google-deepmind/dsprites-dataset publishes dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"


class SpriteArchive:
    """The masks of some shapes and scales, packed to bits in memory.

    Args:
        path: the npz file.
        scales: scale classes to keep, 0..5.

    Raises:
        CorruptFileError: the file is damaged or is laid out differently.
    """

    def __init__(self, path: Path, scales: tuple[int, ...]) -> None:
        self.path, self.scales = path, scales
        shape = (len(DEFAULT_SHAPES), len(scales), ROTATIONS, PLACES, PLACES)
        self._row = np.full(shape, -1, np.int64)
        try:
            with zipfile.ZipFile(path) as archive, archive.open(_FILES[0]) as images:
                latents = archive.getinfo(_FILES[1])
                require_unpacked(path, path.stat().st_size, latents.file_size)
                kept = self._index(unpack_array(archive, latents))
                self._bits = _packed(images, kept, path)
        except (*UNPACKING, KeyError, IndexError, OSError) as error:
            raise CorruptFileError(f"{path} is damaged or is not the dSprites archive ({short(error)}); {_PLACE}") from error

    def masks(self, shape: np.ndarray, scale: np.ndarray, rotation: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Masks (n, 64, 64) uint8 of 0 and 255, of classes (n,); `scale` counts among the kept scales.

        Raises:
            DataError: the archive lacks one of them.
        """
        rows = self._row[shape, scale, rotation, x, y]
        if (rows < 0).any():
            raise DataError(f"{self.path} lacks {int((rows < 0).sum())} of the sprites asked for: use the complete archive")
        return np.unpackbits(self._bits[rows], axis=1).reshape(-1, SIDE, SIDE) * np.uint8(255)

    def _index(self, classes: np.ndarray) -> np.ndarray:
        """Note where each wanted sprite will stand; return which rows of the archive to keep, (N,) bool."""
        if classes.ndim != 2 or classes.shape[1] != 6:
            raise ValueError(f"latents_classes has the shape {classes.shape}")
        place = np.full(6, -1, np.int64)
        place[list(self.scales)] = np.arange(len(self.scales))
        kept = np.isin(classes[:, 2], self.scales)
        shape, scale, rotation, x, y = classes[kept, 1:].T
        self._row[shape, place[scale], rotation, x, y] = np.arange(int(kept.sum()))
        return kept


load_archive = lru_cache(maxsize=1)(SpriteArchive)
"""The archive, kept in memory: it takes half a minute to read and every world of a process can share it."""


def archive_problems(path: Path) -> list[str]:
    """One sentence if the archive cannot be used."""
    if not path.is_file():
        return [f"expected the dSprites archive at {path}, which is not there; {_PLACE}"]
    if not is_archive(path):
        return [f"expected the dSprites archive at {path}, got a file that is no npz; {_PLACE}"]
    with zipfile.ZipFile(path) as archive:
        missing = [name for name in _FILES if name not in archive.namelist()]
    return [f"expected {' and '.join(missing)} in {path}, which lacks it; {_PLACE}"] if missing else []


def archive_digest(path: Path) -> str:
    """A hash of what the archive holds (the checksums in its table of contents), 16 hex digits."""
    with zipfile.ZipFile(path) as archive:
        parts = [f"{name}:{archive.getinfo(name).CRC}" for name in _FILES]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()


def _packed(images: IO[bytes], kept: np.ndarray, path: Path) -> np.ndarray:
    """Bits of the kept images, (K, 512) uint8, read in pieces: the whole archive would take 3 GB."""
    shape, dtype, fortran, _ = read_array_header(images)
    if fortran or dtype != np.uint8 or shape != (len(kept), SIDE, SIDE):
        raise ValueError(f"imgs is {dtype} {shape}")
    bits = np.empty((int(kept.sum()), SIDE * SIDE // 8), np.uint8)
    done = 0
    for start in range(0, len(kept), _ROWS):
        wanted = kept[start : start + _ROWS]
        content = images.read(len(wanted) * SIDE * SIDE)
        if len(content) != len(wanted) * SIDE * SIDE:
            raise CorruptFileError(f"{path} is truncated; {_PLACE}")
        block = np.frombuffer(content, np.uint8).reshape(len(wanted), -1)[wanted]
        bits[done : done + len(block)] = np.packbits(block, axis=1)
        done += len(block)
    return bits
