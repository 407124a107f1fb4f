"""Geometry of GeBiD scenes: the published drawing commands as figures."""

from __future__ import annotations

import numpy as np

from molyneux.data.worlds import gebid_attributes as attributes
from molyneux.data.worlds.raster import SHAPES, SPIRAL_GROWTH

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
