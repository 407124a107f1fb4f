"""Sums of inverse multiquadric kernels over all pairs of samples, with their slopes, in one pass over the pairs.

A batch of 512 codes of 8 dimensions has two million pairs, and each is looked at with every scale: as tensors this is the most
expensive part of a step. Here a row of pairs stays in the nearest memory, and one division serves three scales: 10 ms where
tensors take 50.
"""

from __future__ import annotations

import numpy as np

from molyneux.core.compiled import compiled

_FAR = 1e6
"""Squared distances beyond it count as it, so that products of denominators stay finite; a kernel is next to nothing there."""


def kernel_sums(first: np.ndarray, second: np.ndarray | None, widths: np.ndarray) -> tuple[float, np.ndarray]:
    """The sum over dimensions, pairs and widths of `C / (C + (x - y)^2)`, and its derivatives by the second samples.

    Args:
        first: x, (D, N), contiguous.
        second: y, (D, M); None: the pairs i < j of the first.
        widths: C, (S,) above 0.
    """
    columns = first if second is None else second
    spare = -len(widths) % 3
    denominators = np.append(widths, np.ones(spare, widths.dtype)).reshape(-1, 3)
    numerators = np.append(widths, np.zeros(spare, widths.dtype)).reshape(-1, 3)
    slope, far = np.zeros_like(columns), columns.dtype.type(_FAR)
    return _all_rows(first, columns, denominators, numerators, slope, second is None, far), slope


@compiled
def _all_rows(
    first: np.ndarray,
    second: np.ndarray,
    denominators: np.ndarray,
    numerators: np.ndarray,
    slope: np.ndarray,
    within: bool,
    far: float,
) -> float:
    """The sum; adds the derivatives to `slope` (D, M). With `within`, each pair of one batch is counted once, for both."""
    total, pull, result = np.zeros_like(second[0]), np.zeros_like(second[0]), 0.0
    for d in range(len(first)):
        total[:] = 0
        for i in range(first.shape[1]):
            start = i + 1 if within else 0
            pull[:] = 0
            into = pull[start:] if within else slope[d]
            for s in range(len(denominators)):
                _row(first[d, i], second[d, start:], denominators[s], numerators[s], total[start:], into, far)
            if within:
                opposite = 0.0
                for j in range(start, len(pull)):
                    slope[d, j] += pull[j]
                for j in range(start, len(pull)):
                    opposite += pull[j]
                slope[d, i] -= opposite
        for j in range(len(total)):
            result += total[j]
    return result


@compiled
def _row(
    x: float, y: np.ndarray, denominators: np.ndarray, numerators: np.ndarray, total: np.ndarray, pull: np.ndarray, far: float
) -> None:
    """Add the kernels of x with each y at three widths to `total`, and the derivatives by y to `pull`."""
    a, b, c = denominators
    p, q, r = numerators
    for j in range(len(y)):
        difference = x - y[j]
        squared = min(difference * difference, far)
        first, second, third = squared + a, squared + b, squared + c
        both = first * second
        inverse = np.reciprocal(both * third)  # a plain division asks at every pair whether it is by zero
        last, rest = inverse * both, inverse * third
        first, second = rest * second, rest * first  # now the reciprocals of the first two
        total[j] += p * first + q * second + r * last
        pull[j] += (p * first * first + q * second * second + r * last * last) * (difference + difference)
