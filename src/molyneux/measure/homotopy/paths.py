"""Paths from one code to another, all dimensions together or one after the other, and pairs of samples to join by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, ConfigError, DataError, NotApplicableError
from molyneux.measure.codes import from_named, require_finite
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import decoded

_FIRST = 1000
"""Samples from which pairs are drawn, or four times as many as pairs."""


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
    return np.asarray((1.0 - share) * z1 + share * z2)


def _checked(z1: np.ndarray, z2: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(steps, int | np.integer) or steps < 2:
        raise ConfigError(f"steps: expected a whole number of at least 2, both ends included, got {steps!r}")
    first, second = np.asarray(z1, np.float64), np.asarray(z2, np.float64)
    if first.shape != second.shape or first.ndim < 1:
        raise DataError(f"expected two codes (..., D) of one shape, got {first.shape} and {second.shape}")
    require_finite("z1", first)
    require_finite("z2", second)
    return first, second


@dataclass(frozen=True)
class Pairs:
    """Samples two by two: sample p goes to sample P + p.

    Args:
        batch: 2P samples that differ, all modalities present.
        means: by code (`shared`, `private.image`) the posterior means given all modalities, (2P, D) float64.
    """

    batch: Batch
    means: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.batch) // 2

    def parts(self, modality: str) -> dict[str, int]:
        """The codes that reach a modality, with their numbers of dimensions."""
        return {code: self.means[code].shape[1] for code in ("shared", f"private.{modality}") if code in self.means}

    def paths(self, modality: str, chosen: np.ndarray, *, steps: int) -> np.ndarray:
        """The codes between the samples of P chosen pairs, (P, 1 + D, steps, D): the line, then a leg for each dimension."""
        means = np.concatenate([self.means[code] for code in self.parts(modality)], 1)
        first, second = means[chosen], means[chosen + len(self)]
        return np.concatenate([homotopy_codes(first, second, steps)[:, None], dimensionwise_codes(first, second, steps)], 1)


def draw_pairs(evaluation: Evaluation, pairs: int) -> Pairs:
    """Pairs of samples that have all available modalities, drawn at random from the first samples; fewer where there are too few.

    Raises:
        NotApplicableError: there are not two such samples. DataError: a code is not finite; names code, row and dimension.
    """
    table = evaluation.table(evaluation.available, max(_FIRST, 4 * pairs))
    count = min(2 * pairs, len(table) // 2 * 2)
    if not count:
        raise NotApplicableError("homotopy needs two samples that have all modalities: measure on another source")
    chosen = evaluation.rng("homotopy", "pairs").permutation(len(table))[:count]
    means = {name: values[chosen] for name, values in table.means.items()}
    return Pairs(evaluation.source.batch(table.rows[chosen]), means)


def decode_paths(evaluation: Evaluation, pairs: Pairs, modality: str, *, chosen: np.ndarray, paths: np.ndarray) -> Tensor:
    """The stored views that the model makes of codes (P, ..., D) of a modality; other codes stay those of the first samples.

    Returns:
        (P, N, *shape) for the N codes of each chosen pair.
    """
    flat = torch.from_numpy(paths.reshape(-1, paths.shape[-1])).to(evaluation.device, torch.float32)
    each, sizes = len(flat) // len(chosen), pairs.parts(modality)
    moved = dict(zip(sizes, torch.split(flat, list(sizes.values()), dim=1), strict=True))
    still = {name: torch.from_numpy(mean[chosen]).to(flat).repeat_interleave(each, 0) for name, mean in pairs.means.items()}
    codes = from_named({**still, **moved})
    portions = [
        decoded(evaluation.model, codes[start : start + evaluation.batch_size], evaluation.spec, only=[modality])[modality]
        for start in range(0, len(flat), evaluation.batch_size)
    ]
    made = torch.cat(portions)
    return made.reshape(len(chosen), each, *made.shape[1:])
