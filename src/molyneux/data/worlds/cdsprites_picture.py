"""The picture of a CdSprites scene."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from molyneux.data.worlds import textures
from molyneux.data.worlds.cdsprites_settings import WHITE, Settings
from molyneux.data.worlds.distributions import pick
from molyneux.data.worlds.dsprites import load_archive
from molyneux.data.worlds.levels import SceneSpace
from molyneux.data.worlds.painting import DARK_CLEAN, DARK_PUBLISHED, LIGHT, Paint, paint
from molyneux.data.worlds.raster import draw
from molyneux.data.worlds.scenes import PaintScenes, Scenes

FRONT, BACK, SHADE, GRAIN = 4, 6, 9, 12
"""Columns of `Scenes.draws` that decide on textures (two each) and noise (three for shade)."""


class Painter:
    """Draws and paints scenes.

    Args:
        settings: of the world.
        space: of the world's scenes.
    """

    def __init__(self, settings: Settings, space: SceneSpace) -> None:
        self.settings, self.space = settings, space
        dark = DARK_PUBLISHED if settings.dark_background == "published" else DARK_CLEAN
        self._shades = np.stack([LIGHT, dark])
        self._colours = np.array(list(settings.choices["colours"].values()), np.float64)

    def prepared(self) -> PaintScenes:
        """What paints scenes, with the textures as they are now."""
        return partial(self._paint, bank=self._bank())

    def _paint(self, scenes: Scenes, out: np.ndarray, *, bank: np.ndarray) -> None:
        what = Paint(
            colour=self._colour(scenes),
            front=_textures(scenes.draws[:, FRONT], scenes.draws[:, FRONT + 1], bank, self._varied),
            back=_textures(scenes.draws[:, BACK], scenes.draws[:, BACK + 1], bank, self._varied),
            ground=self.space.codes(scenes.factors, "background") if self.settings.level >= 5 else np.full(len(scenes), -1),
            shades=self._shades,
            noise=scenes.draws[:, GRAIN] if self.settings.noise.background else np.zeros(len(scenes)),
            amplitude=float(self.settings.noise.background),
        )
        paint(self._masks(scenes), bank, what, out)

    @property
    def _varied(self) -> bool:
        """Procedural textures may be rolled and turned; photographs are used as they are, as published."""
        return self.settings.textures == "procedural"

    def _bank(self) -> np.ndarray:
        if self.settings.level < 3 or self.settings.textures is None:
            return textures.flat(self.settings.image_size)
        if self.settings.textures == "procedural":
            return textures.procedural(self.settings.image_size)
        return textures.folder(Path(self.settings.textures), self.settings.image_size)

    def _colour(self, scenes: Scenes) -> np.ndarray:
        """RGB of every scene, (n, 3) float64."""
        if self.settings.level < 3:
            colour = np.tile(np.array(WHITE, np.float64), (len(scenes), 1))
        else:
            colour = self._colours[self.space.codes(scenes.factors, "colour")]
        if not self.settings.noise.shade:
            return colour
        shift = (2.0 * scenes.draws[:, SHADE : SHADE + 3] - 1.0) * self.settings.noise.shade
        rendered = colour * (255.0 / colour.max(1, keepdims=True))  # the shift is meant in what is seen, which is stretched
        return np.asarray(np.clip(rendered + shift, 1.0, 255.0))

    def _masks(self, scenes: Scenes) -> np.ndarray:
        if self.settings.dsprites is None:
            masks = np.zeros((len(scenes), self.settings.image_size, self.settings.image_size), np.uint8)
            draw(scenes.figures, self.settings.anti_alias, masks)
            return masks
        scales = [round(scale * 10) - 5 for scale in self.settings.choices["sizes"].values()]
        kept = tuple(sorted(set(scales)))
        place = np.array([kept.index(scale) for scale in scales])
        largest = np.full(len(scenes), int(np.argmax(scales)))
        size = self.space.codes(scenes.factors, "size") if self.settings.level >= 2 else largest
        rotation, x, y = (self.space.codes(scenes.factors, name) for name in ("rotation", "x", "y"))
        return load_archive(self.settings.dsprites, kept).masks(scenes.figures.shape, place[size], rotation, x, y)


def _textures(which: np.ndarray, how: np.ndarray, bank: np.ndarray, varied: bool) -> np.ndarray:
    """Number, symmetry and rolls of textures, (n, 4) int64, from uniform numbers (n,) each."""
    side = bank.shape[1]
    number = pick(which, len(bank))
    if not varied:
        return np.stack([number, *[np.zeros_like(number)] * 3], 1)
    symmetry, place = np.divmod(pick(how, 8 * side * side), side * side)
    return np.stack([number, symmetry, place // side, place % side], 1)
