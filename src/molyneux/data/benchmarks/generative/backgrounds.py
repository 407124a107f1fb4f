"""Backgrounds for digits: one large colour picture for each modality, procedural or from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from molyneux.core import DataError, seeds
from molyneux.core.image_files import decoded, open_image
from molyneux.data.worlds.textures import PARAMETERS, PATTERNS, draw_patterns, texture_files

SIDE = 96
"""Of a procedural background, in pixels."""

_DEPTH = (120, 104, 72)
"""How far the three channels go from black or white, in turn."""


@lru_cache(maxsize=1)
def procedural() -> tuple[np.ndarray, ...]:
    """A background (3, SIDE, SIDE) uint8 of each family of textures, always the same ones.

    Every channel stays near black or near white, by the place of the family, so that the inverted colours of a digit differ from
    those around it everywhere, by at least 15 of 255 in each channel.
    """
    count, stream = len(PATTERNS), seeds.generator(0, "polymnist-backgrounds-v1")
    grey = np.empty((count, SIDE, SIDE), np.uint8)
    numbers, keys = stream.random((count, PARAMETERS)), stream.integers(0, 1 << 63, count).astype(np.uint64)
    draw_patterns(np.arange(count), numbers, keys, grey)
    pictures = []
    for family in range(count):
        depth = np.roll(_DEPTH, family)[:, None, None]
        near_black = grey[family].astype(np.int64) * depth // 255
        corner = np.array([(family + 1) >> channel & 1 for channel in range(3)])[:, None, None]
        picture = np.where(corner == 1, 255 - near_black, near_black).astype(np.uint8)
        picture.setflags(write=False)
        pictures.append(picture)
    return tuple(pictures)


def of_folder(path: Path, count: int, smallest: int) -> tuple[np.ndarray, ...]:
    """The first `count` pictures of a folder by name, (3, H, W) uint8 each, in their own sizes.

    Raises:
        StoreError: no such folder. DataError: too few pictures, or one that cannot be read or is smaller than `smallest`.
    """
    files = texture_files(path)
    if len(files) < count:
        raise DataError(f"{path}: expected at least {count} pictures, one for each modality, got {len(files)}: add pictures")
    return tuple(_picture(file, smallest) for file in files[:count])


def _picture(file: Path, smallest: int) -> np.ndarray:
    with open_image(file, str(file)) as image:
        pixels = np.asarray(decoded(image, "RGB", str(file))).transpose(2, 0, 1)
    if min(pixels.shape[1:]) < smallest:
        raise DataError(
            f"{file}: expected a picture of at least {smallest} pixels a side, got {pixels.shape[1:]}: take a larger one"
        )
    return np.ascontiguousarray(pixels)


def crops(picture: np.ndarray, corners: np.ndarray, side: int) -> np.ndarray:
    """Squares (B, 3, side, side) of a picture (3, H, W) whose top left corners (B, 2) are given; copies."""
    windows = np.lib.stride_tricks.sliding_window_view(picture, (side, side), axis=(1, 2)).transpose(1, 2, 0, 3, 4)
    found: np.ndarray = windows[corners[:, 0], corners[:, 1]]
    return found


def corners(pictures: Sequence[np.ndarray], draws: np.ndarray, side: int) -> np.ndarray:
    """Corners (B, M, 2) of squares within pictures (3, H, W) from draws (B, M, 2) of [0, 1).

    As in the published generator, the last row and column of corners are left out.
    """
    room = np.array([[picture.shape[1] - side, picture.shape[2] - side] for picture in pictures])
    return np.asarray((draws * room).astype(np.int64))
