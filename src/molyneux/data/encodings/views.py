"""Views as the values of other tools, and back: pictures as PNG files, texts and labels as strings, arrays as `.npy` files."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from io import BytesIO

import numpy as np
import torch

from molyneux.core import Batch, DataError, Modality, Spec, SpecError
from molyneux.core.errors import short
from molyneux.core.image_files import decoded, image_of, open_image
from molyneux.core.views import counted_positions, text_strings

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
"""Modes of Pillow by the number of channels."""


def images_of(spec: Spec) -> tuple[Modality, ...]:
    """The image modalities of a spec, all of which PNG can hold.

    Raises:
        SpecError: PNG cannot hold one of them.
    """
    images = tuple(modality for modality in spec.modalities if modality.kind == "image")
    for modality in images:
        if modality.dtype != "uint8" or modality.shape[0] not in _MODES:
            got = f"{modality.dtype} with {modality.shape[0]}"
            raise SpecError(
                f"modality {modality.name}: PNG holds uint8 images with 1, 3 or 4 channels, got {got}: store it natively"
            )
    return images


def png_bytes(modality: Modality, batch: Batch, pool: Executor) -> list[bytes | None]:
    """The PNG file of every picture of a batch, made by the threads of `pool`; None where it is missing."""
    pictures, present = batch.views[modality.name].numpy(), batch.mask(modality.name).tolist()
    return list(pool.map(lambda picture, here: _png(picture) if here else None, pictures, present))


def _png(picture: np.ndarray) -> bytes:
    """A picture (C, H, W) uint8 as a PNG file, packed lightly: time matters more than size here."""
    stream = BytesIO()
    image_of(picture).save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def pictures(modality: Modality, contents: Sequence[bytes | None], where: str) -> np.ndarray:
    """The pictures (B, C, H, W) uint8 of PNG files; zeros where one is missing.

    Raises:
        DataError: a file is damaged, or is of another size or colour.
    """
    channels, height, width = modality.shape
    found = np.zeros((len(contents), height, width, channels), np.uint8)
    for row, content in enumerate(contents):
        if content is None:
            continue
        with open_image(content, where) as image:
            if (image.mode, image.size) != (_MODES[channels], (width, height)):
                got = f"{image.mode} {image.width} x {image.height}"
                raise DataError(f"{where}: expected pictures {_MODES[channels]} {width} x {height}, got {got}")
            found[row] = np.asarray(decoded(image, image.mode, where)).reshape(height, width, channels)
    return np.ascontiguousarray(found.transpose(0, 3, 1, 2))


def strings(modality: Modality, batch: Batch, spec: Spec) -> list[str | None]:
    """The strings of a text modality; None where it is missing."""
    ids = batch.views[modality.name]
    if modality.name in batch.lengths and modality.padding is not None:
        ids = ids.masked_fill(~batch.positions(modality.name, spec), modality.padding)
    found = text_strings(modality, ids)
    return [text if here else None for text, here in zip(found, batch.mask(modality.name).tolist(), strict=True)]


def text_ids(modality: Modality, texts: Sequence[str | None], where: str) -> np.ndarray:
    """The ids (B, L) of what `strings` gives: closed by `end`, and then padded; padding alone where a text is missing.

    Raises:
        DataError: a text is too long, or has a symbol that the modality does not have.
    """
    joint = all(len(symbol) == 1 for symbol in modality.symbols)
    codes = {symbol: code for code, symbol in reversed(list(enumerate(modality.symbols)))}
    padding = modality.end if modality.padding is None else modality.padding
    found = np.full((len(texts), *modality.shape), padding or 0, modality.dtype)
    for row, text in enumerate(texts):
        symbols: Sequence[str] = () if not text else text if joint else text.split(" ")
        try:
            ids = [codes[symbol] for symbol in symbols]
        except KeyError as error:
            raise DataError(f"{where}: expected symbols of {modality.name}, got {short(error)} in {short(text)}") from error
        if len(ids) > modality.max_length:
            raise DataError(f"{where}: expected {modality.name} of at most {modality.max_length} symbols, got {len(ids)}")
        if modality.end is not None and text is not None and len(ids) < modality.max_length:
            ids.append(modality.end)
        found[row, : len(ids)] = ids
    return found


def require_readable(modality: Modality, batch: Batch, texts: Sequence[str | None]) -> None:
    """DataError unless the ids of texts that count are those that `text_ids` reads in their strings."""
    ids, lengths = batch.views[modality.name], batch.lengths.get(modality.name)
    again = torch.from_numpy(text_ids(modality, texts, f"modality {modality.name}"))
    counted = counted_positions(modality, ids, lengths) & batch.mask(modality.name)[:, None]
    if bool((wrong := ((ids != again) & counted).any(1)).any()):
        text = texts[int(wrong.nonzero()[0])]
        raise DataError(
            f"modality {modality.name}: the text {short(text)} is not read back as the symbols that it was written from: "
            "store these samples in the native format"
        )


def require_distinct(what: str, symbols: Sequence[str]) -> None:
    """SpecError where two symbols are the same, so that a code is not known by its word."""
    if len(set(symbols)) < len(symbols):
        raise SpecError(f"{what}: expected symbols that differ, to be written as words: store these samples in the native format")


def array_bytes(value: np.ndarray) -> bytes:
    """An array as the content of a `.npy` file."""
    stream = BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(value), allow_pickle=False)
    return stream.getvalue()


def arrays(modality: Modality, contents: Sequence[bytes | None], where: str) -> np.ndarray:
    """The arrays (B, *shape) of `.npy` files that `array_bytes` wrote; zeros where one is missing. DataError for others."""
    empty = np.zeros(modality.shape, modality.dtype)
    head = len(whole := array_bytes(empty)) - empty.nbytes
    found = np.zeros((len(contents), *modality.shape), modality.dtype)
    for row, content in enumerate(contents):
        if content is not None:
            if len(content) != len(whole) or content[:head] != whole[:head]:
                raise DataError(f"{where}: expected arrays {modality.dtype} {modality.shape} of {modality.name}, got others")
            found[row] = np.frombuffer(content, modality.dtype, offset=head).reshape(modality.shape)
    return found
