"""Views of characters: pictures of their outlines, and what a pen does while it writes them."""

from __future__ import annotations

import math

import numpy as np

from molyneux.core.tooling.compiled import compiled
from molyneux.data.benchmarks.hanzi_strokes.glyphs import Glyphs
from molyneux.data.worlds.polygons import polygon_masks

STEPS = 128
"""Moments of a view of strokes."""

CHANNELS = ("x", "y", "down")
"""What is known at each moment: the place of the pen in its own frame, and 1 where it writes, 0 where it is lifted."""

TURN, SMALLEST, LARGEST, MOVED, THIN, THICK = math.radians(10.0), 0.70, 0.85, 0.03, 0.7, 1.4
"""Of pictures: largest rotation either way; size, and largest move either way, in sides of the picture; thickness of strokes."""

PEN_TURN, PEN_SMALLEST, PEN_LARGEST, SPEED, TREMOR = math.radians(15.0), 0.8, 1.2, 0.4, 0.008
"""Of strokes: largest rotation either way; scale; change of speed, a share of its mean; tremor, in sides of a character."""

PICTURE_DRAWS = 5
"""Uniform numbers of a picture: rotation, size, x, y, thickness."""

_GIVEN = 6
STROKE_DRAWS = _GIVEN + 2 * STEPS
"""Uniform numbers of a view of strokes: rotation, scale, four of the speed, and those of the tremor."""

UNEVEN = 4
"""Column from which on numbers of 0 make an even speed and no tremor."""

_CORRELATED = 0.6
"""How much of the tremor of a moment remains at the next one."""


def pictures(glyphs: Glyphs, which: np.ndarray, draws: np.ndarray, side: int) -> np.ndarray:
    """Pictures (n, 1, side, side) uint8: white characters on black, rotated, scaled, moved, with thinner or thicker strokes.

    A stroke becomes thicker where each point of its outline moves away from the nearest place of the pen.

    Args:
        glyphs: the characters.
        which: (n,) int64 the character of each picture.
        draws: (n, PICTURE_DRAWS) of [0, 1); 0.5 each is in the middle.
        side: in pixels.
    """
    thick = THIN + (THICK - THIN) * draws[:, 4]
    feet = glyphs.feet[which]
    outlines = feet + thick[:, None, None] * (glyphs.outlines[which] - feet)
    centre = 0.5 + MOVED * (2.0 * draws[:, 2:4] - 1.0)
    size = SMALLEST + (LARGEST - SMALLEST) * draws[:, 1]
    return polygon_masks(outlines, np.arange(len(which)), centre, size, TURN * (2.0 * draws[:, 0] - 1.0), side)[:, None]


def strokes(glyphs: Glyphs, which: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """What a pen does, (n, STEPS, 3) float32; the channels are `CHANNELS`.

    Places are told from the first one, in a frame that is rotated and scaled; the speed changes on the way, and the pen trembles.

    Args:
        glyphs: the characters.
        which: (n,) int64 the character of each view.
        draws: (n, STROKE_DRAWS) of [0, 1).
    """
    out = np.empty((len(which), STEPS, len(CHANNELS)), np.float32)
    _write(glyphs.paths, which, draws, out)
    return out


@compiled
def _write(paths: np.ndarray, which: np.ndarray, draws: np.ndarray, out: np.ndarray) -> None:
    steps, moments = out.shape[1], paths.shape[1]
    kept = math.sqrt(1.0 - _CORRELATED * _CORRELATED)
    for row in range(len(which)):
        given, path = draws[row], paths[which[row]]
        angle, size = PEN_TURN * (2.0 * given[0] - 1.0), PEN_SMALLEST + (PEN_LARGEST - PEN_SMALLEST) * given[1]
        cos, sin = size * math.cos(angle), size * math.sin(angle)
        once, twice = 2.0 * math.pi * given[2], 2.0 * math.pi * given[3]
        swing, sway = 0.6 * SPEED * given[4], 0.4 * SPEED * given[5]
        shake_x, shake_y, carried = 0.0, 0.0, 0.0
        for step in range(steps):
            time = step / (steps - 1)
            way = time + swing * (math.sin(2.0 * math.pi * time + once) - math.sin(once)) / (2.0 * math.pi)
            way += sway * (math.sin(4.0 * math.pi * time + twice) - math.sin(twice)) / (4.0 * math.pi)
            place = min(max(way, 0.0), 1.0) * (moments - 1)
            before = min(int(place), moments - 2)
            rest = place - before
            radius = math.sqrt(-2.0 * math.log(1.0 - given[_GIVEN + 2 * step]))  # Box and Muller, 1958
            turn, new = 2.0 * math.pi * given[_GIVEN + 2 * step + 1], 1.0 if step == 0 else kept
            shake_x = carried * shake_x + new * radius * math.cos(turn)
            shake_y = carried * shake_y + new * radius * math.sin(turn)
            carried = _CORRELATED
            x = path[before, 0] + rest * (path[before + 1, 0] - path[before, 0]) - path[0, 0] + TREMOR * shake_x
            y = path[before, 1] + rest * (path[before + 1, 1] - path[before, 1]) - path[0, 1] + TREMOR * shake_y
            out[row, step, 0], out[row, step, 1] = cos * x - sin * y, sin * x + cos * y
            out[row, step, 2] = path[before if rest < 0.5 else before + 1, 2]
