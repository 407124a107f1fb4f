"""Noise of pixels: normal, cut off at one standard deviation, by number alone and fast (Kuhnle & Copestake, 2017)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from molyneux.core.seeds import philox
from molyneux.core.tooling.compiled import compiled

_LEVELS = 2**16


def add_noise(images: np.ndarray, deviations: np.ndarray, stream: np.ndarray, numbers: np.ndarray) -> None:
    """Add noise to pictures in place; values are rounded and cut off at 0 and 255.

    The published code draws again beyond one standard deviation, so noise of deviation s has a true deviation of 0.54 s.

    Args:
        images: (n, 3, H, W) uint8.
        deviations: (n,) standard deviation before it is cut off, 0..1; pictures with 0 stay as they are.
        stream: key of the random numbers.
        numbers: (n,) of the pictures; the noise of one is a function of the stream and its number.
    """
    if deviations.any():
        _add(images.reshape(len(images), -1), deviations, stream, numbers.astype(np.uint64), _quantiles())


@lru_cache(maxsize=1)
def _quantiles() -> np.ndarray:
    """Values of a standard normal variable within -1..1 at equally likely levels, times 255, (65536,) float32."""
    low, high = ndtr(-1.0), ndtr(1.0)
    levels = low + (np.arange(_LEVELS) + 0.5) / _LEVELS * (high - low)
    return np.asarray(255 * ndtri(levels), np.float32)


@compiled
def _add(pixels: np.ndarray, deviations: np.ndarray, stream: np.ndarray, numbers: np.ndarray, quantiles: np.ndarray) -> None:
    count = pixels.shape[1]
    for row in range(len(pixels)):
        if deviations[row] <= 0:
            continue
        deviation = np.float32(deviations[row])
        for block in range((count + 15) // 16):
            words = philox(np.uint64(block), numbers[row], stream[0], stream[1])
            for place in range(16):
                pixel = block * 16 + place
                if pixel < count:
                    level = (words[place // 4] >> np.uint64(16 * (place % 4))) & np.uint64(65535)
                    value = np.float32(pixels[row, pixel]) + deviation * quantiles[level] + np.float32(0.5)
                    pixels[row, pixel] = np.uint8(min(max(value, np.float32(0)), np.float32(255)))
