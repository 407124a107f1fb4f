"""Images in files, or as the content of files, become arrays, and arrays become images; Pillow decodes and writes them."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import IO, TypeVar

import numpy as np
import PIL
from PIL import Image, ImageOps, UnidentifiedImageError

from molyneux.core import DataError, files
from molyneux.core.errors import short

FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
"""Formats of pixels, which are read whatever the name of a file ends in. Pillow knows others that start programs, such as
PostScript, or open further files; these are never tried."""

MOST_PIXELS = 89_478_485
"""Of one image: 268 MB in colour, where Pillow warns by default."""

_THREADS = 4

_BROKEN = (*files.DAMAGED, Image.DecompressionBombError)
"""What Pillow raises for damaged files."""


class _Quiet:
    """Remarks of Pillow about files do not reach the user while some thread reads an image.

    Filters of warnings belong to the whole process, so that the first thread sets them and the last one restores them.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._filters = Lock(), 0, warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._filters = warnings.catch_warnings()
                self._filters.__enter__()
                warnings.filterwarnings("ignore", module=rf"PIL\.|{__name__}")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._filters.__exit__(None, None, None)


QUIET = _Quiet()
"""Inside, remarks of Pillow about files do not reach the user."""

T = TypeVar("T")
R = TypeVar("R")

Box = tuple[int, int, int, int]
"""Left, top, right and bottom of a part of an image, in pixels; what lies outside the image is black."""


@contextmanager
def open_image(content: Path | bytes, where: str, *, still: bool = False) -> Iterator[Image.Image]:
    """An image of which only the head is read; its pixels are read by `decoded`.

    Args:
        content: a file, or the content of one.
        where: what an error calls it.
        still: whether an image of several frames is refused; else it is its first frame.

    Raises:
        DataError: there is none, it is no image in one of `FORMATS`, one of more than `MOST_PIXELS`, or one of several frames.
    """
    with _stream(content, where) as stream:
        try:
            with QUIET:
                image = Image.open(stream, formats=FORMATS)
                _mute_libtiff() if image.format == "TIFF" else None
                frames = _frames(image) if still else 1
        except UnidentifiedImageError as error:
            kinds = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
            raise DataError(f"{where}: expected an image ({kinds}), got a file of another kind: convert it") from error
        except _BROKEN as error:
            raise DataError(f"{where}: cannot read the image: {short(error)}") from error
        require_pixels(image.size, where)
        if frames > 1:
            raise DataError(
                f"{where}: expected one picture, got several frames: store the one that is meant as a file of its own"
            )
        yield image


def _stream(content: Path | bytes, where: str) -> IO[bytes]:
    if isinstance(content, bytes):
        return BytesIO(content)
    try:
        return files.open_plain(content)
    except FileNotFoundError as error:
        raise DataError(f"{where}: expected the image {content!s}, which is not there") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{where}: cannot read the image: {short(error)}") from error


def require_pixels(size: tuple[int, int], where: str) -> None:
    """Raise DataError for an image of more than `MOST_PIXELS`."""
    if size[0] * size[1] > MOST_PIXELS:
        raise DataError(f"{where}: expected at most {MOST_PIXELS:,} pixels, got {size[0]} x {size[1]}: make the image smaller")


def is_turned(image: Image.Image, where: str) -> bool:
    """Whether height and width change places where an image is shown, as its EXIF data say; DataError where it is damaged."""
    try:
        with QUIET:
            return bool(image.getexif().get(0x0112, 1) in range(5, 9))
    except _BROKEN as error:
        raise damaged(where, error) from error


def decoded(image: Image.Image, mode: str, where: str, *, upright: bool = False) -> Image.Image:
    """An image in a mode of Pillow such as `RGB`.

    Args:
        image: as `open_image` gives it.
        mode: of the result.
        where: what an error calls it.
        upright: whether it is turned as its EXIF data say.

    Raises:
        DataError: the file is damaged.
    """
    try:
        with QUIET:
            return (ImageOps.exif_transpose(image) if upright else image).convert(mode)
    except _BROKEN as error:
        raise damaged(where, error) from error


def read_image(
    content: Path | bytes, shape: Sequence[int], where: str, *, box: Box | None = None, ground: str | None = None
) -> np.ndarray:
    """An image as it is shown, brought to a shape (C, H, W) uint8; C is 1 for grey and 3 for colour.

    Args:
        content: a file, or the content of one.
        shape: what it is resized to, by Lanczos' filter.
        where: what an error calls it.
        box: a part of it.
        ground: the colour on which a transparent image is shown; without it, transparency is ignored.

    Raises:
        DataError: as `open_image`, the file is damaged, or the box lies outside of the image or is too large.
    """
    channels, height, width = shape
    with open_image(content, where) as image:
        mode = "L" if channels == 1 else "RGB"
        if ground is None or not has_alpha(image):
            found = decoded(image, mode, where, upright=True)
        else:
            clear = decoded(image, "RGBA", where, upright=True)
            found = Image.alpha_composite(Image.new("RGBA", clear.size, ground), clear).convert(mode)
        if box is not None and (box[0] >= found.width or box[1] >= found.height or box[2] <= 0 or box[3] <= 0):
            raise DataError(
                f"{where}: expected a part of the picture of {found.size} pixels, got {box}, which lies outside of it"
            )
        if box is not None:
            require_pixels((box[2] - box[0], box[3] - box[1]), f"{where}, part {box}")
            found = found.crop(box)
        if found.size != (width, height):
            found = found.resize((width, height), Image.Resampling.LANCZOS)
        pixels = np.asarray(found)
    return pixels[None] if channels == 1 else pixels.transpose(2, 0, 1)


def image_of(levels: np.ndarray) -> Image.Image:
    """The Pillow image of levels (C, H, W) uint8: mode `L` of one channel, `RGB` of three, `RGBA` of four."""
    return Image.fromarray(levels[0] if len(levels) == 1 else np.ascontiguousarray(levels.transpose(1, 2, 0)))


def has_alpha(image: Image.Image) -> bool:
    """Whether an image may be transparent in places."""
    return image.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in image.info


def damaged(where: str, error: Exception) -> DataError:
    """The error of an image whose file is not whole."""
    return DataError(f"{where}: expected a whole image, got a damaged file ({short(error)}): restore it")


def in_threads(do: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """The results for all items in their order, several made at a time: decoding leaves other threads free to run."""
    with ThreadPoolExecutor(_THREADS) as pool:
        yield from pool.map(do, items)


@cache
def _mute_libtiff() -> None:
    """Tell libtiff, where Pillow brings it along, to write no remarks on damaged files to standard error, past Python."""
    package = Path(PIL.__file__).parent
    for path in (*package.parent.glob("pillow.libs/libtiff*"), *package.glob(".dylibs/libtiff*")):
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(str(path))
            for name in ("TIFFSetErrorHandler", "TIFFSetWarningHandler"):
                handler = getattr(library, name)
                handler.argtypes, handler.restype = [ctypes.c_void_p], ctypes.c_void_p
                handler(None)


def _frames(image: Image.Image) -> int:
    """How many frames an image has, 2 for more; those of a photograph beside it (MPO) are no frames of their own."""
    return 2 if image.format != "MPO" and getattr(image, "is_animated", False) else 1
