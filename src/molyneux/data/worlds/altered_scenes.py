"""Scenes that were altered after they were drawn: what their pictures and contours have in common.

Some show all factors, in a way that true views do not (without texture); the others show no shape, or no object at all.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from molyneux.core import NO_LABEL, UNREADABLE, Factor, Spec, seeds
from molyneux.data.dataset import Split
from molyneux.data.worlds.captioned_world import CaptionedWorld, SpriteScenes
from molyneux.data.worlds.raster import SHAPES, Figures

PLACED = ("shape", "size", "position")
"""Factors that two figures together do not show."""

_STEP = 1.18
"""Smallest ratio to every size of the world of a wrong size."""

_BEYOND, _SEEN = 3 / 64, 8192
"""Smallest distance from all positions of the world of what lies between them, in sides; the scenes that show these."""

NUMBERS = 64
"""Numbers of [0, 1) that an alteration is made from."""


class SceneChange(NamedTuple):
    """What an alteration leaves of a scene.

    Args:
        share: how often it occurs, relative to the others.
        unreadable: factors that cannot be read.
        unlabelled: factors that have no label.
    """

    share: int
    unreadable: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()


class Altered:
    """Altered scenes of a split as a `Source`, one for each scene.

    Args:
        world: whose scenes.
        split: which of them.
        size: how many, the first ones.
        seed: root seed of the split, and of everything drawn.
    """

    modality: str

    def __init__(self, world: CaptionedWorld, split: Split, size: int, *, seed: int) -> None:
        self._world, self._split, self._size, self._seed = world, split, size, seed
        self._key = seeds.key(seed, world.name, split, "altered", self.modality)
        known = world.spec
        self._factors = tuple(known.factor(name) for name in world.visible(self.modality))
        self._columns = [known.factor_index(factor.name) for factor in self._factors]
        self._side = known.modality("image").shape[1] if self.modality == "image" else 0
        self._rounded, self._noise = "circle" not in world.shapes, float(world.settings["touch_noise"])

    def __len__(self) -> int:
        return self._size

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that it shows, each with the last value `UNREADABLE`."""
        factors = tuple(Factor(factor.name, (*factor.values, UNREADABLE)) for factor in self._factors)
        return Spec((self._world.spec.modality(self.modality),), factors)

    def _scenes(self, indices: np.ndarray) -> SpriteScenes:
        return self._world.scenes(indices, split=self._split, seed=self._seed)

    def _label(self, codes: np.ndarray, rows: np.ndarray, change: SceneChange) -> None:
        """Set to unreadable the codes (n, F) of what altered pictures no longer show."""
        for column, factor in enumerate(self._factors):
            if factor.name in change.unreadable:
                codes[rows, column] = len(factor.values)
            elif factor.name in change.unlabelled:
                codes[rows, column] = NO_LABEL

    def _wrong_sizes(self, scenes: SpriteScenes, number: np.ndarray) -> np.ndarray:
        """Factors (n,) by which sizes of figures are multiplied to become sizes that the world does not have."""
        known = np.sort(np.log(np.unique(self._world.lengths)))
        low = np.append(known[0] + np.log(0.6), known + np.log(_STEP))
        high = np.append(known - np.log(_STEP), known[-1] + np.log(1.35))
        width = np.maximum(high - low, 0.0)
        place = number * width.sum()
        gap = (place[:, None] >= width.cumsum()[:-1]).sum(1)
        return np.asarray(np.exp(low[gap] + place - (width.cumsum() - width)[gap]) / self._world.length(scenes))

    def _between_positions(self, figures: Figures, scenes: SpriteScenes, numbers: np.ndarray) -> Figures:
        """Figures of scenes moved to between the positions of the world, along one axis or both, by numbers (n, 4)."""
        if "position" not in [factor.name for factor in self._factors]:
            return figures
        first, left, right, last = np.moveaxis(self._ranges[scenes.figures.shape, self._sizes(scenes)], 2, 0)
        margin = np.minimum(_BEYOND, (right - left) / 3)
        between = left + margin + numbers[:, :2] * (right - left - 2 * margin)
        anywhere = first + numbers[:, 1::-1] * (last - first)
        which = 3 * numbers[:, 2]  # x alone, y alone, both
        moved = np.stack([(which < 1) | (which >= 2), which >= 1], 1)
        return replace(figures, centre=np.where(moved, between, anywhere))

    @cached_property
    def _ranges(self) -> np.ndarray:
        """(shapes, sizes, 2, 4) where centres lie along x and y: first, last left or above, first right or below, last."""
        scenes = self._world.scenes(np.arange(_SEEN), split=self._split, seed=self._seed)
        size, centre = self._sizes(scenes), scenes.figures.centre
        found = np.tile([0.0, 0.5, 0.5, 1.0], (len(SHAPES), size.max() + 1, 2, 1))
        for shape, number in set(zip(scenes.figures.shape.tolist(), size.tolist(), strict=True)):
            own = centre[(scenes.figures.shape == shape) & (size == number)]
            low, high = own.min(0), own.max(0)
            near = own < (low + high) / 2
            left, right = np.where(near, own, low).max(0), np.where(near, high, own).min(0)
            found[shape, number] = np.stack([low, left, right, high], 1)
        return found

    def _sizes(self, scenes: SpriteScenes) -> np.ndarray:
        """(n,) numbers of the sizes of scenes, from the smallest."""
        return np.asarray((self._world.length(scenes)[:, None] > np.sort(self._world.lengths)).sum(1))

    def _is(self, scenes: SpriteScenes, names: tuple[str, ...]) -> np.ndarray:
        """(n,) whether figures have one of some shapes."""
        return np.isin(scenes.figures.shape, [SHAPES.index(name) for name in names])


def rows_of_scenes(scenes: SpriteScenes, rows: np.ndarray) -> SpriteScenes:
    """Scenes at some positions."""
    figures = rows_of(scenes.figures, rows)
    return replace(scenes, indices=scenes.indices[rows], factors=scenes.factors[rows], figures=figures, draws=scenes.draws[rows])


def rows_of(figures: Figures, rows: np.ndarray) -> Figures:
    """Figures at some positions."""
    return Figures(figures.shape[rows], figures.centre[rows], figures.size[rows], figures.rotation[rows], figures.thickness[rows])
