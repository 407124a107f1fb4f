"""What a person gives on a page, by modality, as text that fits into an address, and as a model takes it."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import numpy as np

from molyneux.core import DataError, Modality, MolyneuxError, TracesContours

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor

    from molyneux.core import Dataset

SIDE = 256
"""Pixels of the square on which people draw."""
_MOST_GIVEN = 64 * 1024 * 1024
"""Pixels of a picture in a file."""
_LONGEST_TEXT, _MOST_POINTS, _LONGEST_PICTURE, _MOST_PIXELS = 2_000, 400, 16_000, 1024 * 1024
"""Characters of a text, points of a line, characters of a picture in an address, and its pixels."""


def packed(values: Mapping[str, str]) -> tuple[str, ...]:
    """Values by modality as entries of an address, `name:value`."""
    return tuple(f"{quote(name, safe='')}:{value}" for name, value in values.items() if value)


def unpacked(entries: Iterable[str]) -> dict[str, str]:
    """The reverse of `packed`."""
    pairs = (entry.partition(":") for entry in entries)
    return {unquote(name): value for name, _, value in pairs if name and value}


def picture_text(content: bytes, modality: Modality) -> str:
    """A picture in a file as text for an address: a PNG of the size of the modality, in base64 for addresses.

    Args:
        content: of a file PNG, JPEG, GIF, BMP, WebP, TIFF or PPM.
        modality: of the model; the middle of the picture is cut to its ratio.

    Raises:
        DataError: no such file, or one of too many pixels.
    """
    from molyneux.core import values_of, views_of
    from molyneux.core.image_files import decoded, has_alpha, open_image

    with open_image(content, "the picture") as opened:
        if opened.width * opened.height > _MOST_GIVEN:
            size = f"{opened.width:,} x {opened.height:,}"
            raise DataError(f"expected a picture of at most {_MOST_GIVEN:,} pixels, got one of {size}: make it smaller")
        image = decoded(opened, "RGBA" if has_alpha(opened) else "RGB", "the picture", upright=True)
    height, width = modality.shape[-2:]
    scale = min(image.width / width, image.height / height)
    across, down = max(1, round(width * scale)), max(1, round(height * scale))
    left, top = (image.width - across) // 2, (image.height - down) // 2
    small = image.crop((left, top, left + across, top + down)).resize((width, height))
    made: Image = values_of(modality, views_of(modality, small).view)[0]
    text = _png_text(made)
    return text if len(text) <= _LONGEST_PICTURE else _png_text(made.convert("RGB").quantize(32))


def view_text(modality: Modality, view: Tensor) -> str:
    """A view (*shape) of kind image, as stored, as text for an address."""
    from molyneux.core import values_of

    return _png_text(values_of(modality, view[None])[0])


def _png_text(image: Image) -> str:
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=True)
    return base64.urlsafe_b64encode(stream.getvalue()).decode().rstrip("=")


def plain_base64(text: str) -> str:
    """The base64 of an address, as `picture_text` gives it, in the usual letters, without anything else."""
    kept = "".join(letter for letter in text if letter.isalnum() or letter in "-_")
    kept = kept.replace("-", "+").replace("_", "/")
    return kept + "=" * (-len(kept) % 4)


def picture_of(text: str) -> Image:
    """The picture of a text that `picture_text` gave.

    Raises:
        DataError: another text.
    """
    from molyneux.core.image_files import decoded, open_image

    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error) as error:
        raise DataError("expected a picture in the address, got something else: open the page without it") from error
    with open_image(content, "the picture in the address") as opened:
        if opened.width * opened.height > _MOST_PIXELS:
            raise DataError("expected a small picture in the address, got a large one: open the page without it")
        return decoded(opened, "L" if opened.mode == "L" else "RGB", "the picture in the address")


def line_text(points: Iterable[Iterable[float]]) -> str:
    """A drawn line as text for an address: at most 400 points, `x.y` with `_` between them, in tenths of a pixel of `SIDE`."""
    listed = [tuple(point) for point in points]
    step = max(1, -(-len(listed) // _MOST_POINTS))
    return "_".join(f"{round(10 * x)}.{round(10 * y)}" for x, y in listed[::step])


def line_of(text: str) -> np.ndarray:
    """The points (n, 2) of a text that `line_text` gave, in pixels of `SIDE`.

    Raises:
        DataError: another text.
    """
    try:
        points = np.array([[int(part) for part in point.split(".")] for point in text.split("_")], np.float64) / 10
    except (ValueError, OverflowError) as error:
        raise DataError("expected a line in the address, got something else: open the page without it") from error
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3 or not (np.abs(points) < 1e4).all():
        raise DataError("expected a line of at least three points in the address, got something else: open the page without it")
    return points


def sound_of(content: bytes) -> tuple[int, np.ndarray]:
    """Rate and samples of a WAV file, as a model takes them.

    Raises:
        CorruptFileError: no WAV file.
    """
    from molyneux.core.sound_files import read_wav

    with TemporaryDirectory() as folder:
        path = Path(folder) / "the sound"
        path.write_bytes(content)
        try:
            return read_wav(path)
        except MolyneuxError as error:  # the path is nothing that a person knows
            raise type(error)(str(error).replace(str(path), path.name)) from error


def value_of(modality: Modality, text: str, world: Dataset | None) -> Any:
    """What a model takes for an entry of an address.

    Args:
        modality: of the model.
        text: of the entry: a typed text, a picture or a line.
        world: traces lines for a sense of touch.

    Raises:
        DataError: the entry is none of the kind of the modality.
    """
    if modality.symbols:
        return text[:_LONGEST_TEXT]
    if modality.kind == "image":
        return picture_of(text)
    if modality.kind == "series" and isinstance(world, TracesContours):
        return world.view_of_contour(line_of(text), side=SIDE).view.numpy()
    raise DataError(f"expected a text, a picture or a drawn line, got one of kind {modality.kind}: give it in a file")
