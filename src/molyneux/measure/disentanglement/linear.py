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


def softmax_nets(features: np.ndarray, labels: np.ndarray, rng: np.random.Generator, *, nets: int = 10) -> np.ndarray:
    """Weights (nets, D + 1, K), the last row offsets, of linear softmax nets as the text study trains them.

    Glorot-uniform start, Adam with learning rate 0.01, 10 epochs of shuffled batches of 64; the last 20 % of the samples are held
    out and unused (Keras' `validation_split`).

    Args:
        features: (N, D).
        labels: (N,) integers from 0.
        rng: draws starts and shuffles.
        nets: how many are trained at the same time.
    """
    classes, kept = int(labels.max()) + 1, int(0.8 * len(features))
    inputs = np.concatenate([features[:kept], np.ones((kept, 1))], 1)
    targets = np.eye(classes)[labels[:kept]]
    limit = np.sqrt(6 / (features.shape[1] + classes))
    weights = rng.uniform(-limit, limit, (nets, inputs.shape[1], classes))
    weights[:, -1] = 0.0
    first, second, step = np.zeros_like(weights), np.zeros_like(weights), 0
    for _ in range(10):
        orders = np.argsort(rng.random((nets, kept)), axis=1)
        for start in range(0, kept, 64):
            step += 1
            rows = orders[:, start : start + 64]
            given = inputs[rows]
            gradient = given.transpose(0, 2, 1) @ (_softmax(given @ weights) - targets[rows]) / rows.shape[1]
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            rate = 0.01 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            weights = weights - rate * first / (np.sqrt(second) + 1e-7)
    return weights


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    shares: np.ndarray = powers / powers.sum(-1, keepdims=True)
    return shares
