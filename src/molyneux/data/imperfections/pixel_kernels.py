"""Noise and blur of pictures that are stored as bytes, compiled: byte for byte what the arithmetic in 64 bits gives.

Noise on a byte is rounded to a byte, so that a normal number need not be known to the last bit: logarithm, sine and cosine are
polynomials, for many values at once, and the few results that lie near the middle between two bytes are computed once more by the
system's mathematical library.
"""

from __future__ import annotations

import math

import numpy as np

from molyneux.core.tooling.compiled import compiled

_DOUBT = 1e-6
"""Distance from the middle between two bytes, in bytes, within which a result is computed once more, for noise of scale 1. The
polynomials are right to about 1e-12."""

_MANTISSA, _ONE = (1 << 52) - 1, 1023 << 52
"""Bits of a float64: those of its mantissa, and those of 1.0 without it."""

_UNIT = np.arange(256) / 255.0
"""Bytes as numbers of 0..1."""


def noisy(view: np.ndarray, uniforms: np.ndarray, scale: float) -> np.ndarray:
    """Bytes (n, K) uint8 plus normal noise, rounded to bytes and clamped to 0..255.

    Args:
        view: (n, K) uint8.
        uniforms: (n, K) float64 numbers of [0, 1), K even, of which `core.elementary.normals` makes the noise; one column more
            where K is odd.
        scale: standard deviation, in 255 bytes.
    """
    out = np.empty(view.shape, np.uint8)
    _noisy(np.ascontiguousarray(view), uniforms, scale, out)
    return out


def blurred(view: np.ndarray, rows: int, columns: int, up: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Pictures (n, H, W) uint8, each shrunk by averaging to (rows, columns), and enlarged again without smoothing.

    Args:
        view: (n, H, W) uint8.
        rows: height of what is shrunk.
        columns: its width.
        up: (H,) int64 which row of it each row of the result shows.
        across: (W,) int64 the same for columns.
    """
    out = np.empty(view.shape, np.uint8)
    height, width = view.shape[1:]
    _blurred(np.ascontiguousarray(view), _windows(rows, height), _windows(columns, width), up, across, out)
    return out


def _windows(few: int, many: int) -> np.ndarray:
    """First and one after the last of the values that each of `few` is the mean of, (few, 2) int64; they may overlap."""
    numbers = np.arange(few)
    return np.stack([numbers * many // few, -(-(numbers + 1) * many // few)], 1)


@compiled
def _noisy(view: np.ndarray, uniforms: np.ndarray, scale: float, out: np.ndarray) -> None:
    count, pairs, doubt = view.shape[1], uniforms.shape[1] // 2, _DOUBT * max(1.0, scale)
    rest, angle, first, second = np.empty(pairs), np.empty(pairs), np.empty(pairs), np.empty(pairs)
    exponent, mantissa, values = np.empty(pairs), np.empty(pairs), np.empty(2 * pairs)
    for row in range(len(view)):
        for pair in range(pairs):
            rest[pair], angle[pair] = 1.0 - uniforms[row, 2 * pair], uniforms[row, 2 * pair + 1]
        _take_apart(rest.view(np.int64), exponent, mantissa.view(np.int64))
        _normals(exponent, mantissa, angle, first, second)
        for pair in range(pairs):
            values[2 * pair], values[2 * pair + 1] = first[pair], second[pair]
        if _rounded(view[row], values, scale, doubt, out[row]):
            for place in range(count):
                value = values[place]
                if abs(value - math.floor(value) - 0.5) < doubt:
                    radius, turn = math.sqrt(-2.0 * math.log(rest[place // 2])), 2.0 * math.pi * angle[place // 2]
                    noise = radius * math.sin(turn) if place % 2 else radius * math.cos(turn)
                    out[row, place] = round(min(max(noise * scale + view[row, place] / 255.0, 0.0), 1.0) * 255.0)


@compiled
def _take_apart(bits: np.ndarray, exponent: np.ndarray, mantissa: np.ndarray) -> None:
    """Exponents (n,) float64 and the bits of mantissas in [1, 2), (n,) int64, of the bits (n,) of positive numbers."""
    for place in range(len(bits)):
        exponent[place] = np.int32((bits[place] >> 52) - 1023)
        mantissa[place] = bits[place] & _MANTISSA | _ONE


@compiled
def _normals(exponent: np.ndarray, mantissa: np.ndarray, turns: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
    """Two normal numbers (n,) each by Box and Muller (1958), to twelve digits, of numbers of (0, 1] and of turns of [0, 1).

    One loop without branches, which is compiled to wide instructions.
    """
    for place in range(len(turns)):
        large = mantissa[place] > 1.4142135623730951
        m = 0.5 * mantissa[place] if large else mantissa[place]
        e = exponent[place] + 1.0 if large else exponent[place]
        s = (m - 1.0) / (m + 1.0)
        t = s * s
        series = 1 / 7 + t * (1 / 9 + t * (1 / 11 + t * (1 / 13 + t * (1 / 15))))
        logarithm = e * 0.6931471805599453 + 2.0 * s * (1.0 + t * (1 / 3 + t * (1 / 5 + t * series)))
        radius = math.sqrt(-2.0 * logarithm)
        quarter = np.int32(4.0 * turns[place] + 0.5)
        x = (4.0 * turns[place] - quarter) * 1.5707963267948966
        y = x * x
        tail = 1 / 362880 - y * (1 / 39916800 - y * (1 / 6227020800))
        sine = x * (1.0 - y * (1 / 6 - y * (1 / 120 - y * (1 / 5040 - y * tail))))
        tail = 1 / 40320 - y * (1 / 3628800 - y * (1 / 479001600))
        cosine = 1.0 - y * (1 / 2 - y * (1 / 24 - y * (1 / 720 - y * tail)))
        along, across = (cosine, sine) if quarter & 1 == 0 else (sine, cosine)
        first[place] = radius * (along if (quarter + 1) & 2 == 0 else -along)
        second[place] = radius * (across if quarter & 2 == 0 else -across)


@compiled
def _rounded(view: np.ndarray, values: np.ndarray, scale: float, doubt: float, out: np.ndarray) -> bool:
    """Bytes (K,) with noise `values`, which become what was rounded; whether some lie near the middle between two bytes."""
    near = np.int32(0)
    for place in range(len(view)):
        value = min(max(values[place] * scale + view[place] / 255.0, 0.0), 1.0) * 255.0
        whole = np.int32(value)
        near += np.int32(abs(value - whole - 0.5) < doubt)
        values[place] = value
        out[place] = np.int32(value + 0.5)
    return bool(near > 0)


@compiled
def _blurred(
    view: np.ndarray, rows: np.ndarray, columns: np.ndarray, up: np.ndarray, across: np.ndarray, out: np.ndarray
) -> None:
    small = np.empty((len(rows), len(columns)), np.uint8)
    for picture in range(len(view)):
        for i in range(len(rows)):
            for j in range(len(columns)):
                total = 0.0
                for y in range(rows[i, 0], rows[i, 1]):
                    for x in range(columns[j, 0], columns[j, 1]):
                        total += _UNIT[view[picture, y, x]]
                mean = total / (rows[i, 1] - rows[i, 0]) / (columns[j, 1] - columns[j, 0])
                small[i, j] = round(min(max(mean, 0.0), 1.0) * 255.0)
        for i in range(len(up)):
            for j in range(len(across)):
                out[picture, i, j] = small[up[i], across[j]]
