"""Images in files, or as the content of files, become arrays; Pillow decodes them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from molyneux.core import DataError

_THREADS = 4

T = TypeVar("T")
R = TypeVar("R")

Box = tuple[int, int, int, int]
"""Left, top, right and bottom of a part of an image, in pixels; what lies outside the image is black."""


def open_image(content: Path | bytes, where: str) -> Image.Image:
    """An image of which only the head is read.

    Args:
        content: a file, or the content of one.
        where: what an error calls it.

    Raises:
        DataError: there is none, it is no image, or one that is too large.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return Image.open(BytesIO(content) if isinstance(content, bytes) else content)
    except FileNotFoundError as error:
        raise DataError(f"{where}: expected the image {content!s}, which is not there") from error
    except UnidentifiedImageError as error:
        raise DataError(f"{where}: expected an image that Pillow reads, got a file of another kind") from error
    except (OSError, ValueError, Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise DataError(f"{where}: cannot read the image: {error}") from error


def read_image(content: Path | bytes, shape: Sequence[int], where: str, *, box: Box | None = None) -> np.ndarray:
    """An image as it is shown, brought to a shape (C, H, W) uint8; C is 1 for grey and 3 for colour.

    Args:
        content: a file, or the content of one.
        shape: what it is resized to, by Lanczos' filter.
        where: what an error calls it.
        box: a part of it.

    Raises:
        DataError: as `open_image`, the file is damaged, or the box lies outside of the image.
    """
    channels, height, width = shape
    with open_image(content, where) as image:
        try:
            shown = ImageOps.exif_transpose(image).convert("L" if channels == 1 else "RGB")
        except (OSError, SyntaxError, ValueError) as error:
            raise damaged(where, error) from error
        if box is not None and (box[0] >= shown.width or box[1] >= shown.height or box[2] <= 0 or box[3] <= 0):
            raise DataError(
                f"{where}: expected a part of the picture of {shown.size} pixels, got {box}, which lies outside of it"
            )
        shown = shown if box is None else shown.crop(box)
        if shown.size != (width, height):
            shown = shown.resize((width, height), Image.Resampling.LANCZOS)
        pixels = np.asarray(shown)
    return pixels[None] if channels == 1 else pixels.transpose(2, 0, 1)


def damaged(where: str, error: Exception) -> DataError:
    """The error of an image whose file is not whole."""
    return DataError(f"{where}: expected a whole image, got a damaged file ({error}): restore it")


def in_threads(do: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """The results for all items in their order, several made at a time: decoding leaves other threads free to run."""
    with ThreadPoolExecutor(_THREADS) as pool:
        yield from pool.map(do, items)
