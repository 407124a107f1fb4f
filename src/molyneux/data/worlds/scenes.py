"""Scenes: what is drawn once and viewed many ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from molyneux.data.worlds.raster import Figures
from molyneux.data.worlds.world import Split


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
