"""Controls that are trained: predictors that are given what a task should not be solved by, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from molyneux.core.batch import Batch, Source


@runtime_checkable
class Control(Protocol):
    """What a control of a target of agreement is told of samples, and samples to learn from.

    A model that is not better than a classifier that is trained on these numbers has not been shown to know what they leave out.
    """

    @property
    def target(self) -> str:
        """Name of the target that it is a control of."""
        ...

    def features(self, batch: Batch) -> np.ndarray:
        """What it is told of samples, (B, F) float64; NaN where something is unknown."""
        ...

    def samples(self, size: int, *, seed: int) -> Source:
        """Samples to learn from, of the distribution of training, with what `features` needs and the target."""
        ...


@runtime_checkable
class HasControls(Protocol):
    """A data set that has controls."""

    def controls(self) -> Mapping[str, Control]:
        """Controls by the name that stands in `Score.controls`."""
        ...
