"""Mel spectrograms of spoken digits as small pictures."""

from __future__ import annotations

import math

import numpy as np
from scipy.fft import rfft

from molyneux.core.tooling.compiled import compiled
from molyneux.data.benchmarks.av_mnist.sounds import RATE, pictures

SIDE = 32
"""Mel bands and moments of a picture."""

HEARD = 6000
"""Samples of a sound that a picture shows: 0.75 s, which 97 % of the recordings of FSDD do not exceed."""

_WINDOW = 256
_HOP = (HEARD - _WINDOW) // (SIDE - 1)
_CHUNK = 256


def mel_pictures(sounds: np.ndarray) -> np.ndarray:
    """Pictures (n, SIDE, SIDE) uint8 of sounds (n, at least HEARD): time to the right, high frequencies above, in decibels.

    A periodic Hann window of 256 samples (32 ms), every 185 samples (23 ms); the power in 32 triangular bands from 0 to 4 kHz.
    The strongest value of a picture is 255, and 60 dB below it and less is 0. Silence is black.
    """
    from scipy.signal import get_window  # takes a second to import, which only those who read sounds need

    window, bands = get_window("hann", _WINDOW).astype(np.float32), mel_filters()
    out = np.zeros((len(sounds), SIDE, SIDE), np.uint8)
    for start in range(0, len(sounds), _CHUNK):
        part = np.ascontiguousarray(sounds[start : start + _CHUNK, :HEARD], np.float32)
        frames = np.lib.stride_tricks.sliding_window_view(part, _WINDOW, axis=1)[:, ::_HOP][:, :SIDE]
        spectrum = rfft(frames * window, axis=-1)
        power = spectrum.real**2 + spectrum.imag**2
        heard = np.empty((*power.shape[:2], SIDE), np.float32)
        _sum_bands(power, bands, heard)
        out[start : start + _CHUNK] = pictures(heard)
    return out


def mel_filters() -> np.ndarray:
    """The weights (SIDE, WINDOW / 2 + 1) of the frequencies in triangular bands, the largest of each near 1.

    The corners of the bands are at equal distances on the mel scale, 2595 log10(1 + f / 700); each band begins and ends at the
    middle of its neighbours.
    """
    top = 2595.0 * math.log10(1.0 + RATE / 2 / 700.0)
    corners = np.array([700.0 * (10.0 ** (float(mel) / 2595.0) - 1.0) for mel in np.linspace(0.0, top, SIDE + 2)])
    frequencies = np.arange(_WINDOW // 2 + 1) * RATE / _WINDOW
    low, middle, high = (corners[place : place + SIDE, None] for place in range(3))
    rising, falling = (frequencies - low) / (middle - low), (high - frequencies) / (high - middle)
    return np.asarray(np.maximum(0.0, np.minimum(rising, falling)))


@compiled
def _sum_bands(power: np.ndarray, bands: np.ndarray, out: np.ndarray) -> None:
    """Power (n, T, F) in bands (B, F), each a sum in the order of the frequencies; that of a product of matrices varies."""
    for row in range(power.shape[0]):
        for time in range(power.shape[1]):
            for band in range(bands.shape[0]):
                total = 0.0
                for frequency in range(bands.shape[1]):
                    weight = bands[band, frequency]
                    if weight > 0.0:
                        total += weight * power[row, time, frequency]
                out[row, time, band] = total
