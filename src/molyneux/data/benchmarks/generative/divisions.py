"""Validation samples for data sets that publish only samples to train and to test: the last twelfth of those to train."""

from __future__ import annotations

import numpy as np

from molyneux.data.benchmarks.file_benchmark import in_order
from molyneux.data.dataset import Split


def last_twelfth(train: int, test: int) -> dict[Split, np.ndarray]:
    """The rows of each split of `train` rows that are followed by `test` rows; 5,000 of 60,000 validate.

    >>> {split: len(rows) for split, rows in last_twelfth(60_000, 10_000).items()}
    {'train': 55000, 'validation': 5000, 'test': 10000}
    """
    return in_order(train=train - train // 12, validation=train, test=train + test)


def last_twelfth_of_classes(classes: np.ndarray, trains: np.ndarray) -> dict[Split, np.ndarray]:
    """The rows of each split, where the last twelfth of the training rows of each class validates, one at least.

    Args:
        classes: (N,) of all rows.
        trains: (N,) bool, the rows that are published to train; the others test.
    """
    held = np.zeros(len(classes), bool)
    for number in np.unique(classes[trains]):
        rows = np.flatnonzero(trains & (classes == number))
        held[rows[len(rows) - max(1, len(rows) // 12) :]] = True
    return {"train": np.flatnonzero(trains & ~held), "validation": np.flatnonzero(held), "test": np.flatnonzero(~trains)}
