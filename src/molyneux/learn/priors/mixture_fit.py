"""Maximum-likelihood fit of a mixture of normals with full covariances, by expectation maximisation."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

_FLOOR = 1e-6
"""Added to the variances of components, in units of the codes' own."""

_ROUNDS = 100
"""Rounds at most."""

_GAIN = 1e-2
"""The fit ends with the first round that raises the mean log-likelihood by less, in nats: later rounds fit the noise."""

_CHUNK = 2048
"""Codes whose products are in memory at once."""


class NormalMixtureParameters(NamedTuple):
    """Weights (C,), means (C, D) and lower triangular factors of the covariances (C, D, D)."""

    weights: np.ndarray
    means: np.ndarray
    scale: np.ndarray


def fit_mixture(codes: np.ndarray, components: int, seed: int) -> NormalMixtureParameters:
    """Fit a mixture to codes (N, D) by expectation maximisation (Dempster, Laird & Rubin, 1977), started by k-means.

    As scikit-learn's `GaussianMixture`, in a quarter of its time: log-densities and moments of all components are two matrix
    products with the products of the dimensions, (N, 1 + D + D (D + 1) / 2). One thread, since sums of several threads are added
    in any order.
    """
    from sklearn.cluster import KMeans  # takes a second to import, and only training needs it
    from threadpoolctl import threadpool_limits

    centre, spread = codes.mean(0), codes.std(0) + 1e-12
    scaled = (codes - centre) / spread
    with threadpool_limits(1):
        labels = KMeans(components, n_init=1, random_state=seed).fit(scaled).labels_
        moments = sum(np.eye(components)[labels[at]].T @ _products(scaled[at]) for at in _chunks(len(codes)))
        found, bound = _maximised(moments, codes.shape[1]), -math.inf
        for _ in range(_ROUNDS):
            before = bound
            moments, bound = _expected(scaled, found)
            found = _maximised(moments, codes.shape[1])
            if bound - before < _GAIN:
                break
    return NormalMixtureParameters(found.weights, found.means * spread + centre, found.scale * spread[:, None])


def _chunks(size: int) -> list[slice]:
    return [slice(start, start + _CHUNK) for start in range(0, size, _CHUNK)]


def _products(codes: np.ndarray) -> np.ndarray:
    """1, every dimension, and every product of two: (N, 1 + D + D (D + 1) / 2)."""
    first, second = np.triu_indices(codes.shape[1])
    return np.concatenate([np.ones((len(codes), 1)), codes, codes[:, first] * codes[:, second]], axis=1)


def _expected(codes: np.ndarray, mixture: NormalMixtureParameters) -> tuple[np.ndarray, float]:
    """Sums of the products of codes by component, each code shared out by its posterior, and the mean log-likelihood."""
    dimensions = codes.shape[1]
    inverse = np.linalg.inv(mixture.scale)
    precision = np.swapaxes(inverse, 1, 2) @ inverse
    linear = np.einsum("cij,cj->ci", precision, mixture.means)
    first, second = np.triu_indices(dimensions)
    squares = -precision[:, first, second] * np.where(first == second, 0.5, 1.0)
    volume = np.log(np.diagonal(mixture.scale, axis1=1, axis2=2)).sum(1) + 0.5 * dimensions * math.log(2 * math.pi)
    constant = np.log(mixture.weights) - volume - 0.5 * (linear * mixture.means).sum(1)
    coefficients = np.c_[constant, linear, squares].T
    moments, total = np.zeros(coefficients.shape[::-1]), 0.0
    for at in _chunks(len(codes)):
        products = _products(codes[at])
        density = products @ coefficients
        largest = density.max(1, keepdims=True)
        shares = np.exp(density - largest)
        mass = shares.sum(1, keepdims=True)
        moments += (shares / mass).T @ products
        total += float((np.log(mass) + largest).sum())
    return moments, total / len(codes)


def _maximised(moments: np.ndarray, dimensions: int) -> NormalMixtureParameters:
    """The mixture of highest likelihood for sums of products by component."""
    mass = moments[:, 0] + 10 * np.finfo(float).eps
    means = moments[:, 1 : dimensions + 1] / mass[:, None]
    first, second = np.triu_indices(dimensions)
    covariance = np.empty((len(mass), dimensions, dimensions))
    covariance[:, first, second] = covariance[:, second, first] = moments[:, dimensions + 1 :] / mass[:, None]
    covariance -= means[:, :, None] * means[:, None, :]
    covariance[:, range(dimensions), range(dimensions)] += _FLOOR
    return NormalMixtureParameters(mass / mass.sum(), means, np.linalg.cholesky(covariance))
