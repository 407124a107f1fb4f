"""Scenes altered after they were drawn, and the material that judges of pictures are trained on, which is made of them.

Scenes get other textures, no object, an object that fills the picture, or one of an unknown shape; no split holds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, get_args

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, JudgeMaterial, NuisanceWindow, Spec, nearest, seeds
from molyneux.data.dataset import Split
from molyneux.data.worlds.captioned_world import CaptionedWorld, Scenes
from molyneux.data.worlds.raster import SHAPES, Figures, masks

Change = Literal["empty", "filled", "restyled", "silhouette", "unknown shape"]
"""Without the object; with an object that fills the picture but for a narrow border; in other textures; the object white on
black, in one channel; with an object of a shape that the world does not have."""

_FILLED = 0.9
"""Side of the object that fills a picture. The border keeps its ground, because a picture is stretched to its darkest ground."""

_OUTSIDE = -10.0

_STROKES = {"line": 0.4, "spiral": 0.05}
"""Thickness of unknown shapes made of strokes, in sizes."""

_STYLES = 64
"""Textures in which each scene can be seen, for means over them."""


def judge_material(
    world: CaptionedWorld,
    modality: str,
    split: Split,
    size: int,
    *,
    seed: int,
    windows: Mapping[str, Mapping[str, Sequence[NuisanceWindow]]],
) -> JudgeMaterial:
    """What a judge is trained on, from the first `size` scenes of a split; with altered scenes for judges of pictures.

    `windows` are those of `JudgeMaterial`, by modality and factor.
    """
    views, known = world.source(split, size, seed=seed), windows.get(modality, {})
    if modality != "image":
        return JudgeMaterial(views, known)
    altered = partial(AlteredScenes, world, split, size, seed=seed)
    return JudgeMaterial(
        views,
        known,
        restyled=altered(change="restyled", styles=_STYLES),
        styles=_STYLES if world.textured else 1,
        empty=altered(change="empty"),
        filled=altered(change="filled"),
        silhouette=altered(change="silhouette"),
        unknown_shapes=altered(change="unknown shape"),
        round_negatives="circle" not in world.shapes,
        object_factors=("shape", "size", "colour", "position"),
        shape_factors=("shape",),
        extent_factors=("size",),
        place_factors=("position",),
    )


class AlteredScenes:
    """The first `size` scenes of a split as a `Source`, each `styles` times in a row.

    Style 0 has the scene's own textures, the others have drawn ones, of the same seed.

    Raises:
        ConfigError: unknown change, or sizes below 1.
    """

    def __init__(self, world: CaptionedWorld, split: Split, size: int, *, seed: int, change: Change, styles: int = 1) -> None:
        if change not in get_args(Change):
            raise ConfigError(f"unknown change {change!r}; {nearest(str(change), get_args(Change))}")
        if min(size, styles) < 1:
            raise ConfigError(f"expected size and styles of at least 1, got {size} and {styles}")
        self._world, self._split, self._size, self._seed = world, split, size, seed
        self._change, self._styles = change, styles

    @property
    def spec(self) -> Spec:
        """What a batch looks like; an empty picture keeps the factors its scene had."""
        spec = self._world.spec
        if self._change != "silhouette":
            return spec
        image = spec.modality("image")
        return Spec((replace(image, shape=(1, *image.shape[1:])),), spec.factors)

    def __len__(self) -> int:
        return self._size * self._styles

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        which, style = np.divmod(np.asarray(indices), self._styles)
        scenes = self._restyled(self._world.scenes(which, split=self._split, seed=self._seed), style)
        if self._change == "silhouette":
            views = {"image": torch.from_numpy(masks(scenes.figures, self.spec.modality("image").shape[1])[:, None])}
            return Batch(views, factors=torch.from_numpy(scenes.factors))
        if self._change == "unknown shape":
            scenes = replace(scenes, figures=self._of_unknown_shape(scenes))
        elif self._change == "filled":
            scenes = replace(scenes, figures=_squares(len(scenes), 0.5, _FILLED))
        elif self._change == "empty":
            scenes = replace(scenes, figures=_squares(len(scenes), _OUTSIDE, 1.0))
        return self._world.view(scenes)

    def _of_unknown_shape(self, scenes: Scenes) -> Figures:
        """Figures of the same size at the same places, whose shapes follow each other in the order of the scenes."""
        own = {SHAPES.index(name) for name in self._world.shapes}
        others = np.array([code for code in range(len(SHAPES)) if code not in own])
        strokes = np.array([_STROKES.get(name, 0.0) for name in SHAPES])
        shape = others[scenes.indices % len(others)]
        return replace(scenes.figures, shape=shape, thickness=strokes[shape] * scenes.figures.size)

    def _restyled(self, scenes: Scenes, style: np.ndarray) -> Scenes:
        columns = list(self._world.textured)
        if not columns or not style.any():
            return scenes
        stream = seeds.key(self._seed, self._world.name, self._split, "styles")
        drawn = seeds.uniforms(stream, scenes.indices * self._styles + style, len(columns))
        draws = scenes.draws.copy()
        draws[:, columns] = np.where(style[:, None] > 0, drawn, draws[:, columns])
        return replace(scenes, draws=draws)


def _squares(count: int, centre: float, size: float) -> Figures:
    """Squares of one place and size."""
    numbers = np.zeros(count)
    return Figures(np.full(count, SHAPES.index("square")), np.full((count, 2), centre), numbers + size, numbers, numbers)
