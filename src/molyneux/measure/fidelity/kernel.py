"""The kernel distance between two sets of features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from molyneux.measure.fidelity.frechet import GROUPS, as_features

_ROWS = 1024
"""Rows of a kernel matrix in memory at once."""


def kernel_distance(first: np.ndarray, second: np.ndarray) -> float:
    """The kernel distance KID: the unbiased estimate of the squared maximum mean discrepancy.

    With the kernel `(x · y / F + 1)³` of F features (Binkowski et al., Demystifying MMD GANs, ICLR 2018, section 4; the estimate
    is that of Gretton et al., JMLR 13, 2012, equation 3). It can be negative, and its mean is 0 for two samples of one
    distribution. All pairs are used, not means over random subsets of 1,000 as in published code.

    Args:
        first: (N, F) features.
        second: (M, F) features.

    Raises:
        DataError: fewer than two samples, other shapes, or numbers that are not finite.

    >>> round(kernel_distance(np.array([[1.0], [1.0]]), np.array([[0.0], [0.0]])), 6)
    7.0
    """
    return _distance(_Sums(*as_features(first, second), groups=1), None)


def left_out_kernel_distances(first: np.ndarray, second: np.ndarray) -> list[float]:
    """The distance without each of `GROUPS` groups of both sets; empty where samples are too few."""
    if min(len(first), len(second)) < 2 * GROUPS:
        return []
    sums = _Sums(*as_features(first, second), groups=GROUPS)
    return [_distance(sums, group) for group in range(GROUPS)]


class _Sums:
    """Sums of kernels between groups of samples, from which the distance without any group follows."""

    def __init__(self, first: np.ndarray, second: np.ndarray, *, groups: int) -> None:
        self.sizes = [np.array([len(part) for part in np.array_split(features, groups)]) for features in (first, second)]
        self.within = [
            _block_sums(features, features, size, size) for features, size in zip((first, second), self.sizes, strict=True)
        ]
        self.across = _block_sums(first, second, *self.sizes)
        self.equal = [_diagonal_sums(features, size) for features, size in zip((first, second), self.sizes, strict=True)]


def _distance(sums: _Sums, left_out: int | None) -> float:
    keep = np.arange(len(sums.sizes[0])) != (-1 if left_out is None else left_out)
    n, m = (float(size[keep].sum()) for size in sums.sizes)
    own, other = (
        float(within[np.ix_(keep, keep)].sum() - equal[keep].sum()) / (count * (count - 1))
        for within, equal, count in zip(sums.within, sums.equal, (n, m), strict=True)
    )
    return own + other - 2 * float(sums.across[np.ix_(keep, keep)].sum()) / (n * m)


def _block_sums(first: np.ndarray, second: np.ndarray, sizes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Sums of kernels between groups, (G, G)."""
    columns = _starts(others)
    by_row = [np.add.reduceat((part @ second.T / first.shape[1] + 1) ** 3, columns, axis=1) for part in _parts(first)]
    return np.asarray(np.add.reduceat(np.concatenate(by_row), _starts(sizes), axis=0))


def _diagonal_sums(features: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Sums of the kernels of samples with themselves, (G,)."""
    return np.asarray(np.add.reduceat((np.square(features).sum(1) / features.shape[1] + 1) ** 3, _starts(sizes)))


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]])


def _parts(features: np.ndarray) -> Sequence[np.ndarray]:
    return [features[start : start + _ROWS] for start in range(0, len(features), _ROWS)]
