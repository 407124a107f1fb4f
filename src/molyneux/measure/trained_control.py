"""A control of agreement that is trained: boosted trees on what a control may know of samples."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, final

import numpy as np
import torch
from torch.distributions import Bernoulli, Distribution

from molyneux.core import Batch, Control, NotApplicableError

TRAINING = 16_000
"""Training samples that the trees are boosted on."""

_ROUNDS, _CHUNK = 100, 4_000
_SURE = 1e-6


@final
class TrainedControl:
    """Predicts agreement from the features of a control alone, by boosted trees; satisfies `core.Predicts`.

    The trees are scikit-learn's `HistGradientBoostingClassifier` with its usual settings and 100 rounds, fitted when they are
    first needed, on samples of the distribution of training that the control draws itself: how many samples a model is given
    makes the control no weaker.

    Args:
        control: what is known of samples.
        seed: of the samples and of the trees.
        samples: how many are fitted on.
    """

    def __init__(self, control: Control, *, seed: int, samples: int = TRAINING) -> None:
        self.control, self.target, self._seed, self._samples = control, control.target, seed, samples

    def predict(self, batch: Batch, observed: Collection[str] | None = None) -> Mapping[str, Distribution]:
        """The probability of agreement of each sample, whatever of it is observed."""
        return {self.target: Bernoulli(probs=torch.from_numpy(self.probabilities(batch)))}

    def logits(self, batch: Batch) -> np.ndarray:
        """The log-odds of agreement of each sample, (B,)."""
        share = self.probabilities(batch)
        return np.asarray(np.log(share / (1 - share)))

    def probabilities(self, batch: Batch) -> np.ndarray:
        """The probability of agreement of each sample, (B,)."""
        from threadpoolctl import threadpool_limits

        trees, columns = self._fitted
        features = self.control.features(batch.to("cpu"))[:, columns]
        with threadpool_limits(1):
            found = trees.predict_proba(features)[:, 1] if len(features) else np.empty(0)
        return np.clip(np.asarray(found, np.float64), _SURE, 1 - _SURE)

    @cached_property
    def _fitted(self) -> tuple[Any, np.ndarray]:
        """The trees and the features that they look at: those that are known of some sample and differ."""
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        source = self.control.samples(self._samples, seed=self._seed)
        features, truth = [], []
        for start in range(0, len(source), _CHUNK):
            batch = source.batch(np.arange(start, min(start + _CHUNK, len(source))))
            features.append(self.control.features(batch))
            truth.append(batch.targets[self.target].numpy())
        given, known = np.concatenate(features), np.concatenate(truth)
        if len(np.unique(known)) < 2:
            raise NotApplicableError(f"the target {self.target} has one value in all training samples of its control")
        columns = np.array([len(np.unique(column)) > 1 for column in given.T])
        trees = HistGradientBoostingClassifier(max_iter=_ROUNDS, early_stopping=False, random_state=self._seed % 2**32)
        with threadpool_limits(1):
            return trees.fit(given[:, columns], known), columns
