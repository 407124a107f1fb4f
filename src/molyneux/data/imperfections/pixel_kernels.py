"""Noise and blur of pictures that are stored as bytes, compiled: byte for byte what the arithmetic in 64 bits gives.

Noise on a byte is rounded to a byte, so that a normal number need not be known to the last bit: logarithm, sine and cosine are
polynomials in 32 bits, for many values at once, and the few results that lie near the middle between two bytes are computed once
more in 64 bits by the system's mathematical library. The mean of bytes is a quotient of integers; only where it lies in the very
middle between two bytes does it matter how it is rounded on the way, and it is computed once more as torch does.
"""

from __future__ import annotations

import math

import numpy as np

from molyneux.core.tooling.compiled import compiled

_DOUBT = 4e-3
"""Distance from the middle between two bytes, in bytes, within which a result is computed once more, for noise of scale 1.
What is computed in 32 bits is right to about 1e-3."""

_MIDDLE = 1e-5
"""The same for means, of which those that do not lie in the very middle are further from it."""

_MANTISSA, _ONE = np.int32((1 << 23) - 1), np.int32(127 << 23)
"""Bits of a float32: those of its mantissa, and those of 1.0 without it."""

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
    count, pairs, doubt = view.shape[1], uniforms.shape[1] // 2, np.float32(_DOUBT * max(1.0, scale))
    rest, angle = np.empty(pairs, np.float32), np.empty(pairs, np.float32)
    exponent, mantissa = np.empty(pairs, np.float32), np.empty(pairs, np.float32)
    values, near = np.empty(2 * pairs, np.float32), np.zeros(-(-count // 8) * 8, np.uint8)
    eights = near.view(np.int64)
    for row in range(len(view)):
        for pair in range(pairs):
            rest[pair], angle[pair] = 1.0 - uniforms[row, 2 * pair], uniforms[row, 2 * pair + 1]
        _take_apart(rest.view(np.int32), exponent, mantissa.view(np.int32))
        _normals(exponent, mantissa, angle, np.float32(255.0 * scale), values)
        _rounded(view[row], values, doubt, out[row], near)
        for eight in range(len(eights)):
            if eights[eight] == 0:
                continue
            for place in range(8 * eight, min(8 * eight + 8, count)):
                if near[place]:
                    first = 1.0 - uniforms[row, place // 2 * 2]
                    radius, turn = math.sqrt(-2.0 * math.log(first)), 2.0 * math.pi * uniforms[row, place // 2 * 2 + 1]
                    noise = radius * math.sin(turn) if place % 2 else radius * math.cos(turn)
                    out[row, place] = round(min(max(noise * scale + view[row, place] / 255.0, 0.0), 1.0) * 255.0)


@compiled
def _take_apart(bits: np.ndarray, exponent: np.ndarray, mantissa: np.ndarray) -> None:
    """Exponents (n,) float32 and the bits of mantissas in [1, 2), (n,) int32, of the bits (n,) of positive numbers."""
    for place in range(len(bits)):
        exponent[place] = np.float32((bits[place] >> np.int32(23)) - np.int32(127))
        mantissa[place] = bits[place] & _MANTISSA | _ONE


@compiled
def _normals(exponent: np.ndarray, mantissa: np.ndarray, turns: np.ndarray, scale: np.float32, values: np.ndarray) -> None:
    """Pairs of normal numbers (2 n,) by Box and Muller (1958), to six digits, of numbers of (0, 1] and of turns of [0, 1).

    One loop without branches, which is compiled to wide instructions.
    """
    half, one, two, four = np.float32(0.5), np.float32(1.0), np.float32(2.0), np.float32(4.0)
    for place in range(len(turns)):
        large = mantissa[place] > np.float32(1.4142135)
        m = half * mantissa[place] if large else mantissa[place]
        e = exponent[place] + one if large else exponent[place]
        s = np.divide(m - one, m + one)  # without the check for zero that keeps a loop from wide instructions
        t = s * s
        series = np.float32(1 / 3) + t * (np.float32(1 / 5) + t * (np.float32(1 / 7) + t * np.float32(1 / 9)))
        logarithm = e * np.float32(0.6931471805599453) + two * s * (one + t * series)
        radius = scale * math.sqrt(-two * logarithm)
        quarter = np.int32(four * turns[place] + half)
        x = (four * turns[place] - np.float32(quarter)) * np.float32(1.5707963267948966)
        y = x * x
        tail = np.float32(1 / 120) - y * (np.float32(1 / 5040) - y * np.float32(1 / 362880))
        sine = x * (one - y * (np.float32(1 / 6) - y * tail))
        tail = np.float32(1 / 24) - y * (np.float32(1 / 720) - y * np.float32(1 / 40320))
        cosine = one - y * (half - y * tail)
        even = quarter & np.int32(1) == 0
        along, across = (cosine, sine) if even else (sine, cosine)
        values[2 * place] = radius * (along if (quarter + np.int32(1)) & np.int32(2) == 0 else -along)
        values[2 * place + 1] = radius * (across if quarter & np.int32(2) == 0 else -across)


@compiled
def _rounded(view: np.ndarray, values: np.ndarray, doubt: np.float32, out: np.ndarray, near: np.ndarray) -> None:
    """Bytes (K,) with noise `values`; `near` is 1 where the sum lies near the middle between two bytes."""
    half = np.float32(0.5)
    for place in range(len(view)):
        value = min(max(values[place] + np.float32(view[place]), np.float32(0.0)), np.float32(255.0))
        near[place] = np.uint8(abs(value - np.float32(np.int32(value)) - half) < doubt)
        out[place] = np.int32(value + half)


@compiled
def _blurred(
    view: np.ndarray, rows: np.ndarray, columns: np.ndarray, up: np.ndarray, across: np.ndarray, out: np.ndarray
) -> None:
    width = view.shape[2]
    sums, before = np.empty(width, np.int64), np.zeros(width + 1, np.int64)
    totals, small = np.empty(len(columns), np.int64), np.empty((len(rows), len(columns)), np.uint8)
    widths, near = columns[:, 1] - columns[:, 0], np.empty(len(columns), np.uint8)
    shares, widest = 1.0 / widths, widths.max()
    for picture in range(len(view)):
        for i in range(len(rows)):
            sums[:] = 0
            for y in range(rows[i, 0], rows[i, 1]):
                for x in range(width):
                    sums[x] += np.int64(view[picture, y, x])
            for x in range(width):
                before[x + 1] = before[x] + sums[x]
            for j in range(len(columns)):
                totals[j] = before[columns[j, 1]] - before[columns[j, 0]]
            _means(totals, shares, 1.0 / (rows[i, 1] - rows[i, 0]), small[i], near)
            for j in range(len(columns)):
                if near[j]:
                    small[i, j] = _as_torch(view[picture], rows[i, 0], rows[i, 1], columns[j, 0], columns[j, 1], widest)
        for i in range(len(up)):
            if i and up[i] == up[i - 1]:
                out[picture, i] = out[picture, i - 1]
            else:
                for j in range(len(across)):
                    out[picture, i, j] = small[up[i], across[j]]


@compiled
def _means(totals: np.ndarray, shares: np.ndarray, share: float, out: np.ndarray, near: np.ndarray) -> None:
    """Means (n,) uint8 of sums of bytes, each times two shares; `near` is 1 where one lies in the middle between two bytes."""
    for place in range(len(totals)):
        mean = totals[place] * (shares[place] * share)
        near[place] = np.uint8(abs(mean - np.int32(mean) - 0.5) < _MIDDLE)
        out[place] = np.int32(mean + 0.5)


@compiled
def _as_torch(view: np.ndarray, top: int, bottom: int, left: int, right: int, widest: int) -> int:
    """The mean of some bytes (H, W), summed and divided as numbers of 0..1 in 64 bits; a tie goes to the even byte.

    Zeros are added up to the width of the widest, so that the processor foresees the loop.
    """
    total, last = 0.0, view.shape[1] - 1
    for y in range(top, bottom):
        for x in range(left, left + widest):
            total += _UNIT[view[y, min(x, last)]] if x < right else 0.0
    value = np.divide(np.divide(total, float(bottom - top)), float(right - left)) * 255.0
    whole = np.int32(value)
    rest = value - whole
    return int(whole) + int(rest > 0.5 or (rest == 0.5 and whole & 1 == 1))
