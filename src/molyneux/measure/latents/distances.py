"""How far one cloud of codes is from another. Pure functions of arrays."""

from __future__ import annotations

import numpy as np

from molyneux.core import SpecError

_ACTIVE = 0.01


def marginal_kl(codes: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Divergence in nats of normal distributions matched to each dimension, KL(codes || prior), (D,).

    Args:
        codes: (N, D) draws.
        prior: (K, D) draws.
    """
    _check(codes, prior)
    variance, prior_variance = codes.var(0), prior.var(0)
    shift = (codes.mean(0) - prior.mean(0)) ** 2
    ratio = np.maximum(variance, np.finfo(np.float64).tiny) / prior_variance
    kl: np.ndarray = 0.5 * (ratio - 1 - np.log(ratio) + shift / prior_variance)
    return kl


def gaussian_kl(codes: np.ndarray, prior: np.ndarray) -> float:
    """Divergence in nats of normal distributions matched with full covariances; infinite where codes are degenerate."""
    _check(codes, prior)
    dimensions = codes.shape[1]
    covariance, prior_covariance = (np.cov(draws, rowvar=False).reshape(dimensions, -1) for draws in (codes, prior))
    shift = codes.mean(0) - prior.mean(0)
    sign, log_determinant = np.linalg.slogdet(covariance)
    if sign <= 0:
        return float("inf")
    spread = float(np.trace(np.linalg.solve(prior_covariance, covariance)))
    distance = float(shift @ np.linalg.solve(prior_covariance, shift))
    log_ratio = float(np.linalg.slogdet(prior_covariance)[1]) - float(log_determinant)
    return 0.5 * (spread - float(dimensions) + distance + log_ratio)


def sliced_wasserstein(first: np.ndarray, second: np.ndarray, rng: np.random.Generator, *, projections: int = 128) -> float:
    """Sliced 2-Wasserstein distance (Bonneel et al. 2015): the root of the mean squared distance over random directions.

    In the units of the codes. Two samples of one distribution do not give 0 but a floor that falls with their size. Of the
    larger sample only as many rows as the smaller one has are used.

    Args:
        first: (N, D) draws.
        second: (K, D) draws.
        rng: the stream of directions.
        projections: number of directions.
    """
    _check(first, second)
    size = min(len(first), len(second))
    directions = rng.normal(size=(first.shape[1], projections))
    directions /= np.linalg.norm(directions, axis=0)
    gap = np.sort(first[:size] @ directions, axis=0) - np.sort(second[:size] @ directions, axis=0)
    return float(np.sqrt(np.mean(gap**2)))


def active_units(means: np.ndarray) -> int:
    """How many dimensions say anything: the variance of the posterior mean over samples exceeds 0.01.

    Burda, Grosse and Salakhutdinov, "Importance weighted autoencoders" (ICLR 2016), section 5.2.
    """
    return int(np.count_nonzero(means.var(0) > _ACTIVE))


def _check(first: np.ndarray, second: np.ndarray) -> None:
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1] or min(len(first), len(second)) < 2:
        raise SpecError(f"expected two clouds (N, D) of at least 2 codes, got {first.shape} and {second.shape}")
