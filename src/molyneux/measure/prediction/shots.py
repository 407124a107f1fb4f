"""Few-shot curves: how well a class is predicted from a few samples of each. Pure functions of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from molyneux.core import ConfigError, DataError
from molyneux.core.intervals import Interval, share_interval, student
from molyneux.measure.prediction.classifiers import labelled, logistic_predictions


@dataclass(frozen=True)
class FewShot:
    """One point of a curve.

    Args:
        per_class: samples of each class that were fitted on.
        accuracies: (draws,) share of test samples that are right after each draw, 0..1; empty if a class has too few samples.
        tests: how many test samples.
    """

    per_class: int
    accuracies: np.ndarray
    tests: int

    @property
    def mean(self) -> float:
        """The mean over draws, 0..1.

        Raises:
            DataError: there are no draws.
        """
        if not len(self.accuracies):
            what = f"a class has fewer than {self.per_class} samples"
            raise DataError(f"expected at least one draw for a mean and an interval, got none: {what}, leave this point out")
        return float(self.accuracies.mean())

    @property
    def interval(self) -> Interval:
        """95 % interval of the mean, 0..1: the smallest that holds both Student's over the draws and that of the test samples.

        All draws are scored on the same samples, so more draws say nothing about these. Errors as `mean`.
        """
        low, high = share_interval(round(self.mean * self.tests), self.tests)
        if len(self.accuracies) < 2:
            return low, high
        between = student(self.mean, float(self.accuracies.std(ddof=1)), len(self.accuracies), (0.0, 1.0))
        return min(low, between[0]), max(high, between[1])


def few_shot(
    codes: Any,
    labels: Any,
    *,
    test_codes: Any,
    test_labels: Any,
    rng: np.random.Generator,
    shots: Sequence[int] = (1, 10, 100),
    draws: int = 5,
    regularization: float = 1.0,
) -> list[FewShot]:
    """Logistic regression from a few samples of each class, scored on other samples; one point for each number of samples.

    Another representation of the same samples with a stream of the same name is fitted on the same draws.

    Args:
        codes: (N, D) to draw from, finite; or a sparse SciPy matrix.
        labels: (N,) integers from 0; the classes are those that occur.
        test_codes: (M, D) to score on.
        test_labels: (M,) integers from 0.
        rng: the stream that draws.
        shots: samples of each class.
        draws: how often samples are drawn.
        regularization: see `logistic_predictions`.

    Raises:
        ConfigError: no draws, or shots below 1. DataError: arrays that do not fit; the message says where.
    """
    if draws < 1 or any(count < 1 for count in shots):
        raise ConfigError(f"expected draws and shots of at least 1, got {draws} and {tuple(shots)}")
    codes, labels = labelled(codes, labels, names=("codes", "labels"))
    test_codes, test_labels = labelled(test_codes, test_labels, names=("test_codes", "test_labels"), width=codes.shape[1])
    points = []
    for count in shots:
        rows = _drawn(labels, count, draws, rng)
        predicted = (logistic_predictions(codes[row], labels[row], test_codes, regularization=regularization)[0] for row in rows)
        points.append(FewShot(count, np.array([(one == test_labels).mean() for one in predicted]), len(test_labels)))
    return points


def _drawn(labels: np.ndarray, count: int, draws: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """For each draw the rows of `count` samples of each class, without repeats; no draws if a class has fewer."""
    classes, sizes = np.unique(labels, return_counts=True)
    if sizes.min() < count:
        return
    for _ in range(draws):
        order = rng.permutation(len(labels))
        yield np.concatenate([order[labels[order] == number][:count] for number in classes])
