"""Logistic regression as every measure fits it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def logistic_predictions(train: Any, labels: np.ndarray, test: Any, *, regularization: float = 1.0) -> tuple[np.ndarray, bool]:
    """What multinomial logistic regression says of samples it was not fitted on, and whether the fit had settled.

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
