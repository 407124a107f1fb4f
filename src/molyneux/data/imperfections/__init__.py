"""Corruptions: seeded, vectorised damage to the views of a source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from molyneux.core import Batch, Spec

__all__ = ["Corruption"]


class Corruption(ABC):
    """Damages views with a strength; strength 0 changes nothing."""

    name: ClassVar[str]

    @abstractmethod
    def corrupt(self, batch: Batch, spec: Spec, strength: float, indices: np.ndarray, seed: int) -> Batch:
        """The batch, damaged; a function of sample numbers and seed alone."""
