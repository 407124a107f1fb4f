"""Paths from one code to another: all dimensions together, or one after the other. Pure functions of arrays."""

from __future__ import annotations

import numpy as np

from molyneux.core import ConfigError, DataError
from molyneux.measure.latents.finite import require_finite


def homotopy_codes(z1: np.ndarray, z2: np.ndarray, steps: int = 6) -> np.ndarray:
    """Codes on the straight line from `z1` to `z2`: (1 - t) z1 + t z2 for `steps` evenly spaced t from 0 to 1.

    Bowman et al., "Generating Sentences from a Continuous Space" (CoNLL 2016), section 5.3.

    Args:
        z1: (..., D) where the paths begin.
        z2: (..., D) where they end.
        steps: codes on a path, both ends included.

    Returns:
        (..., steps, D). The ends are `z1` and `z2` to the last bit.

    Raises:
        ConfigError: no whole number of at least two steps. DataError: shapes that differ, or numbers that are not finite.
    """
    z1, z2 = _checked(z1, z2, steps)
    share = np.linspace(0.0, 1.0, steps)[:, None]
    return _mixed(z1[..., None, :], z2[..., None, :], share)


def dimensionwise_codes(z1: np.ndarray, z2: np.ndarray, steps: int = 6) -> np.ndarray:
    """Codes on the path from `z1` to `z2` that moves one dimension at a time.

    Leg i moves dimension i from z1_i to z2_i; the dimensions before it are at `z2` already, those after it still at `z1`. So each
    leg begins where the one before it ended. Zhang et al., "Unsupervised Representation Disentanglement of Text" (RepL4NLP 2021),
    section 5.

    Args:
        z1: (..., D) where the paths begin.
        z2: (..., D) where they end.
        steps: codes on a leg, both ends included.

    Returns:
        (..., D, steps, D): leg, step, dimension.

    Raises:
        ConfigError: no whole number of at least two steps. DataError: shapes that differ, or numbers that are not finite.
    """
    z1, z2 = _checked(z1, z2, steps)
    size = z1.shape[-1]
    leg, dimension = np.arange(size)[:, None, None], np.arange(size)
    share = np.where(dimension == leg, np.linspace(0.0, 1.0, steps)[:, None], (dimension < leg).astype(np.float64))
    return _mixed(z1[..., None, None, :], z2[..., None, None, :], share)


def _mixed(z1: np.ndarray, z2: np.ndarray, share: np.ndarray) -> np.ndarray:
    mixed: np.ndarray = (1.0 - share) * z1 + share * z2
    return mixed


def _checked(z1: np.ndarray, z2: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(steps, int | np.integer) or steps < 2:
        raise ConfigError(f"steps: expected a whole number of at least 2, both ends included, got {steps!r}")
    first, second = np.asarray(z1, np.float64), np.asarray(z2, np.float64)
    if first.shape != second.shape or first.ndim < 1:
        raise DataError(f"expected two codes (..., D) of one shape, got {first.shape} and {second.shape}")
    require_finite("z1", first)
    require_finite("z2", second)
    return first, second
