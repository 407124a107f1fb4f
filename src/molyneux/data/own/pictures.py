"""Images of a user's files: read with Pillow, brought to one size, and kept in memory where they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
from PIL import Image

from molyneux.core import DataError, Modality
from molyneux.core.image_files import has_alpha, in_threads, is_turned, open_image, read_image

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
"""Names of files that are taken for images."""

OTHER_SUFFIXES = (
    *(".avif", ".dng", ".emf", ".eps", ".heic", ".heif", ".ico", ".jfif", ".jp2", ".jpe", ".jxl", ".npy", ".pbm", ".pdf", ".pgm"),
    *(".pnm", ".psd", ".raw", ".svg", ".tga", ".wmf", ".xcf"),
)
"""Names of files that are images, or may be, and are not read."""

KEPT = 1 << 30
"""Bytes of decoded images that are kept in memory; of a larger set, each image is decoded whenever it is needed."""

_GREY = ("1", "L")
_MODES = (*_GREY, "P", "PA", "RGB", "RGBA", "LA", "CMYK", "YCbCr")

Content = Path | bytes | None
"""A file, the content of one, or no image."""


class _Head(NamedTuple):
    """What the head of an image says: height and width as it is shown, its mode, and whether it has alpha."""

    size: tuple[int, int]
    mode: str
    alpha: bool


class Pictures:
    """An image modality whose images lie in files. Satisfies `content.View`.

    Args:
        name: of the modality.
        contents: (N,) the image of each sample; None where there is none.
        where: what an error calls the image of a row.
        size: height and width to which images are resized; without it, all must have the same.
        channels: 1 for grey, 3 for colour; by default 1 if all images are grey.

    Raises:
        DataError: no image at all, one that cannot be read, or images of different sizes without `size`; names the image.
    """

    def __init__(
        self,
        name: str,
        contents: Sequence[Content],
        where: Callable[[int], str],
        *,
        size: tuple[int, int] | None = None,
        channels: int | None = None,
    ) -> None:
        self._contents, self._where, self._size = contents, where, size
        self.present = None if all(content is not None for content in contents) else np.array([c is not None for c in contents])
        rows = [row for row, content in enumerate(contents) if content is not None]
        if not rows:
            raise DataError(f"{where(0)}: expected at least one image, got none in any row")
        heads = list(in_threads(self._head, rows))
        if size is None:
            self._require_one_size(rows, [head.size for head in heads])
        height, width = size or heads[0].size
        found = channels or (1 if all(head.mode in _GREY for head in heads) else 3)
        self.modality = Modality(name, "image", (found, height, width), "uint8")
        self.notes = self._converted(rows, heads)
        self._all: np.ndarray | None = None
        self._lock = Lock()
        self._require_levels(rows)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """The images (B, C, H, W) uint8 of these rows; zeros where there is none."""
        if self.modality.size * len(self._contents) > KEPT:
            return self._decode(rows)
        with self._lock:
            if self._all is None:
                self._all = self._decode(np.arange(len(self._contents)))
        found: np.ndarray = self._all[rows]
        return found

    def _decode(self, rows: np.ndarray) -> np.ndarray:
        found = np.zeros((len(rows), *self.modality.shape), np.uint8)
        for place, image in enumerate(in_threads(self._image, rows.tolist())):
            if image is not None:
                found[place] = image
        return found

    def _head(self, row: int) -> _Head:
        """What the head of an image says of it."""
        with self._open(row) as image:
            if image.mode not in _MODES:
                raise DataError(f"{self._where(row)}: expected 8 bits per channel, got an image of mode {image.mode}: convert it")
            width, height = reversed(image.size) if is_turned(image, self._where(row)) else image.size
            return _Head((height, width), image.mode, has_alpha(image))

    def _converted(self, rows: Sequence[int], heads: Sequence[_Head]) -> tuple[str, ...]:
        """One sentence for each reason for which images are converted."""
        shape, sizes = self.modality.shape[1:], [head.size for head in heads]
        grey = self.modality.shape[0] == 1
        kinds = {
            f"resized to {shape[0]} x {shape[1]} (height x width)": [size != shape for size in sizes],
            "its shape was changed, for it has another ratio of height and width": [
                abs(height * shape[1] - width * shape[0]) > max(height * shape[1], width * shape[0]) / 100
                for height, width in sizes
            ],
            "shown on white, for it has an alpha channel": [head.alpha for head in heads],
            "converted from CMYK, without its colour profile": [head.mode == "CMYK" for head in heads],
            "a colour image was made grey": [grey and head.mode not in (*_GREY, "LA") for head in heads],
            "a grey image was given three equal channels": [not grey and head.mode in (*_GREY, "LA") for head in heads],
        }
        return tuple(
            f"{self._where(rows[affected.index(True)])}: {what} ({sum(affected):,} of {len(heads):,} images)"
            for what, affected in kinds.items()
            if any(affected)
        )

    def _require_levels(self, rows: Sequence[int]) -> None:
        """Raise DataError if all images have only the levels 0 and 1, which would be shown as black."""
        some = False
        for row in rows:
            image = self._image(row)
            if image is not None and image.max() > 1:
                return
            some = some or (image is not None and bool(image.any()))
        if some:
            raise DataError(
                f"{self._where(rows[0])}: expected levels from 0 to 255, got 0 and 1 alone in all images, which would be black: "
                "multiply them by 255"
            )

    def _image(self, row: int) -> np.ndarray | None:
        content = self._contents[row]
        return None if content is None else read_image(content, self.modality.shape, self._where(row), ground="white")

    def _open(self, row: int) -> AbstractContextManager[Image.Image]:
        content = self._contents[row]
        assert content is not None
        return open_image(content, self._where(row), still=True)

    def _require_one_size(self, rows: Sequence[int], sizes: Sequence[tuple[int, int]]) -> None:
        for row, size in zip(rows, sizes, strict=True):
            if size != sizes[0]:
                raise DataError(
                    f"expected images of one size, got {sizes[0][0]} x {sizes[0][1]} in {self._where(rows[0])} and "
                    f"{size[0]} x {size[1]} in {self._where(row)} (height x width): set image_size to resize them"
                )
