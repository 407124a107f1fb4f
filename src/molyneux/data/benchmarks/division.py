"""Which rows of the files of a data set belong to which split, drawn class by class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from molyneux.core import seeds
from molyneux.data.worlds.world import Split

TRAIN, TEST = "train.csv", "test.csv"
PerClass = tuple[int, int, int]
"""At most so many samples of each class for training, validation and testing."""


@dataclass(frozen=True)
class Part:
    """The rows of a split.

    Args:
        file: the file they are in.
        rows: (n,) their numbers, rising.
    """

    file: str
    rows: np.ndarray


def divided(
    labels: Mapping[str, np.ndarray], *, classes: int, limits: PerClass | None, name: str, seed: int
) -> dict[Split, Part]:
    """The rows of each split.

    The rows of each class of a file are put in an order that is drawn from `seed`. With `train.csv`, the last tenth of each class
    validates and the rest of it trains; `test.csv` tests. With `test.csv` alone, the first 60 % of each class train, the next
    20 % validate and the rest test. Of each class a split keeps the first rows, as many as its limit, so that a smaller limit
    gives some of the samples of a larger one.

    Args:
        labels: by file, the class of every row, (N,).
        classes: how many there are.
        limits: of each class; without any, all rows are used.
        name: of the data set, for its streams.
        seed: of the order.
    """
    orders = {file: _orders(found, classes, name=f"{name}/{file}", seed=seed) for file, found in labels.items()}
    parts: dict[Split, tuple[str, list[np.ndarray]]] = {}
    if TRAIN in orders:
        cut = [(order, len(order) - len(order) // 10) for order in orders[TRAIN]]
        parts["train"] = TRAIN, [order[:end] for order, end in cut]
        parts["validation"] = TRAIN, [order[end:] for order, end in cut]
        parts["test"] = TEST, orders[TEST]
    else:
        ends = [(order, 6 * len(order) // 10, 8 * len(order) // 10) for order in orders[TEST]]
        parts["train"] = TEST, [order[:first] for order, first, _ in ends]
        parts["validation"] = TEST, [order[first:second] for order, first, second in ends]
        parts["test"] = TEST, [order[second:] for order, _, second in ends]
    most: tuple[int | None, ...] = (None, None, None) if limits is None else limits
    return {
        split: Part(file, np.sort(np.concatenate([order[:limit] for order in found])))
        for (split, (file, found)), limit in zip(parts.items(), most, strict=True)
    }


def _orders(labels: np.ndarray, classes: int, *, name: str, seed: int) -> list[np.ndarray]:
    """The rows of each class in the order drawn."""
    by_class = (np.flatnonzero(labels == number) for number in range(classes))
    return [seeds.generator(seed, name, number).permutation(rows) for number, rows in enumerate(by_class)]
