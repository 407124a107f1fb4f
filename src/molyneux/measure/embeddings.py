"""Embeddings of views as vectors: features of a network, or principal components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor
from torch.nn import functional

from molyneux.core import Batch, Features, Modality, views
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import having


@dataclass(frozen=True)
class Embedding:
    """Vectors of the views of one modality.

    Args:
        modality: of what.
        network: whose features they are; None for principal components.
        mean: (N,) mean of the numbers of the views that the components were fitted to.
        directions: (N, D) principal directions.
    """

    modality: Modality
    network: Features | None = None
    mean: np.ndarray | None = None
    directions: np.ndarray | None = None

    def __call__(self, view: Tensor) -> np.ndarray:
        """The vectors (B, D) float64 of stored views (B, *shape)."""
        if self.network is not None:
            return np.asarray(self.network.features(view.cpu()).cpu().double().numpy())
        assert self.mean is not None and self.directions is not None  # noqa: PT018 (both or a network)
        return np.asarray((numbers_of(self.modality, view) - self.mean) @ self.directions, dtype=np.float64)

    @property
    def origin(self) -> dict[str, object]:
        """Plain data for the origin of scores."""
        if self.network is not None:
            return dict(self.network.origin)
        return {"principal components": 0 if self.directions is None else self.directions.shape[1]}

    def of(self, evaluation: Evaluation, samples: int) -> np.ndarray:
        """The vectors of the true views of the first samples, (N, D); NaN where a sample lacks the modality."""
        name, parts = self.modality.name, []
        for start, batch in evaluation.batches(samples):
            found = self(_present(evaluation, evaluation.true_batch(start, batch), name))
            parts.append(scattered(found, batch.mask(name).cpu().numpy()))
        return np.concatenate(parts)


def fit_embedding(evaluation: Evaluation, name: str, fit: Evaluation, *, dimensions: int, samples: int) -> Embedding:
    """The features of the network of a modality, where it has one, else principal components of true views.

    Args:
        evaluation: has the network.
        name: of the modality.
        fit: whose first samples the components are fitted to; some of them have the modality.
        dimensions: components at most.
        samples: of `fit` at most.
    """
    modality, network = evaluation.spec.modality(name), evaluation.network(name)
    if network is not None:
        return Embedding(modality, network)
    batches = (_present(fit, fit.true_batch(start, batch), name) for start, batch in fit.batches(samples))
    numbers = np.concatenate([numbers_of(modality, view) for view in batches])
    mean = numbers.mean(0)
    noise = fit.rng("embedding", name).normal(size=(numbers.shape[1], min(dimensions + 10, *numbers.shape)))
    return Embedding(modality, None, mean, _principal(numbers - mean, noise, dimensions))


def numbers_of(modality: Modality, view: Tensor) -> np.ndarray:
    """Stored views as numbers, (B, N) float32: symbols as one-hot vectors, one after the other."""
    ready = views.to_model(modality, view.cpu())
    if modality.symbols:
        ready = functional.one_hot(ready.reshape(len(ready), -1), len(modality.symbols)).float()
    return np.asarray(ready.flatten(1).numpy())


def scattered(rows: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Rows (n, D) at the n places where a mask (N,) holds, NaN elsewhere, (N, D)."""
    found = np.full((len(mask), rows.shape[1]), np.nan)
    found[mask] = rows
    return found


def _present(evaluation: Evaluation, batch: Batch, name: str) -> Tensor:
    """The views of the samples that have the modality, with padding beyond their lengths."""
    part = having(batch, (name,))
    return part.without_rest(name, evaluation.spec, part.views[name])


def _principal(centred: np.ndarray, noise: np.ndarray, dimensions: int) -> np.ndarray:
    """Directions (N, D) of largest variance, by subspace iteration from noise (N, D + 10) (Halko et al. 2011, algorithm 4.4)."""
    basis = np.linalg.qr(centred @ noise)[0]
    for _ in range(4):
        basis = np.linalg.qr(centred @ np.linalg.qr(centred.T @ basis)[0])[0]
    return np.asarray(np.linalg.svd(basis.T @ centred, full_matrices=False)[2][:dimensions].T)
