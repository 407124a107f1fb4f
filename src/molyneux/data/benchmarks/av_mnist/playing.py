"""Sounds made of pictures of sounds: powers from decibels, and phases that fit them (Griffin & Lim, 1984).

D. W. Griffin and J. S. Lim, "Signal estimation from modified short-time Fourier transform", IEEE Transactions on Acoustics,
Speech, and Signal Processing 32 (1984).
"""

from __future__ import annotations

import numpy as np

from molyneux.core import SpecError, nearest, seeds
from molyneux.data.benchmarks.av_mnist.sounds import RANGE

_ROUNDS, _LOUD = 40, 0.9
"""Rounds of fitting phases, and the largest value of a sound that is made."""


def powers(picture: np.ndarray) -> np.ndarray:
    """Powers (T, F) of a picture (F, T) uint8 of a sound, shares of the strongest one; the reverse of `sounds.pictures`."""
    decibels = RANGE * (picture[::-1].T.astype(np.float64) / 255.0 - 1.0)
    return np.where(decibels > -RANGE, 10.0 ** (decibels / 10.0), 0.0)


def spread_bands(power: np.ndarray, bands: np.ndarray) -> np.ndarray:
    """Powers (T, F) of frequencies whose sums in bands (B, F) are near powers (T, B): each is spread evenly over its band."""
    spread: np.ndarray = (power / bands.sum(1)) @ bands / np.maximum(bands.sum(0), 1e-9)
    return spread


def sound_of_powers(power: np.ndarray, *, window: int, hop: int) -> np.ndarray:
    """A sound (n,) float32 from -0.9 to 0.9 whose spectrogram has these powers as nearly as phases allow.

    What phases there were is not in a power: they are fitted, from the same beginning each time, so that the same picture gives
    the same sound, but for its last bits on other processors. Silence stays silent.

    Args:
        power: (T, window / 2 + 1).
        window: samples of a periodic Hann window.
        hop: samples from one window to the next.
    """
    times, size = len(power), (len(power) - 1) * hop + window
    shape, magnitude = np.hanning(window + 1)[:-1], np.sqrt(power)
    places = np.arange(times)[:, None] * hop + np.arange(window)
    weight = np.bincount(places.ravel(), np.tile(shape**2, times), size)
    weight = np.maximum(weight, 1e-3 * weight.max())
    spectrum = magnitude * np.exp(2j * np.pi * seeds.generator(0, "phases").random(power.shape))
    sound = np.zeros(size)
    for _ in range(_ROUNDS):
        frames = np.fft.irfft(spectrum, window, axis=1) * shape
        sound = np.bincount(places.ravel(), frames.ravel(), size) / weight
        found = np.fft.rfft(sound[places] * shape, axis=1)
        spectrum = magnitude * found / np.maximum(np.abs(found), 1e-12)
    loudest = np.abs(sound).max()
    scaled: np.ndarray = np.asarray(sound * (_LOUD / loudest) if loudest > 0 else sound, np.float32)
    return scaled


def require_audible(modality: str, known: str, view: np.ndarray, side: int) -> np.ndarray:
    """The picture (side, side) uint8 of a view (1, side, side).

    Raises:
        SpecError: another modality, or a view of another shape.
    """
    if modality != known:
        raise SpecError(f"modality {modality!r} shows no sound; {nearest(str(modality), (known,))}")
    picture = np.asarray(view)
    if picture.shape != (1, side, side) or picture.dtype != np.uint8:
        raise SpecError(f"expected one view (1, {side}, {side}) of uint8, got {picture.shape} of {picture.dtype}")
    found: np.ndarray = picture[0]
    return found
