"""Pairs of characters that are alike: low-level statistics do not tell the two apart."""

from __future__ import annotations

import numpy as np

from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.polygons import polygon_masks

SIDE = 16
"""Side of the pictures that are compared."""

LEAST = 14.0
"""Distance of any two characters with as many strokes; of two that are nearer, both are left out."""

INK = 0.05
"""Largest difference of the ink of two characters of a pair, as a share of the larger."""


def small_pictures(outlines: np.ndarray) -> np.ndarray:
    """Pictures (N, SIDE * SIDE) int64 of characters as they are, of 0..255: the grey values of 4 x 4 pixels averaged."""
    count, side = len(outlines), 4 * SIDE
    centre, ones = np.full((count, 2), 0.5), np.ones(count)
    drawn = polygon_masks(outlines, np.arange(count), centre, ones, np.zeros(count), side).astype(np.int64)
    return np.asarray(drawn.reshape(count, SIDE, 4, SIDE, 4).sum((2, 4)) // 16).reshape(count, -1)


def alike_pairs(pictures: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Pairs of alike characters, (K, 2) places, the nearest first.

    The distance of two characters is the root mean square difference of their `small_pictures`, in grey values of 0..255. Of all
    characters that are in no pair yet, the two nearest ones are a pair, if they have as many strokes as each other, and ink that
    differs by at most `INK`. Characters that are nearer than `LEAST` to another one of as many strokes are left out: they are
    written almost the same way.

    Args:
        pictures: (N, D) int64.
        counts: (N,) strokes.
    """
    found, ink = list[np.ndarray](), pictures.sum(1)
    for count in np.unique(counts):
        rows = np.flatnonzero(counts == count)
        squares = _squares(pictures[rows])
        apart = squares + np.where(np.eye(len(rows), dtype=bool), np.iinfo(np.int64).max // 2, 0)
        kept = apart.min(1, initial=np.iinfo(np.int64).max) >= LEAST**2 * pictures.shape[1]
        rows, squares = rows[kept], squares[np.ix_(kept, kept)]
        one, other = np.triu_indices(len(rows), 1)
        larger = np.maximum(ink[rows[one]], ink[rows[other]])
        near = np.abs(ink[rows[one]] - ink[rows[other]]) <= INK * larger
        one, other = one[near], other[near]
        order = np.argsort(squares[one, other], kind="stable")
        taken = _taken(one[order], other[order], len(rows))
        pairs = np.stack([rows[one[order][taken]], rows[other[order][taken]], squares[one, other][order][taken]], 1)
        found.append(pairs)
    if not found:
        return np.empty((0, 2), np.int64)
    every = np.concatenate(found)
    return np.asarray(every[np.lexsort((every[:, 0], every[:, 2]))][:, :2])


@compiled
def _squares(pictures: np.ndarray) -> np.ndarray:
    """Squared distances (n, n) int64 of pictures (n, D) int64, exact."""
    count = len(pictures)
    out = np.zeros((count, count), np.int64)
    for i in range(count):
        for j in range(i):
            total = 0
            for k in range(pictures.shape[1]):
                step = pictures[i, k] - pictures[j, k]
                total += step * step
            out[i, j], out[j, i] = total, total
    return out


@compiled
def _taken(one: np.ndarray, other: np.ndarray, count: int) -> np.ndarray:
    """Which pairs (n,) are taken where each of `count` things is in one pair, the first ones first."""
    free, out = np.ones(count, np.bool_), np.zeros(len(one), np.bool_)
    for place in range(len(one)):
        if free[one[place]] and free[other[place]]:
            out[place] = True
            free[one[place]], free[other[place]] = False, False
    return out
