"""The picture of a GeBiD scene: one colour on one grey."""

from __future__ import annotations

import numpy as np

from molyneux.core.compiled import compiled
from molyneux.data.worlds import gebid_attributes as attributes
from molyneux.data.worlds.gebid_settings import Settings
from molyneux.data.worlds.painting import roughen
from molyneux.data.worlds.raster import draw
from molyneux.data.worlds.repertoire import Repertoire
from molyneux.data.worlds.scenes import Scenes

COLOUR, GRAIN = 5, 8
"""Columns of `Scenes.draws` that decide on noise; the colour has three."""


class Painter:
    """Draws and colours scenes.

    Args:
        settings: of the world.
        repertoire: of the world.
    """

    def __init__(self, settings: Settings, repertoire: Repertoire) -> None:
        self.settings, self.repertoire = settings, repertoire
        self._colours = np.array(list(settings.choices.colours.values()), np.uint8)
        self._greys = np.array(list(attributes.BACKGROUNDS.values()), np.uint8)

    def paint(self, scenes: Scenes, out: np.ndarray) -> None:
        """Paint scenes into RGB pictures `out` (n, 3, image_size, image_size) uint8."""
        masks = np.zeros((len(scenes), *out.shape[2:]), np.uint8)
        draw(scenes.figures, self.settings.anti_alias, masks)
        ground = np.broadcast_to(self._ground(scenes)[:, None, None], masks.shape).copy()
        if self.settings.noise.background:
            roughen(ground, scenes.draws[:, GRAIN], self.settings.noise.background)
        lay(masks, self._inks(scenes), ground, out)

    def _ground(self, scenes: Scenes) -> np.ndarray:
        """Grey behind every scene, (n,) uint8."""
        if self.settings.level < 4:
            return np.full(len(scenes), self._greys[0])
        return np.asarray(self._greys[self.repertoire.codes(scenes.factors, "background")])

    def _inks(self, scenes: Scenes) -> np.ndarray:
        """RGB of every scene, (n, 3) uint8."""
        if self.settings.level < 3:
            return np.tile(np.array(attributes.BLACK, np.uint8), (len(scenes), 1))
        inks = self._colours[self.repertoire.codes(scenes.factors, "colour")]
        return vary_colour(inks, scenes.draws[:, COLOUR : COLOUR + 3]) if self.settings.noise.colour else inks


def vary_colour(colour: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """The published noise of colours: RGB (n, 3) uint8 and numbers of [0, 1) (n, 3) give RGB (n, 3) uint8."""
    change = np.where(colour == 255, -np.floor(uniforms * 61), np.floor(uniforms * 61))
    change = np.where((colour > 0) & (colour < 255), np.floor(uniforms * 60) - 30, change)
    return np.asarray(np.clip(colour + change, 0, 255), np.uint8)


def lay(masks: np.ndarray, ink: np.ndarray, ground: np.ndarray, out: np.ndarray) -> None:
    """Colour masks on a grey ground, by coverage.

    Args:
        masks: (n, S, S) uint8 coverage, 0..255.
        ink: (n, 3) uint8 RGB.
        ground: (n, S, S) uint8 grey.
        out: (n, 3, S, S) uint8 RGB.
    """
    _lay(masks, ink, ground, out)


@compiled
def _lay(masks: np.ndarray, ink: np.ndarray, ground: np.ndarray, out: np.ndarray) -> None:
    for row in range(len(masks)):
        for channel in range(3):
            colour = int(ink[row, channel])
            for i in range(masks.shape[1]):
                for j in range(masks.shape[2]):
                    cover = int(masks[row, i, j])
                    out[row, channel, i, j] = (cover * colour + (255 - cover) * ground[row, i, j] + 127) // 255
