"""What judges of worlds in levels learn from beside true views: scenes that were altered after they were drawn, with labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from molyneux.core import Batch, JudgeMaterial, seeds
from molyneux.data.dataset import Split
from molyneux.data.worlds import foreign_shapes
from molyneux.data.worlds.altered_pictures import AlteredPictures
from molyneux.data.worlds.altered_scenes import NUMBERS, PLACED, Altered, SceneChange, rows_of
from molyneux.data.worlds.captioned_world import CaptionedWorld
from molyneux.data.worlds.raster import Figures
from molyneux.data.worlds.touch import CONTACTS, disturb, follow, traced

_SHARES = np.array([0.4, 0.25, 0.2, 0.15])
"""Of foreign shapes, wrong sizes, two figures one after the other, and figures between the positions of the world."""


class AlteredContours(Altered):
    """Contours of shapes, sizes or positions that the world does not have, or of two figures; see `Altered`."""

    modality = "touch"

    def batch(self, indices: np.ndarray) -> Batch:
        """The contours at these positions."""
        indices = np.asarray(indices)
        scenes, drawn = self._scenes(indices), seeds.uniforms(self._key, indices, NUMBERS)
        codes, figures = scenes.factors[:, self._columns], scenes.figures
        kind = (drawn[:, 0, None] >= _SHARES.cumsum()[:-1]).sum(1)
        foreign, resized, joined, displaced = (np.flatnonzero(kind == number) for number in range(4))
        ratio = np.where(kind == 1, self._wrong_sizes(scenes, drawn[:, 1]), 1.0)
        moved = self._between_positions(figures, scenes, drawn[:, 6:10]).centre
        centre = np.where((kind == 3)[:, None], moved, figures.centre)
        altered = replace(figures, size=figures.size * ratio, thickness=figures.thickness * ratio, centre=centre)
        contours: np.ndarray = self._world.view(replace(scenes, figures=altered)).views["touch"].numpy()
        self._label(codes, resized, SceneChange(0, ("shape", "size")))
        self._label(codes, displaced, SceneChange(0, ("position",)))
        contours[foreign] = self._felt(self._foreign(rows_of(figures, foreign), drawn[foreign]), indices[foreign])
        self._label(codes, foreign, SceneChange(0, ("shape",), ("size",)))
        others = self._scenes((drawn[joined, 2] * self._size).astype(np.int64)).figures
        own = rows_of(figures, joined)
        contours[joined] = self._felt(_joined(own, others, drawn[joined, 3:6]), indices[joined])
        self._label(codes, joined, SceneChange(0, ("shape", "size"), ("position",)))
        self._label(codes, joined[_alike(own, others)], SceneChange(0, (), PLACED))
        return Batch({"touch": torch.from_numpy(contours)}, factors=torch.from_numpy(codes))

    def _foreign(self, figures: Figures, drawn: np.ndarray) -> np.ndarray:
        """Points (n, contacts, 2) along foreign shapes in the places of figures."""
        radii = foreign_shapes.outlines(drawn[:, 6:22], rounded=self._rounded)
        length = figures.size * (0.6 + 0.5 * drawn[:, 2])
        points = foreign_shapes.along(radii, drawn[:, 3], CONTACTS) * length[:, None, None]
        return np.asarray(points + figures.centre[:, None])

    def _felt(self, points: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """Contours through points (n, contacts, 2), with the sensor's noise."""
        found = traced(points)
        disturb(found, seeds.uniforms(self._key ^ np.uint64(1), indices, 4 * found.shape[1]), self._noise)
        return found


def _joined(first: Figures, second: Figures, numbers: np.ndarray) -> np.ndarray:
    """Points (n, contacts, 2), a quarter to three quarters of them along one figure and the others along a second."""
    one, other = (follow(figures, numbers[:, i], CONTACTS)[:, :, :2] for i, figures in enumerate((first, second)))
    cut = CONTACTS * (0.25 + 0.5 * numbers[:, 2, None, None])
    return np.where(np.arange(CONTACTS)[:, None] < cut, one, other)


def _alike(first: Figures, second: Figures) -> np.ndarray:
    """(n,) whether figures of the same shape lie nearly in the same place and have nearly the same size."""
    away = np.hypot(*(first.centre - second.centre).T)
    near = (away < 0.2 * first.size) & (np.abs(np.log(first.size / second.size)) < 0.1)
    return np.asarray((first.shape == second.shape) & near)


def judge_material(world: CaptionedWorld, modality: str, split: Split, size: int, *, seed: int) -> JudgeMaterial:
    """What a judge of a modality of a world in levels learns from; see `World.judge_material`."""
    views = world.source(split, size, seed=seed)
    if modality not in ("image", "touch"):
        return JudgeMaterial(views)
    altered = AlteredPictures if modality == "image" else AlteredContours
    return JudgeMaterial(views, altered(world, split, size, seed=seed))
