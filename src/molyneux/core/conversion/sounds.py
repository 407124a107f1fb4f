"""Sounds as arrays or WAV files become views of an audio modality."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from torch import Tensor

from molyneux.core import files
from molyneux.core.conversion.given import Notes, as_array, is_array, is_several, place_of, require_finite, wanted
from molyneux.core.conversion.numbers import filled
from molyneux.core.errors import DataError, short
from molyneux.core.spec import Modality

MOST_BYTES = 1 << 25
"""Of one file: three minutes in stereo, 16 bits, 44.1 kHz."""

_MOST_CHANNELS = 8
"""Channels that an axis may have; a longer one is that of samples."""

_MOST_RATE = 1 << 20


def audio_views(modality: Modality, values: object, rate: int | None) -> tuple[Tensor, Tensor | None, Notes]:
    """See `views_of`: (N, C, T) of sounds."""
    notes, arrays = Notes(), []
    several = is_several(values) and not _is_rated(values)
    for place, value in enumerate(values if several else [values]):  # type: ignore[arg-type]
        at = place_of(modality, place if several else None)
        sounds, own = _given(modality, value, at)
        for sound in sounds:
            arrays.append(_cut(modality, resampled(sound, own, rate, notes, place), place, notes)[None])
    return (*filled(modality, arrays), notes)


def waveform(value: object, at: str) -> tuple[np.ndarray, int | None]:
    """One sound (n,) float32 of one channel, from -1 to 1, and its samples per second where a file or a pair tells it.

    Args:
        value: an array, the path of a WAV file, or a pair of samples per second and an array.
        at: what an error calls it.

    Raises:
        DataError: no sound. StoreError: no plain file. CorruptFileError: a damaged one.
    """
    sounds, rate = _given(Modality("sound", "audio", (1, 1)), value, at)
    if len(sounds) != 1:
        raise DataError(f"{at}: expected one sound, got {len(sounds)}: give one at a time")
    return sounds[0].mean(0, dtype=np.float32), rate


def resampled(sound: np.ndarray, own: int | None, rate: int | None, notes: Notes, place: int = 0) -> np.ndarray:
    """A sound (C, n) at another number of samples per second; as it is where one of the two is unknown."""
    if rate is None or own is None or rate == own:
        if own is not None and rate is None:
            notes.add(f"taken at {own:,} samples per second: set rate to have it resampled", place)
        return sound
    from math import gcd

    from scipy.signal import resample_poly  # takes a second to import, which only those who resample need

    notes.add(f"resampled from {own:,} to {rate:,} samples per second", place)
    common = gcd(rate, own)
    return np.asarray(resample_poly(sound, rate // common, own // common, axis=1), np.float32)


def _is_rated(value: object) -> bool:
    """Whether a value is a pair of samples per second and an array, as `scipy.io.wavfile.read` gives it."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], int | np.integer) and hasattr(value[1], "shape")


def _given(modality: Modality, value: object, at: str) -> tuple[list[np.ndarray], int | None]:
    """Sounds (C, n) float32 of a value, and their rate where it tells it."""
    rate: int | None = None
    if _is_rated(value):
        assert isinstance(value, tuple)
        rate, value = int(value[0]), value[1]
    if isinstance(value, str | Path):
        rate, value = _read(Path(value), at)
    if not is_array(value):
        got = "None" if value is None else f"a {type(value).__name__}"
        raise DataError(f"{at}: expected {wanted(modality)}, got {got}: convert it to an array")
    if rate is not None and not 0 < rate <= _MOST_RATE:
        raise DataError(f"{at}: expected from 1 to {_MOST_RATE:,} samples per second, got {rate}: correct the rate")
    array = as_array(value, at)
    require_finite(array, at)
    return [_of_channels(modality, _numbers(sound, at), at) for sound in _channels_first(modality, array, at)], rate


def _read(path: Path, at: str) -> tuple[int, np.ndarray]:
    from molyneux.core.sound_files import read_wav

    try:
        files.require_plain_file(path, most=MOST_BYTES)
    except FileNotFoundError as error:
        raise DataError(f"{at}: expected a WAV file, got the path {path}, where nothing is: correct the path") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{at}: cannot read {path} ({short(error)}): name another file") from error
    return read_wav(path)


def _channels_first(modality: Modality, array: np.ndarray, at: str) -> list[np.ndarray]:
    """Sounds (C, n) of an array (n,), (C, n), (n, C), (N, C, n) or (N, n, C)."""
    if array.ndim == 1:
        return [array[None]]
    if array.ndim == 3:
        return [part for one in array for part in _channels_first(modality, one, at)]
    if array.ndim != 2:
        raise DataError(f"{at}: expected a sound (n,), (channels, n) or (n, channels), got shape {array.shape}: reshape it")
    if array.shape[0] <= _MOST_CHANNELS:
        return [array]
    if array.shape[1] <= _MOST_CHANNELS:
        return [array.T]
    if modality.shape[0] == 1:
        return [sound[None] for sound in array]
    raise DataError(f"{at}: expected a sound of at most {_MOST_CHANNELS} channels, got shape {array.shape}: reshape it")


def _numbers(sound: np.ndarray, at: str) -> np.ndarray:
    """Floats from -1 to 1 of integers as WAV files have them; floats as they are."""
    if sound.dtype.kind == "f":
        return sound.astype(np.float32)
    if sound.dtype == np.uint8:
        return (sound.astype(np.float32) - 128) / 128
    if sound.dtype in (np.int16, np.int32):
        return np.asarray(sound / np.float64(2 ** (8 * sound.dtype.itemsize - 1)), np.float32)
    raise DataError(f"{at}: expected floats from -1 to 1, or integers of 8, 16 or 32 bits, got {sound.dtype}: convert them")


def _of_channels(modality: Modality, sound: np.ndarray, at: str) -> np.ndarray:
    """A sound with the channels of the modality: their mean, or the same in each."""
    channels = modality.shape[0]
    if len(sound) == channels:
        return sound
    if channels == 1:
        return np.asarray(sound.mean(0, keepdims=True, dtype=np.float32))
    if len(sound) == 1:
        return np.repeat(sound, channels, 0)
    raise DataError(f"{at}: expected a sound of {channels} channels, got {len(sound)}: give one of as many, or of one")


def _cut(modality: Modality, sound: np.ndarray, place: int, notes: Notes) -> np.ndarray:
    longest = modality.max_length
    if sound.shape[1] > longest:
        notes.add(f"cut after {longest:,} samples", place)
    return sound[:, :longest]
