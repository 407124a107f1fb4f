"""Classifiers of codes: logistic regression, also from a few samples of each class, and the network of the text study."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import ConfigError, DataError
from molyneux.core.intervals import Interval, share_interval, student
from molyneux.measure.code_arrays import finite_codes


def logistic_predictions(train: Any, labels: np.ndarray, test: Any, *, regularization: float = 1.0) -> tuple[np.ndarray, bool]:
    """Predictions of multinomial logistic regression for samples it was not fitted on, and whether the fit converged.

    Args:
        train: (N, D) features, which are standardised; or a sparse SciPy matrix of them, which are taken as they are.
        labels: (N,) integers; where all are equal, that is the answer.
        test: (M, D) features of the samples that are asked for.
        regularization: inverse strength of the quadratic penalty (scikit-learn's C).

    Returns:
        (M,) labels, and False if 300 iterations were not enough.
    """
    if len(np.unique(labels)) < 2:
        return np.full(test.shape[0], labels[0]), True
    # scikit-learn takes more than a second to import, which no command needs that fits nothing.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    if isinstance(train, np.ndarray):
        scaler = StandardScaler().fit(train)
        train, test = scaler.transform(train), scaler.transform(test)
    fit = LogisticRegression(C=regularization, tol=1e-3, max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit.fit(train, labels)
    return np.asarray(fit.predict(test)), bool(fit.n_iter_.max() < fit.max_iter)


UNITS = 64
"""Hidden units of `perceptron_predictions`."""


def perceptron_predictions(train: np.ndarray, labels: np.ndarray, test: np.ndarray, *, seed: int) -> tuple[np.ndarray, bool]:
    """Predictions of a perceptron with one hidden layer of 64 rectified units, for samples it was not fitted on.

    scikit-learn's `MLPClassifier` on standardised features, by Adam in batches of 200, until the loss falls by less than 1e-3 in
    five rounds. What it finds beyond a linear classifier is there, but not in a linear form.

    Args:
        train: (N, D) features.
        labels: (N,) integers; where all are equal, that is the answer.
        test: (M, D) features of the samples that are asked for.
        seed: of starts and shuffles.

    Returns:
        (M,) labels, and False if 100 rounds were not enough.
    """
    if len(np.unique(labels)) < 2:
        return np.full(test.shape[0], labels[0]), True
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(train)
    fit = MLPClassifier((UNITS,), max_iter=100, tol=1e-3, n_iter_no_change=5, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit.fit(scaler.transform(train), labels)
    return np.asarray(fit.predict(scaler.transform(test))), bool(fit.n_iter_ < fit.max_iter)


HIDDEN, EPOCHS, BATCH, RATE = 1024, 15, 512, 1e-3


def net_predictions(train: np.ndarray, labels: np.ndarray, test: np.ndarray, *, generator: torch.Generator) -> np.ndarray:
    """Predictions of a network with one hidden layer for samples that it was not trained on, (M,) labels.

    The paper has "a single linear layer with 1024 neurons followed by softmax", 15 epochs of Adam with rate 1e-3 and batches of
    512 (Zhang, Prokhorov and Shareghi, RepL4NLP 2021). This is read as one hidden layer of 1024 units without a nonlinearity,
    then one output for each class: together a linear classifier of features as they are, not standardised. Starts are
    Glorot-uniform, as in Keras. Runs on the CPU.

    Args:
        train: (N, D) finite features, N at least 1.
        labels: (N,) integers from 0.
        test: (M, D) finite features.
        generator: of the CPU; draws starts and shuffles.

    Raises:
        DataError: arrays that do not fit; the message says where.
    """
    train, labels = labelled(train, labels, names=("train", "labels"))
    test = finite_codes(test, "test", width=train.shape[1])
    # Measures run in inference mode, where nothing can be trained.
    with torch.inference_mode(False), torch.enable_grad():
        inputs, targets = torch.tensor(train, dtype=torch.float32), torch.tensor(labels, dtype=torch.int64)
        sizes = (train.shape[1], HIDDEN, int(labels.max()) + 1)
        weights = [_glorot(rows, columns, generator) for rows, columns in pairwise(sizes)]
        offsets = [torch.zeros(size, requires_grad=True) for size in sizes[1:]]
        adam = torch.optim.Adam([*weights, *offsets], lr=RATE, eps=1e-7)
        for _ in range(EPOCHS):
            for rows in torch.split(torch.randperm(len(inputs), generator=generator), BATCH):
                adam.zero_grad()
                torch.autograd.backward(functional.cross_entropy(_logits(inputs[rows], weights, offsets), targets[rows]))
                adam.step()
        with torch.no_grad():
            predicted = _logits(torch.tensor(test, dtype=torch.float32), weights, offsets).argmax(1)
    return predicted.numpy()


def _logits(inputs: Tensor, weights: list[Tensor], offsets: list[Tensor]) -> Tensor:
    return (inputs @ weights[0] + offsets[0]) @ weights[1] + offsets[1]


def _glorot(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    limit = math.sqrt(6 / (rows + columns))
    return ((2 * torch.rand(rows, columns, generator=generator) - 1) * limit).requires_grad_()


def labelled(codes: Any, labels: Any, *, names: tuple[str, str], width: int | None = None) -> tuple[Any, np.ndarray]:
    """Codes as they are, an array or a sparse matrix (N, D), and their labels (N,) int64, N at least 1.

    Args:
        codes: (N, D) finite numbers; a sparse SciPy matrix, or what NumPy makes an array of.
        labels: (N,) whole numbers from 0.
        names: of codes and labels, for the messages.
        width: D, where it is known.

    Raises:
        DataError: not such arrays; the message says where.
    """
    found, numbers = finite_codes(codes, names[0], width=width), _whole(labels, names[1])
    if found.shape[0] != len(numbers) or not len(numbers):
        got = f"{names[0]} of {found.shape[0]} samples and {len(numbers)} {names[1]}"
        raise DataError(f"expected codes with a label each, at least one, got {got}: give a label for each code")
    return found, numbers


def _whole(labels: Any, name: str) -> np.ndarray:
    """Labels as (N,) int64; raises DataError where they are no whole numbers from 0."""
    try:
        given = np.asarray(labels)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{name}: expected whole numbers (samples,), got what makes no such array: {error}") from error
    if given.ndim != 1 or (given.dtype.kind not in "biuf" and given.size):
        raise DataError(f"{name}: expected whole numbers (samples,), got {given.dtype} {given.shape}: number the classes from 0")
    bad = np.flatnonzero(~(np.isfinite(given) & (given >= 0) & (given == np.floor(given))))
    if len(bad):
        hint = "leave out samples whose label is absent (-1)" if given[bad[0]] == -1 else "number the classes 0, 1, ..."
        raise DataError(f"{name}: expected whole numbers from 0, got {given[bad[0]]} in row {bad[0]}: {hint}")
    return given.astype(np.int64)


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
