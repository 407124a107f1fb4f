"""Sounds in arrays: which axis is that of channels, and what their numbers are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from molyneux.core import DataError
from molyneux.data.formats.mapped_files import let_go

_MOST_CHANNELS = 8
"""Channels that an axis may have; a longer one is that of samples."""

_LOUD = 100.0
"""Magnitude from which on floats are no samples from -1 to 1, nor such as were standardised; it is said."""

_CHUNK = 4096


@dataclass(frozen=True)
class SoundForm:
    """How the sounds (N, ...) of an array are read.

    Args:
        shape: of a stored view, channels and samples (C, T).
        change: makes stored views (B, C, T), float32, of rows of the array.
        notes: what was converted, one sentence each.
    """

    shape: tuple[int, ...]
    change: Callable[[np.ndarray], np.ndarray]
    notes: tuple[str, ...] = ()


def sound_form(array: np.ndarray, at: str) -> SoundForm:
    """How to read sounds of one channel (N, T), or of several, (N, C, T) as PyTorch has them or (N, T, C) as WAV files do.

    Integers of 8, 16 and 32 bits are those of WAV files: they are divided by half of their range, and unsigned 8-bit integers
    have silence at 128.

    Args:
        array: the sounds.
        at: the file and the array, for messages.

    Raises:
        DataError: numbers of other types, or arrays of other shapes.
    """
    scale, zero = _scale(array, at)
    shape = array.shape[1:]
    if len(shape) not in (1, 2):
        raise DataError(f"{at}: expected sounds (N, T), (N, C, T) or (N, T, C), got shape {array.shape}")
    last = len(shape) == 2 and shape[1] <= _MOST_CHANNELS < shape[0]
    stored = (1, *shape) if len(shape) == 1 else shape[::-1] if last else shape

    def change(rows: np.ndarray) -> np.ndarray:
        numbers = np.nan_to_num(rows).astype(np.float32) if scale == 1 else ((rows.astype(np.float64) - zero) / scale)
        moved = numbers.transpose(0, 2, 1) if last else numbers.reshape(len(rows), *stored)
        return moved.astype(np.float32, copy=False)

    notes = []
    if last or (len(shape) == 2 and max(shape) <= _MOST_CHANNELS):
        instead = "" if last else ": transpose them if the last axis is that of channels"
        notes.append(f"{at}: {shape} was read as {stored[0]} channels of {stored[1]:,} samples{instead}")
    if scale != 1:
        shifted = f"less {zero} and " if zero else ""
        notes.append(f"{at}: {array.dtype} was read as samples from -1 to 1, {shifted}divided by {scale:,}")
    elif (largest := _largest(array)) >= _LOUD:
        notes.append(
            f"{at}: the largest magnitude is {largest:g}, where sounds are from -1 to 1: divide them if they were integers"
        )
    return SoundForm(stored, change, tuple(notes))


def _scale(array: np.ndarray, at: str) -> tuple[int, int]:
    """What samples are divided by, 1 for floats, and the value of silence."""
    if array.dtype.kind == "f":
        return 1, 0
    if array.dtype in (np.int8, np.int16, np.int32):
        return 2 ** (8 * array.dtype.itemsize - 1), 0
    if array.dtype == np.uint8:
        return 128, 128
    raise DataError(
        f"{at}: expected sounds as floats from -1 to 1, or as integers of 8, 16 or 32 bits as WAV files have them, got "
        f"{array.dtype}: store floats from -1 to 1"
    )


def _largest(array: np.ndarray) -> float:
    """The largest magnitude of floats, NaN passed over."""
    largest = 0.0
    for start in range(0, len(array), _CHUNK):
        largest = max(largest, float(np.max(np.abs(np.nan_to_num(np.asarray(array[start : start + _CHUNK]))), initial=0)))
        let_go(array)
    return largest
