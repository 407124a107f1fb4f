"""Colours that a world does not have, for pictures that were altered after they were drawn."""

from __future__ import annotations

import numpy as np

CANDIDATES = 8
"""Colours that are drawn for each picture, of which the first is taken that the world does not have."""

_NEAR = 5
"""How many of them lie around a colour of the world."""

_REACH = 115
"""How far from it, at most, along each channel."""

_APART, _APART_AS_DRAWN = 0.2, 0.25
"""Smallest distance from all colours of the world, where brightness counts for nothing and where it counts."""

_BLACK = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of the grey in a colour that pictures with a background may lack, because they were stretched."""


def known_colours(colours: np.ndarray, *, relative: bool, stretched: bool) -> np.ndarray:
    """Colours (K, 3) as pictures show them, 0..1, from those of the settings (C, 3), 0..255.

    Args:
        colours: RGB.
        relative: whether they are ratios, shown at full brightness.
        stretched: whether what is darkest in a picture is made black.
    """
    shown = colours / (colours.max(1, keepdims=True) if relative else 255.0)
    if not stretched:
        return np.asarray(shown)
    black = np.array(_BLACK)[:, None, None] * shown.min(1)[:, None]
    return np.asarray(((shown - black) / (1 - black.clip(max=0.99))).reshape(-1, 3))


def foreign_colours(known: np.ndarray, numbers: np.ndarray, *, relative: bool) -> np.ndarray:
    """Colours (n, 3), 0..1, that are far from all of a world's; half of them still resemble one.

    Args:
        known: (K, 3) of the world, 0..1.
        numbers: (n, 3 * CANDIDATES) of [0, 1).
        relative: whether brightness counts for nothing: then the largest channel is 1.
    """
    drawn = numbers.reshape(len(numbers), CANDIDATES, 3)
    around = known[(numbers[:, 0] * len(known)).astype(np.int64)][:, None]
    near = (around + (2 * drawn - 1) * (_REACH / 255)).clip(0.02, 1)
    tried = np.where((np.arange(CANDIDATES) < _NEAR)[:, None], near, 0.02 + 0.98 * drawn)
    if relative:
        tried = tried / tried.max(2, keepdims=True)
    away = np.linalg.norm(tried[:, :, None] - known, axis=3).min(2)
    first = (away >= (_APART if relative else _APART_AS_DRAWN)).argmax(1)
    return np.asarray(tried[np.arange(len(tried)), first])
