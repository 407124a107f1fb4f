"""Scenes, which are drawn once and viewed many ways, and the views of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from molyneux.core import Modality
from molyneux.data.dataset import Split
from molyneux.data.worlds.raster import Figures


@dataclass(frozen=True)
class Scenes:
    """A batch of scenes, one row each; every view of a world is made from these arrays alone.

    Args:
        indices: (n,) int64 sample numbers in their split.
        split: the stream they come from.
        seed: the root seed.
        factors: (n, F) int64 codes in the order of the world's factors.
        figures: where the object is and what shape it has, in scene units (0..1, x right, y down).
        draws: (n, k) float64 uniform numbers of each scene, for what the factors do not say (textures, noise).
    """

    indices: np.ndarray
    split: Split
    seed: int
    factors: np.ndarray
    figures: Figures
    draws: np.ndarray

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, part: slice) -> Scenes:
        """The scenes of a slice."""
        return Scenes(self.indices[part], self.split, self.seed, self.factors[part], self.figures[part], self.draws[part])


PaintScenes = Callable[[Scenes, np.ndarray], None]
"""Paints scenes into RGB pictures (n, 3, image_size, image_size) uint8."""


@dataclass(frozen=True)
class View:
    """One way to look at scenes.

    Args:
        modality: what it looks like in a batch.
        make: the views (n, *modality.shape) of n scenes, in the modality's dtype.
    """

    modality: Modality
    make: Callable[[Scenes], np.ndarray]
