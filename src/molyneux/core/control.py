"""Controls that are trained: predictors that are given what a task should not be solved by, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from molyneux.core.batch import Batch, Source


@runtime_checkable
class Control(Protocol):
    """A control of an agreement target: the numbers that it is given of each sample, and samples to train it on.

    A model has to be better than a classifier of these numbers; otherwise nothing shows that it uses anything else.
    """

    @property
    def target(self) -> str:
        """Name of the target that it is a control of."""
        ...

    def features(self, batch: Batch) -> np.ndarray:
        """The numbers of samples, (B, F) float64; NaN where one is unknown."""
        ...

    def samples(self, size: int, *, seed: int) -> Source:
        """Samples to train on, from the training distribution, with the target and all that `features` needs."""
        ...


@runtime_checkable
class HasControls(Protocol):
    """A data set that has controls."""

    def controls(self) -> Mapping[str, Control]:
        """Controls by the name that stands in `Score.controls`."""
        ...
