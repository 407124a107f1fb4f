"""Sums of inverse multiquadric kernels over all pairs of samples, with their slopes, as one pass over the pairs.

A batch of 512 codes of 8 dimensions has two million pairs, and each is looked at with every scale: as tensors these are a hundred
megabytes for every step of the formula. Here each row of pairs stays in the processor's nearest memory.
"""

from __future__ import annotations

import numpy as np

from molyneux.core.compiled import compiled

_FAR = 1e5
"""Squared distances beyond it count as it: products of denominators stay finite, and a kernel there is below 1e-3 of its top."""


@compiled
def kernel_sums(first: np.ndarray, second: np.ndarray, widths: np.ndarray, slope: np.ndarray, within: bool) -> float:
    """The sum over dimensions, pairs and widths of `C / (C + (x - y)^2)`.

    Args:
        first: x, (D, N), contiguous, as all others.
        second: y, (D, M); the same array where `within`.
        widths: C, (S,).
        slope: (D, M), to which the derivatives of the sum by y are added.
        within: pairs of different samples of one batch; each is counted once, and its slope added to both.
    """
    dimensions, rows = first.shape
    columns, count = second.shape[1], len(widths)
    difference, squared = np.empty_like(second[0]), np.empty_like(second[0])
    inverse, steep, total = np.empty_like(second[0]), np.empty_like(second[0]), np.empty_like(second[0])
    products = np.empty((count, columns), second.dtype)
    result = 0.0
    for d in range(dimensions):
        total[:] = 0
        for i in range(rows):
            start = i + 1 if within else 0
            for j in range(start, columns):
                difference[j] = first[d, i] - second[d, j]
                squared[j] = min(difference[j] * difference[j], second.dtype.type(_FAR))
                products[0, j] = squared[j] + widths[0]
                steep[j] = 0
            for s in range(1, count):
                for j in range(start, columns):
                    products[s, j] = products[s - 1, j] * (squared[j] + widths[s])
            for j in range(start, columns):
                inverse[j] = second.dtype.type(1) / products[count - 1, j]
            # One division gives all reciprocals: 1 / a_s = (product of the others) / (product of all).
            for s in range(count - 1, 0, -1):
                for j in range(start, columns):
                    reciprocal = inverse[j] * products[s - 1, j]
                    inverse[j] *= squared[j] + widths[s]
                    total[j] += widths[s] * reciprocal
                    steep[j] += widths[s] * reciprocal * reciprocal
            for j in range(start, columns):
                total[j] += widths[0] * inverse[j]
                steep[j] = (steep[j] + widths[0] * inverse[j] * inverse[j]) * (difference[j] + difference[j])
                slope[d, j] += steep[j]
            if within:
                pulled = second.dtype.type(0)
                for j in range(start, columns):
                    pulled += steep[j]
                slope[d, i] -= pulled
        for j in range(columns):
            result += total[j]
    return result
