"""Classifiers of codes: logistic regression, the network of the text study, and the checks of what they are given."""

from __future__ import annotations

import math
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import DataError
from molyneux.measure.codes import not_finite, require_finite


def logistic_predictions(train: Any, labels: np.ndarray, test: Any, *, regularization: float = 1.0) -> tuple[np.ndarray, bool]:
    """What multinomial logistic regression says of samples it was not fitted on, and whether the fit converged.

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


HIDDEN, EPOCHS, BATCH, RATE = 1024, 15, 512, 1e-3


def net_predictions(train: np.ndarray, labels: np.ndarray, test: np.ndarray, *, generator: torch.Generator) -> np.ndarray:
    """What a net with one hidden layer says of samples that it was not trained on, (M,) labels.

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
            said = _logits(torch.tensor(test, dtype=torch.float32), weights, offsets).argmax(1)
    return said.numpy()


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


def finite_codes(codes: Any, name: str, *, width: int | None = None) -> Any:
    """Codes as they are, an array or a sparse matrix (N, D) of finite numbers, D at least 1 and `width` where that is given.

    Raises:
        DataError: not such codes; the message says where.
    """
    try:
        found = codes if hasattr(codes, "tocoo") else np.asarray(codes)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{name}: expected numbers (samples, dimensions), got what makes no such array: {error}") from error
    if found.dtype.kind not in "biuf":
        raise DataError(f"{name}: expected real numbers (samples, dimensions), got {found.dtype}")
    if found.ndim != 2 or found.shape[1] < 1:
        raise DataError(f"{name}: expected (samples, dimensions), at least one dimension, got shape {tuple(found.shape)}")
    if width is not None and found.shape[1] != width:
        raise DataError(f"{name}: expected {width} dimensions, as the codes to fit have, got {found.shape[1]}: use the same code")
    if isinstance(found, np.ndarray):
        require_finite(name, found)
    else:
        _require_finite_entries(name, found)
    return found


def _require_finite_entries(name: str, codes: Any) -> None:
    """`require_finite` of a sparse matrix: only what is stored in it can be wrong."""
    entries = codes.tocoo()
    bad = np.flatnonzero(~np.isfinite(entries.data))
    if len(bad):
        first = bad[0]
        raise not_finite(name, len(bad), entries.data[first], row=int(entries.row[first]), dimension=int(entries.col[first]))


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
