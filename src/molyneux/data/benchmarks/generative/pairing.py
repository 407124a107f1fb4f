"""Samples of several data sets become one where they are of the same class, such as handwriting and recordings."""

from __future__ import annotations

import numpy as np

from molyneux.core import DataError, seeds


def dealt(labels: np.ndarray, others: np.ndarray, *, seed: int, names: tuple[str | int, ...], what: str) -> np.ndarray:
    """For each of `labels` (N,) the position (N,) of one of `others` (M,) of the same class.

    Those of a class are dealt out in turn, in an order that is drawn: none is used twice before all are used once.

    Args:
        labels: classes.
        others: classes of what is dealt out; -1 is never dealt out.
        seed: of the order.
        names: of the stream of the order.
        what: is dealt out, for the message, such as `recordings of the split train`.

    Raises:
        DataError: there is none of a class.
    """
    out = np.empty(len(labels), np.int64)
    for number in np.unique(labels):
        pool, rows = np.flatnonzero(others == number), np.flatnonzero(labels == number)
        if not len(pool):
            raise DataError(f"{what}: expected at least one of class {number}, got none: restore the files")
        order = seeds.generator(seed, *names, int(number)).permutation(pool)
        out[rows] = order[np.arange(len(rows)) % len(order)]
    return out


def matched(
    first: np.ndarray, second: np.ndarray, *, rounds: int, most: int, seed: int, names: tuple[str | int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (P,) in `first` (N,) and in `second` (M,) that are of the same class: random pairs, in rounds.

    The first n of each class are used, n being the smaller of their numbers and at most `most`. In every round each of them is in
    one pair, drawn anew. Classes follow each other, and rounds within a class.
    """
    pairs = []
    for number in np.intersect1d(first, second):
        left, right = np.flatnonzero(first == number), np.flatnonzero(second == number)
        count = min(len(left), len(right), most)
        for place in range(rounds):
            rng = seeds.generator(seed, *names, int(number), place)
            pairs.append((rng.permutation(left[:count]), rng.permutation(right[:count])))
    if not pairs:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    columns = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return next(columns), next(columns)
