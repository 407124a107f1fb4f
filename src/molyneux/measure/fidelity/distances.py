"""Distances between two sets of features: the Fréchet distance and the kernel distance (KID)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from molyneux.core import DataError

GROUPS = 20
"""Groups of samples that intervals leave out, one at a time."""

_MOST = 512
"""Dimensions beyond which the distance without each group takes too long."""


@dataclass(frozen=True)
class Moments:
    """Sums over samples from which means and covariances follow; moments of sets of samples can be added and taken away.

    Args:
        count: N samples.
        first: sum of the features, (F,).
        second: sum of their outer products, (F, F).
    """

    count: int
    first: np.ndarray
    second: np.ndarray

    @classmethod
    def of(cls, features: np.ndarray) -> Moments:
        """The moments of features (N, F)."""
        return cls(len(features), features.sum(0), features.T @ features)

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.count + other.count, self.first + other.first, self.second + other.second)

    def __sub__(self, other: Moments) -> Moments:
        return Moments(self.count - other.count, self.first - other.first, self.second - other.second)

    @property
    def mean(self) -> np.ndarray:
        """(F,)."""
        return np.asarray(self.first / self.count)

    @property
    def covariance(self) -> np.ndarray:
        """(F, F), with N - 1."""
        return np.asarray((self.second - np.outer(self.first, self.first) / self.count) / (self.count - 1))


def frechet_distance(first: np.ndarray, second: np.ndarray) -> float:
    """The squared Fréchet distance of normal distributions fitted to two sets of features.

    `|m1 - m2|² + tr(C1 + C2 - 2 (C1 C2)^(1/2))` (Dowson and Landau 1982; Heusel et al., GANs Trained by a Two Time-Scale Update
    Rule, NeurIPS 2017, equation 6). Two samples of one distribution do not give 0 but a floor that falls with their size.

    Args:
        first: (N, F) features.
        second: (M, F) features.

    Raises:
        DataError: fewer than two samples, other shapes, or numbers that are not finite.

    >>> points = np.array([[0.0], [2.0]])
    >>> round(frechet_distance(points, points + 3), 6)
    9.0
    """
    first, second = as_features(first, second)
    centre = second.mean(0)  # the distance does not depend on it, its digits do
    return distance_of(Moments.of(first - centre), Moments.of(second - centre))


def distance_of(first: Moments, second: Moments) -> float:
    """See `frechet_distance`; the trace of the root is the sum of the roots of eigenvalues of a symmetric matrix."""
    values, vectors = np.linalg.eigh(first.covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    product = np.linalg.eigvalsh(root @ second.covariance @ root)
    overlap = float(np.sqrt(np.maximum(product, 0)).sum())
    shift = float(np.square(first.mean - second.mean).sum())
    return max(0.0, shift + float(np.trace(first.covariance) + np.trace(second.covariance)) - 2 * overlap)


def left_out_distances(first: np.ndarray, second: np.ndarray) -> list[float]:
    """The distance without each of `GROUPS` groups of both sets; empty where that takes too long or samples are too few."""
    if first.shape[1] > _MOST or min(len(first), len(second)) < 2 * GROUPS:
        return []
    first, second = as_features(first, second)
    centre = second.mean(0)
    parts = [[Moments.of(part - centre) for part in np.array_split(features, GROUPS)] for features in (first, second)]
    whole = [_total(part) for part in parts]
    return [distance_of(whole[0] - one, whole[1] - other) for one, other in zip(*parts, strict=True)]


def as_features(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two sets of features as float64, in which nothing overflows that other types hold.

    Raises:
        DataError: fewer than two samples, other shapes, or what are no finite real numbers.
    """
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1] or min(len(first), len(second)) < 2:
        raise DataError(f"expected two sets of features (N, F), N at least 2, got {first.shape} and {second.shape}")
    for features in (first, second):
        if features.dtype.kind not in "biuf":
            raise DataError(f"expected features that are real numbers, got {features.dtype}: convert them")
        if not np.isfinite(features).all():
            raise DataError("expected finite features, got some that are not: look at the views they were made of")
    return first.astype(np.float64, copy=False), second.astype(np.float64, copy=False)


def _total(parts: Sequence[Moments]) -> Moments:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


_ROWS = 512
"""Rows of a kernel matrix in memory at once."""

_LARGEST = 1e12
"""Square of a sample's length, divided by its features, below which the cube of a product stays far within 32 bits."""


def kernel_distance(first: np.ndarray, second: np.ndarray) -> float:
    """The kernel distance KID: the unbiased estimate of the squared maximum mean discrepancy.

    With the kernel `(x · y / F + 1)³` of F features (Binkowski et al., Demystifying MMD GANs, ICLR 2018, section 4; the estimate
    is that of Gretton et al., JMLR 13, 2012, equation 3). It can be negative, and its mean is 0 for two samples of one
    distribution. All pairs are used, not means over random subsets of 1,000 as in published code.

    Products of features that 32 bits hold exactly, such as those of a network, are computed in 32 bits, and summed in 64: the
    result differs by about 1e-8 of the mean kernel. Those of others are computed in 64 bits.

    Args:
        first: (N, F) features.
        second: (M, F) features.

    Raises:
        DataError: fewer than two samples, other shapes, or numbers that are not finite.

    >>> round(kernel_distance(np.array([[1.0], [1.0]]), np.array([[0.0], [0.0]])), 6)
    7.0
    """
    return kernel_distances(first, second)[0]


def kernel_distances(first: np.ndarray, second: np.ndarray) -> tuple[float, list[float]]:
    """The distance, and that without each of `GROUPS` groups of both sets; none of these where samples are too few."""
    groups = 1 if min(len(first), len(second)) < 2 * GROUPS else GROUPS
    sums = _Sums(*as_features(first, second), groups=groups)
    return _distance(sums, None), [_distance(sums, group) for group in range(groups)] if groups > 1 else []


class _Sums:
    """Sums of kernels between groups of samples, from which the distance without any group follows."""

    def __init__(self, first: np.ndarray, second: np.ndarray, *, groups: int) -> None:
        squares = [np.einsum("nf,nf->n", features, features) / features.shape[1] for features in (first, second)]
        short = all(_fit_32_bits(features, lengths) for features, lengths in zip((first, second), squares, strict=True))
        parts, others = (
            np.array_split(features.astype(np.float32) if short else features, groups) for features in (first, second)
        )
        self.sizes = [np.array([len(part) for part in split]) for split in (parts, others)]
        self.within = [_sums_within(split) for split in (parts, others)]
        self.across = np.array([[_sum_of_kernels(one, other) for other in others] for one in parts])
        self.equal = [_diagonal_sums(lengths, size) for lengths, size in zip(squares, self.sizes, strict=True)]


def _distance(sums: _Sums, left_out: int | None) -> float:
    keep = np.arange(len(sums.sizes[0])) != (-1 if left_out is None else left_out)
    n, m = (float(size[keep].sum()) for size in sums.sizes)
    own, other = (
        float(within[np.ix_(keep, keep)].sum() - equal[keep].sum()) / (count * (count - 1))
        for within, equal, count in zip(sums.within, sums.equal, (n, m), strict=True)
    )
    return own + other - 2 * float(sums.across[np.ix_(keep, keep)].sum()) / (n * m)


def _fit_32_bits(features: np.ndarray, squares: np.ndarray) -> bool:
    """Whether 32 bits hold features (N, F) float64 exactly, and the cubes of their products; `squares` (N,) are mean squares."""
    return bool(squares.max() < _LARGEST and np.array_equal(features.astype(np.float32), features))


def _sums_within(groups: Sequence[np.ndarray]) -> np.ndarray:
    """Sums of kernels between groups (N_g, F) of one set, (G, G)."""
    found = np.zeros((len(groups), len(groups)))
    for row, one in enumerate(groups):
        for column, other in enumerate(groups[: row + 1]):
            found[row, column] = found[column, row] = _sum_of_kernels(one, other)
    return found


def _sum_of_kernels(first: np.ndarray, second: np.ndarray) -> float:
    """The sum of the kernels of all pairs of samples (N, F) and (M, F), computed in their type and summed in 64 bits."""
    total = 0.0
    for start in range(0, len(first), _ROWS):
        products = first[start : start + _ROWS] @ second.T
        products /= products.dtype.type(first.shape[1])
        products += products.dtype.type(1)
        cubes = np.square(products)
        cubes *= products
        total += float(cubes.sum(1).sum(dtype=np.float64))
    return total


def _diagonal_sums(squares: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Sums of the kernels of samples with themselves, (G,), of their mean squares (N,)."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.asarray(np.add.reduceat((squares + 1) ** 3, starts))
