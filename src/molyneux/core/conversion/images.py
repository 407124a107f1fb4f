"""Pictures as PIL images, arrays or files become views of an image modality."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from molyneux.core import files
from molyneux.core.conversion.given import Notes, as_array, is_array, is_several, place_of, plain_path, require_finite, wanted
from molyneux.core.errors import DataError
from molyneux.core.spec import Modality

if TYPE_CHECKING:
    from PIL import Image

MOST_PIXELS = 1 << 24
"""Of one picture, 4096 x 4096: a decoded picture and its conversion take up to 192 MB. A photograph as JPEG, which is decoded at
a smaller size, may have five times as many."""

MOST_OF_WEBP = 1 << 23
"""Pixels of one picture as WebP, whose decoder takes twice as much."""

MOST_BYTES = 1 << 26
"""Of one file."""

_GROUND = 255
"""Level of the white ground on which transparent pictures are shown."""

_LUMA = np.array([299, 587, 114], np.int64)
_RATIO = 0.01
"""By how much the ratio of width and height may differ for a picture to be resized."""

_ROUNDING = 1e-4
_WIDEST = 4
"""Channels that a picture has at most: colours and an alpha channel."""


def image_views(modality: Modality, values: object) -> tuple[Tensor, None, Notes]:
    """See `views_of`: (N, C, H, W) of pictures."""
    notes = Notes()
    if not is_several(values):
        pictures = _one(modality, values, None, notes)
    else:
        assert isinstance(values, list | tuple)
        pictures = _stacked(modality, values, notes)
    return torch.from_numpy(np.array(pictures, order="C")), None, notes  # a copy: the array that was given may change


def _stacked(modality: Modality, values: list[object] | tuple[object, ...], notes: Notes) -> np.ndarray:
    """Several pictures, those that are arrays of one shape at once."""
    shapes = {(value.shape, value.dtype) if isinstance(value, np.ndarray | Tensor) else None for value in values}
    if len(shapes) == 1 and None not in shapes and len(values) > 1:
        arrays = [as_array(value, place_of(modality, place)) for place, value in enumerate(values)]
        if (found := _channels_first(modality, np.stack(arrays), place_of(modality, None), one=True)) is not None:
            return _prepared(modality, found, None, notes)
    found = np.zeros((len(values), *modality.shape), modality.dtype)
    for place, value in enumerate(values):
        at, picture = place_of(modality, place, len(values)), _one(modality, value, place, notes)
        if len(picture) != 1:
            raise DataError(f"{at}: expected one picture, got {len(picture)}: give several as one array, or each by itself")
        found[place] = picture[0]
    return found


def _one(modality: Modality, value: object, place: int | None, notes: Notes) -> np.ndarray:
    """Pictures (N, C, H, W) of one value, which is an array of several where N is above 1."""
    at = place_of(modality, place)
    if is_array(value):
        array = as_array(value, at)
        found = _channels_first(modality, array, at, one=False)
        if found is None:
            raise DataError(f"{at}: expected {wanted(modality)}, got an array of shape {array.shape}: {_shapes(modality)}")
        return _prepared(modality, found, place, notes)
    if isinstance(value, str | Path):
        return _prepared(modality, _read(modality, value, at, place, notes), place, notes)
    from PIL import Image

    if isinstance(value, Image.Image):
        return _prepared(modality, _pixels(modality, value, at, place, notes), place, notes)
    raise DataError(f"{at}: expected {wanted(modality)}, got {_named(value)}: convert it to one of these")


def _named(value: object) -> str:
    if isinstance(value, bytes):
        return "bytes, which say nothing of width and height"
    return f"a {type(value).__name__}"


def _shapes(modality: Modality) -> str:
    _, height, width = modality.shape
    return f"give ({height}, {width}), ({height}, {width}, channels), (channels, {height}, {width}) or several of such"


def _channels_first(modality: Modality, array: np.ndarray, at: str, *, one: bool) -> np.ndarray | None:
    """An array as (N, channels, H, W); None where its shape is none of pictures.

    Args:
        modality: of the pictures; a shape that fits it as it is stored is taken so.
        array: of one picture or of several.
        at: what an error calls it.
        one: whether the first axis is known to be that of pictures.
    """
    rank, stored, widest = array.ndim, modality.shape, max(_WIDEST, modality.shape[0])
    if rank == 2 and not one:
        return array[None, None]
    if rank == 3 and one:
        return array[:, None]
    if rank == 3 and array.shape == stored:
        return array[None]
    if rank == 4 and array.shape[1:] == stored:
        return array
    if rank == 3 and array.shape[1:] == stored[1:] and array.shape[0] > widest:
        return array[:, None]  # grey pictures
    if rank == 3:
        array = array[None]
    if array.ndim != 4:
        return None
    last, first = array.shape[3] <= widest, array.shape[1] <= widest
    if last and not (first and array.shape[2:] == stored[1:]):
        return array.transpose(0, 3, 1, 2)
    return array if first else None


def _prepared(modality: Modality, pictures: np.ndarray, place: int | None, notes: Notes) -> np.ndarray:
    """Pictures (N, channels, H, W) of any numbers, with the modality's size, channels and type."""
    at = place_of(modality, place)
    levels = _levels(pictures, at, place, notes)
    if modality.dtype == "float32":
        numbers = pictures.astype(np.float32) if pictures.dtype.kind == "f" else levels.astype(np.float32) / 255
        return _of_channels(modality, _sized(modality, numbers, at, place, notes), at, place, notes)
    if modality.dtype != "uint8":
        raise DataError(f"{at}: expected a modality of uint8 or float32, got one of {modality.dtype}: store its pictures so")
    return np.ascontiguousarray(_of_channels(modality, _sized(modality, levels, at, place, notes), at, place, notes))


def _levels(pictures: np.ndarray, at: str, place: int | None, notes: Notes) -> np.ndarray:
    """Levels 0..255 of whole numbers, of 16 bits, of floats 0..1 and of booleans."""
    places = range(len(pictures)) if place is None else (place,)
    if pictures.dtype == np.uint8:
        return pictures
    if pictures.dtype.kind == "f":
        require_finite(pictures, at)
    low, high = pictures.min(), pictures.max()
    if pictures.dtype == np.bool_:
        notes.add("False and True became black and white", *places)
        return pictures.astype(np.uint8) * np.uint8(255)
    if pictures.dtype == np.uint16:
        notes.add("16 bits became 8", *places)
        return np.asarray((pictures.astype(np.uint32) + 128) // 257, np.uint8)
    if pictures.dtype.kind in "iu":
        if low < 0 or high > 255:
            raise DataError(f"{at}: expected levels from 0 to 255, got {low if low < 0 else high}: bring them into this range")
        return pictures.astype(np.uint8)
    if low < -_ROUNDING or high > 1 + _ROUNDING:
        advice = "divide them by 255" if low >= 0 and high <= 255 else "bring them into this range"
        raise DataError(f"{at}: expected floats from 0 to 1, got {low if low < -_ROUNDING else high:g}: {advice}")
    return np.asarray(np.rint(np.clip(pictures.astype(np.float32), 0, 1) * 255), np.uint8)


def _sized(modality: Modality, pictures: np.ndarray, at: str, place: int | None, notes: Notes) -> np.ndarray:
    """Pictures of the modality's height and width."""
    height, width = modality.shape[1:]
    if pictures.shape[2:] == (height, width):
        return pictures
    _require_ratio(modality, (pictures.shape[3], pictures.shape[2]), at)
    _require_pixels(pictures.shape[3], pictures.shape[2], at)
    notes.add(_resized(modality, (pictures.shape[3], pictures.shape[2])), *(range(len(pictures)) if place is None else (place,)))
    from PIL import Image

    found = np.empty((*pictures.shape[:2], height, width), pictures.dtype)
    for number, picture in enumerate(pictures):
        for channel, plane in enumerate(picture):
            image = Image.fromarray(np.ascontiguousarray(plane))
            found[number, channel] = np.asarray(image.resize((width, height), Image.Resampling.LANCZOS))
    return found


def _resized(modality: Modality, size: tuple[int, int]) -> str:
    return f"resized from {size[0]} x {size[1]} to {modality.shape[2]} x {modality.shape[1]} pixels (width x height)"


def _require_ratio(modality: Modality, size: tuple[int, int], at: str) -> None:
    """Raise DataError where resizing would change the shape of what a picture shows."""
    height, width = modality.shape[1:]
    if abs(size[0] * height - size[1] * width) > _RATIO * max(size[0] * height, size[1] * width):
        raise DataError(
            f"{at}: expected a picture of {width} x {height} pixels, or of that ratio of width and height, got "
            f"{size[0]} x {size[1]}: crop it"
        )


def _require_pixels(width: int, height: int, at: str, most: int = MOST_PIXELS) -> None:
    if width * height > most:
        raise DataError(f"{at}: expected at most {most:,} pixels, got {width:,} x {height:,}: make the picture smaller")


def _of_channels(modality: Modality, pictures: np.ndarray, at: str, place: int | None, notes: Notes) -> np.ndarray:
    """Pictures with the channels of the modality: grey and colour as needed, an alpha channel shown on white."""
    wanted_channels, channels = modality.shape[0], pictures.shape[1]
    places = range(len(pictures)) if place is None else (place,)
    if channels == wanted_channels:
        return pictures
    if wanted_channels not in (1, 3) or channels > _WIDEST:
        raise DataError(f"{at}: expected {wanted_channels} channels, got {channels}: give an array of as many")
    whole = 255.0 if pictures.dtype == np.uint8 else 1.0
    if channels in (2, 4):
        pictures = _on_white(pictures, whole)
        notes.add("transparent parts are shown on white", *places)
    if pictures.shape[1] == 3 and wanted_channels == 1:
        notes.add("a colour picture became grey", *places)
        weighted = (pictures * (_LUMA if whole == 255 else _LUMA / 1000)[:, None, None]).sum(1, keepdims=True)
        return np.asarray((weighted + 500) // 1000 if whole == 255 else weighted, pictures.dtype)
    if pictures.shape[1] == 1 and wanted_channels == 3:
        notes.add("a grey picture was given three equal channels", *places)
        return np.repeat(pictures, 3, 1)
    return pictures


def _on_white(pictures: np.ndarray, whole: float) -> np.ndarray:
    """Pictures (N, channels, H, W) on a white ground, by the last channel."""
    colours, alpha = pictures[:, :-1].astype(np.float32), pictures[:, -1:].astype(np.float32) / np.float32(whole)
    shown = colours * alpha + np.float32(whole) * (1 - alpha)
    return np.asarray(np.rint(shown) if whole == _GROUND else shown, pictures.dtype)


def _read(modality: Modality, path: str | Path, at: str, place: int | None, notes: Notes) -> np.ndarray:
    """The pixels of a file; its head is looked at before they are decoded."""
    from molyneux.core.image_files import open_image

    path = plain_path(path, at, "a picture", MOST_BYTES)
    with open_image(path, f"{at}, {path}") as image:
        size = image.size
        if image.format == "JPEG" and not image.info.get("progressive"):
            longest = 2 * max(modality.shape[1:])
            image.draft("L" if image.mode == "L" else "RGB", (longest, longest))
        most = MOST_OF_WEBP if image.format == "WEBP" else MOST_PIXELS
        _require_pixels(image.width, image.height, f"{at}, {path}", most)
        return _pixels(modality, image, f"{at}, {path}", place, notes, size)


def _pixels(
    modality: Modality, image: Image.Image, at: str, place: int | None, notes: Notes, size: tuple[int, int] | None = None
) -> np.ndarray:
    """The pixels (1, channels, H, W) of an image, resized, upright, and without a palette.

    Args:
        modality: of the picture.
        image: it, perhaps not decoded yet.
        at: what an error calls it.
        place: of the value.
        notes: what is converted.
        size: of an image that is decoded at a smaller one.
    """
    from molyneux.core.image_files import QUIET, damaged

    places = () if place is None else (place,)
    if not image.width or not image.height:
        raise DataError(f"{at}: expected {wanted(modality)}, got one of {image.width} x {image.height} pixels: name another")
    _require_pixels(image.width, image.height, at)
    try:
        with QUIET:
            image.load()
            orientation = image.getexif().get(0x0112, 1)
            turned = orientation in range(5, 9)
            size = size or image.size
            size = size[::-1] if turned else size
            _require_ratio(modality, size, at)
            if image.mode.startswith("I") or image.mode == "F":
                numbers = np.asarray(_upright(image, orientation))
                return numbers[None, None].astype(np.float32 if image.mode == "F" else _bits(image))
            image = _of_eight_bits(image, notes, places)
            if size != modality.shape[:0:-1]:
                from PIL import Image

                notes.add(_resized(modality, size), *places)
                wanted_size = modality.shape[1:] if turned else modality.shape[:0:-1]
                image = image.resize(wanted_size, Image.Resampling.LANCZOS, reducing_gap=3.0)  # type: ignore[arg-type]
            pixels = np.asarray(_upright(image, orientation))
    except files.DAMAGED as error:
        raise damaged(at, error) from error
    return pixels[None, None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)[None]


def _upright(image: Image.Image, orientation: int) -> Image.Image:
    """An image turned as the number of its EXIF data says."""
    from PIL import Image

    turns = Image.Transpose
    ways = {
        2: turns.FLIP_LEFT_RIGHT,
        3: turns.ROTATE_180,
        4: turns.FLIP_TOP_BOTTOM,
        5: turns.TRANSPOSE,
        6: turns.ROTATE_270,
        7: turns.TRANSVERSE,
        8: turns.ROTATE_90,
    }
    return image.transpose(ways[orientation]) if orientation in ways else image


def _of_eight_bits(image: Image.Image, notes: Notes, places: tuple[int, ...]) -> Image.Image:
    """An image as `L`, `RGB` or, where it may be transparent, `RGBA`."""
    from molyneux.core.image_files import has_alpha

    mode = "RGBA" if has_alpha(image) else "L" if image.mode in ("1", "L") else "RGB"
    if image.mode in ("CMYK", "YCbCr", "LAB", "HSV"):
        notes.add(f"converted from {image.mode}, without its colour profile", *places)
    return image if image.mode == mode else image.convert(mode)


def _bits(image: Image.Image) -> type[np.generic]:
    """The type of the numbers of an image of more than 8 bits; those of mode `I` are 16 bits if they fit."""
    low, high = image.getextrema()
    return np.uint16 if image.mode != "I" or (float(low) >= 0 and 255 < float(high) < 1 << 16) else np.int32  # type: ignore[arg-type]
