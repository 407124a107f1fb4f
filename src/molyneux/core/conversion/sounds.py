"""Sounds as arrays or WAV files become views of an audio modality."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from torch import Tensor

from molyneux.core.conversion.given import Notes, as_array, is_array, is_several, place_of, plain_path, require_finite, wanted
from molyneux.core.conversion.numbers import filled
from molyneux.core.errors import DataError, StoreError
from molyneux.core.spec import Modality

MOST_BYTES = 1 << 25
"""Of one file: three minutes in stereo, 16 bits, 44.1 kHz."""

_MOST_CHANNELS = 8
"""Channels that an axis may have; a longer one is that of samples."""

_MOST_RATE = 1 << 20
_MARGIN = 64
"""Samples beyond the end that a resampled sound is made from, so that its end is as if nothing had been cut."""


def audio_views(modality: Modality, values: object, rate: int | None) -> tuple[Tensor, Tensor | None, Notes]:
    """See `views_of`: (N, C, T) of sounds."""
    notes, arrays = Notes(), []
    several = isinstance(values, list | tuple) and is_several(values) and not _is_rated(values)
    listed = list(values) if isinstance(values, list | tuple) and several else [values]
    if not several:
        _require_one_meaning(modality, values)
    for place, value in enumerate(listed):
        at = place_of(modality, place, len(listed))
        arrays += [sound[None] for sound in _given(modality, value, at, rate or modality.rate, notes, place)]
    return (*filled(modality, arrays), notes)


def waveform(value: object, *, rate: int, length: int, name: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """One sound of one channel (n,) float32 from -1 to 1, n at most `length`, and what was converted, in sentences.

    Args:
        value: see `views_of`, audio; without a rate of its own, it is taken to have this one.
        rate: samples per second of the result.
        length: samples at which a sound is cut.
        name: of the modality, for errors.

    Raises:
        DataError: no sound, or several. StoreError: no plain file. CorruptFileError: a damaged one.
    """
    modality, notes = Modality(name, "audio", (1, length)), Notes()
    sounds = _given(modality, value, place_of(modality, None), rate, notes, 0)
    if len(sounds) != 1:
        raise DataError(f"{place_of(modality, None)}: expected one sound, got {len(sounds)}: give one at a time")
    return sounds[0][0], notes.told(1)


def _require_one_meaning(modality: Modality, value: object) -> None:
    """Refuse an array that may be some sounds of one channel, or one sound of some channels.

    Raises:
        DataError: says how to write either.
    """
    if modality.shape[0] > 1 or _is_rated(value) or not is_array(value):
        return
    shape = as_array(value, place_of(modality, None)).shape
    if len(shape) == 2 and 1 < shape[0] <= _MOST_CHANNELS and shape[1] == modality.max_length:
        raise DataError(
            f"{place_of(modality, None)}: expected one sound, or sounds (N, 1, {shape[1]}), got shape {shape}, which may be "
            f"{shape[0]} sounds or one of {shape[0]} channels: give a list of sounds, or the mean of the channels"
        )


def _resampled(sound: np.ndarray, own: int | None, rate: int | None, notes: Notes, place: int, name: str) -> np.ndarray:
    """A sound (C, n) at another number of samples per second; as it is where one of the two is unknown."""
    if rate is None or own is None or rate == own:
        if own is not None and rate is None:
            notes.add(
                f"taken at its {own:,} samples per second: that of {name} is not known, so that it was not resampled", place
            )
        return sound
    from scipy.signal import resample_poly  # takes a second to import, which only those who resample need

    notes.add(f"resampled from {own:,} to {rate:,} samples per second", place)
    common = math.gcd(rate, own)
    return np.asarray(resample_poly(sound, rate // common, own // common, axis=1), np.float32)


def _is_rated(value: object) -> bool:
    """Whether a value is a pair of samples per second and an array, as `scipy.io.wavfile.read` gives it."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], int | np.integer) and hasattr(value[1], "shape")


def _given(modality: Modality, value: object, at: str, rate: int | None, notes: Notes, place: int) -> list[np.ndarray]:
    """Sounds (C, n) float32 of a value, no longer than the modality's."""
    own: int | None = None
    if _is_rated(value):
        assert isinstance(value, tuple)
        own, value = int(value[0]), value[1]
    if isinstance(value, str | Path):
        own, value = _read(value, at)
    if not is_array(value):
        got = "None" if value is None else f"a {type(value).__name__}"
        raise DataError(f"{at}: expected {wanted(modality)}, got {got}: convert it to an array")
    if own is not None and not 0 < own <= _MOST_RATE:
        raise DataError(f"{at}: expected from 1 to {_MOST_RATE:,} samples per second, got {own}: correct the rate")
    found, longest = [], modality.max_length
    needed = longest if rate is None or own is None else math.ceil((longest + _MARGIN) * own / rate)
    for sound in _channels_first(modality, as_array(value, at), at):
        if sound.shape[1] > needed or (sound.shape[1] * (rate or 1) > longest * (own or 1) and rate and own):
            notes.add(f"cut after {longest:,} samples", place)
        part = sound[:, :needed]
        require_finite(part, at)
        numbers = _of_channels(modality, _numbers(part, at), at, notes, place)
        found.append(_resampled(numbers, own, rate, notes, place, modality.name)[:, :longest])
    return found


def _read(path: str | Path, at: str) -> tuple[int, np.ndarray]:
    from molyneux.core.sound_files import read_wav

    path = plain_path(path, at, "a WAV file", MOST_BYTES)
    try:
        return read_wav(path)
    except StoreError as error:
        raise type(error)(f"{at}: {error}") from error


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


def _of_channels(modality: Modality, sound: np.ndarray, at: str, notes: Notes, place: int) -> np.ndarray:
    """A sound with the channels of the modality: their mean, or the same in each."""
    channels = modality.shape[0]
    if len(sound) == channels:
        return sound
    if channels == 1:
        notes.add(f"{len(sound)} channels became their mean", place)
        return np.asarray(sound.mean(0, keepdims=True, dtype=np.float32))
    if len(sound) == 1:
        notes.add(f"one channel became {channels} equal ones", place)
        return np.repeat(sound, channels, 0)
    raise DataError(f"{at}: expected a sound of {channels} channels, got {len(sound)}: give one of as many, or of one")
