"""Order among numbers: what is left of a code when its scale and shape do not count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Sorted:
    """Columns in order.

    Args:
        order: (D, N) int32, row numbers from the smallest to the largest.
        level: (D, N) int32, of each place in that order the number of distinct smaller values.
    """

    order: np.ndarray
    level: np.ndarray

    @property
    def ranks(self) -> np.ndarray:
        """Middle ranks as shares, (N, D) in 0..1; equal values share their middle rank."""
        ranks = np.empty(self.order.shape[::-1])
        for column, (order, level) in enumerate(zip(self.order, self.level, strict=True)):
            sizes = np.bincount(level)
            middle = np.cumsum(sizes) - 0.5 * sizes
            ranks[order, column] = middle[level] / len(order)
        return ranks


def sort_columns(codes: np.ndarray) -> Sorted:
    """Sort each column of (N, D) numbers."""
    count, dimensions = codes.shape
    order, level = np.empty((dimensions, count), np.int32), np.zeros((dimensions, count), np.int32)
    for column in range(dimensions):
        values = np.ascontiguousarray(codes[:, column])
        order[column] = np.argsort(values)
        values = values[order[column]]
        np.cumsum(values[1:] > values[:-1], out=level[column, 1:])
    return Sorted(order, level)


def area_under_curve(scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """The area under the receiver operating characteristic of each column, (K,); NaN where one side is empty.

    The share of pairs of a positive and a negative sample that are in the right order (Mann and Whitney 1947); ties count half.

    Args:
        scores: (N, K) numbers.
        positive: (N, K) bool.
    """
    ranks = sort_columns(scores).ranks * len(scores) + 0.5
    right = positive.sum(0).astype(np.float64)
    pairs = right * (len(scores) - right)
    with np.errstate(invalid="ignore", divide="ignore"):
        area: np.ndarray = (np.where(positive, ranks, 0.0).sum(0) - right * (right + 1) / 2) / pairs
    return area
