"""Precision, recall, density and coverage of generated views, by nearest neighbours among features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from molyneux.measure.fidelity.distances import as_features

_ROWS = 1024
"""Rows of a matrix of distances in memory at once."""

_ROUNDING = 1e-10
"""Squared distances that differ by less, in units of the mean squared length of the features, are equal."""


@dataclass(frozen=True)
class Neighbourhoods:
    """What each sample of two sets has to do with the balls around the samples of the other set.

    The ball of a sample reaches to its k-th nearest neighbour in its own set.

    Args:
        precise: (M,) whether a generated sample lies in the ball of any real one.
        recalled: (N,) whether a real sample lies in the ball of any generated one.
        density: (M,) in how many balls of real samples a generated one lies, divided by k.
        covered: (N,) whether the ball of a real sample holds any generated one.
    """

    precise: np.ndarray
    recalled: np.ndarray
    density: np.ndarray
    covered: np.ndarray


def neighbourhoods(real: np.ndarray, generated: np.ndarray, *, k: int = 3) -> Neighbourhoods:
    """Precision, recall, density and coverage, sample by sample.

    Precision and recall of Kynkäänniemi et al. (Improved Precision and Recall Metric for Assessing Generative Models, NeurIPS
    2019, section 2), density and coverage of Naeem et al. (Reliable Fidelity and Diversity Metrics for Generative Models, ICML
    2020, section 3).

    Args:
        real: (N, F) features, N above k.
        generated: (M, F) features, M above k.
        k: neighbours; 3 and 5 in the papers.

    Raises:
        DataError: k samples or fewer, other shapes, or numbers that are not finite.

    >>> found = neighbourhoods(np.array([[0.0], [1.0], [9.0]]), np.array([[0.5], [0.6], [5.0]]), k=1)
    >>> found.precise.tolist(), found.recalled.tolist(), found.covered.tolist()
    ([True, True, True], [False, True, True], [True, True, True])
    """
    real, generated = as_features(real, generated)
    centre = real.mean(0)
    real, generated = real - centre, generated - centre
    slack = _ROUNDING * float(np.square(real).sum(1).mean() + np.square(generated).sum(1).mean())
    own, other = _radii(real, k) + slack, _radii(generated, k) + slack
    recalled, covered, inside = list[np.ndarray](), list[np.ndarray](), np.zeros(len(generated))
    for rows in _parts(len(real)):
        distances = _distances(real[rows], generated)
        recalled.append(np.asarray((distances <= other).any(1)))
        balls = distances <= own[rows, None]
        covered.append(np.asarray(balls.any(1)))
        inside += balls.sum(0)
    return Neighbourhoods(inside > 0, np.concatenate(recalled), inside / k, np.concatenate(covered))


def _radii(features: np.ndarray, k: int) -> np.ndarray:
    """Squared distance of each sample to its k-th nearest neighbour, itself not counted."""
    found = []
    for rows in _parts(len(features)):
        distances = _distances(features[rows], features)
        distances[np.arange(len(distances)), np.arange(rows.start, rows.start + len(distances))] = -1.0
        found.append(np.partition(distances, k, axis=1)[:, k])
    return np.concatenate(found)


def _distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances, (N, M)."""
    lengths = np.square(first).sum(1)[:, None] + np.square(second).sum(1)
    return np.asarray(np.maximum(lengths - 2 * first @ second.T, 0.0))


def _parts(size: int) -> list[slice]:
    return [slice(start, start + _ROWS) for start in range(0, size, _ROWS)]
