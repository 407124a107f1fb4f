"""Linear classifiers: a closed-form one, and the softmax nets of the text study."""

from __future__ import annotations

import numpy as np


def discriminants(features: np.ndarray, labels: np.ndarray, *, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights (D, K) and offsets (K,) of Fisher's linear discriminant: features @ weights + offsets, largest where most likely.

    The classifier of normal classes with one covariance (Hastie, Tibshirani and Friedman 2009, equation 4.10). It is linear like
    logistic regression and has a closed form: no optimiser that may not have converged. Features should be of unit scale; 1e-6
    is added to their variances within classes, so that constant ones do no harm. Classes without samples are never chosen.

    Args:
        features: (N, D).
        labels: (N,) integers below `classes`.
        classes: how many.
    """
    counts = np.bincount(labels, minlength=classes).astype(np.float64)
    sums = np.stack([np.bincount(labels, weights=column, minlength=classes) for column in features.T], 1)
    means = sums / np.maximum(counts, 1)[:, None]
    inside = features - means[labels]
    covariance = inside.T @ inside / len(features) + 1e-6 * np.eye(features.shape[1])
    weights = np.linalg.solve(covariance, means.T)
    with np.errstate(divide="ignore"):
        offsets = np.log(counts / len(features)) - 0.5 * (means * weights.T).sum(1)
    return weights, offsets


def standardised(features: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Features (N, D) with the means and deviations of `like` taken out; dimensions constant there become 0."""
    deviation = like.std(0)
    scaled: np.ndarray = np.where(deviation > 0, (features - like.mean(0)) / np.where(deviation > 0, deviation, 1.0), 0.0)
    return scaled
