"""The picture of a GeBiD scene: its geometry, and one colour on one grey."""

from __future__ import annotations

import numpy as np

from molyneux.core.compiled import compiled
from molyneux.data.worlds import gebid_settings as attributes
from molyneux.data.worlds.gebid_settings import Settings
from molyneux.data.worlds.levels import SceneSpace
from molyneux.data.worlds.painting import roughen
from molyneux.data.worlds.raster import SHAPES, SPIRAL_GROWTH, draw
from molyneux.data.worlds.scenes import Scenes

COLOUR, GRAIN = 5, 8
"""Columns of `Scenes.draws` that decide on noise; the colour has three."""


CANVAS = 64.0
"""Pixels of the picture in which `gebid_attributes` gives lengths."""

_SMALL, _LARGE = attributes.LENGTHS.values()


class Geometry:
    """Published drawing commands as figures, by shape and size.

    Pillow's boxes include their last pixel: a box of L covers L + 1 pixels. Its lines start in the middle of a pixel, and it cuts
    the corners of a spiral's strokes to whole pixels, which moves the spiral by half a pixel to its pole. Lengths between the
    two published ones are interpolated.

    Args:
        shapes: names of the shapes.
        lengths: L of the sizes, pixels.

    Attributes:
        codes: (shapes,) int64 codes of the rasteriser.
        sizes: (shapes, sizes) float64 size of the figure, scene units.
        strokes: (shapes, sizes) float64 thickness, scene units.
        corners: (shapes, sizes, 2) float64 where it is drawn below level 5, pixels.
        offsets: (shapes, sizes) float64 from there to the figure's centre along both axes, pixels.
    """

    def __init__(self, shapes: list[str], lengths: list[float]) -> None:
        length = np.asarray(lengths, np.float64)
        share = (length - _SMALL) / (_LARGE - _SMALL)
        growth = attributes.SPIRAL_GROWTH[0] + share * (attributes.SPIRAL_GROWTH[1] - attributes.SPIRAL_GROWTH[0])
        size = {"line": length, "pieslice": length + 0.5, "spiral": growth / SPIRAL_GROWTH}
        stroke = {"line": length / 2.0, "spiral": np.ones_like(length)}
        offset = {"pieslice": (length + 0.5) / 2.0, "spiral": np.zeros_like(length)}
        corner = [np.array(attributes.CORNERS[shape], np.float64) for shape in shapes]
        self.codes = np.array([SHAPES.index(shape) for shape in shapes])
        self.sizes = np.stack([size.get(shape, length + 1.0) for shape in shapes]) / CANVAS
        self.strokes = np.stack([stroke.get(shape, np.zeros_like(length)) for shape in shapes]) / CANVAS
        self.offsets = np.stack([offset.get(shape, (length + 1.0) / 2.0) for shape in shapes])
        self.corners = np.stack([small + share[:, None] * (large - small) for small, large in corner])


class Painter:
    """Draws and colours scenes.

    Args:
        settings: of the world.
        space: of the world's scenes.
    """

    def __init__(self, settings: Settings, space: SceneSpace) -> None:
        self.settings, self.space = settings, space
        self._colours = np.array(list(settings.choices["colours"].values()), np.uint8)
        self._greys = np.array(list(attributes.BACKGROUNDS.values()), np.uint8)

    def paint(self, scenes: Scenes, out: np.ndarray) -> None:
        """Paint scenes into RGB pictures `out` (n, 3, image_size, image_size) uint8."""
        masks = np.zeros((len(scenes), *out.shape[2:]), np.uint8)
        draw(scenes.figures, self.settings.anti_alias, masks)
        ground = np.broadcast_to(self._ground(scenes)[:, None, None], masks.shape).copy()
        if self.settings.noise.background:
            roughen(ground, scenes.draws[:, GRAIN], self.settings.noise.background)
        colour_masks(masks, self._inks(scenes), ground, out)

    def _ground(self, scenes: Scenes) -> np.ndarray:
        """Grey behind every scene, (n,) uint8."""
        if self.settings.level < 4:
            return np.full(len(scenes), self._greys[0])
        return np.asarray(self._greys[self.space.codes(scenes.factors, "background")])

    def _inks(self, scenes: Scenes) -> np.ndarray:
        """RGB of every scene, (n, 3) uint8."""
        if self.settings.level < 3:
            return np.tile(np.array(attributes.BLACK, np.uint8), (len(scenes), 1))
        inks = self._colours[self.space.codes(scenes.factors, "colour")]
        return vary_colour(inks, scenes.draws[:, COLOUR : COLOUR + 3]) if self.settings.noise.colour else inks


def vary_colour(colour: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """The published noise of colours: RGB (n, 3) uint8 and numbers of [0, 1) (n, 3) give RGB (n, 3) uint8."""
    change = np.where(colour == 255, -np.floor(uniforms * 61), np.floor(uniforms * 61))
    change = np.where((colour > 0) & (colour < 255), np.floor(uniforms * 60) - 30, change)
    return np.asarray(np.clip(colour + change, 0, 255), np.uint8)


@compiled
def colour_masks(masks: np.ndarray, ink: np.ndarray, ground: np.ndarray, out: np.ndarray) -> None:
    """Colour masks on a grey ground, by coverage.

    Args:
        masks: (n, S, S) uint8 coverage, 0..255.
        ink: (n, 3) uint8 RGB.
        ground: (n, S, S) uint8 grey.
        out: (n, 3, S, S) uint8 RGB.
    """
    for row in range(len(masks)):
        for channel in range(3):
            colour = int(ink[row, channel])
            for i in range(masks.shape[1]):
                for j in range(masks.shape[2]):
                    cover = int(masks[row, i, j])
                    out[row, channel, i, j] = (cover * colour + (255 - cover) * ground[row, i, j] + 127) // 255
