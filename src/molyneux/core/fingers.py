"""Fingers and pens in series: where each of them is, and when it is lifted. `molyneux.report.plots` exports `finger_paths`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LIFTED = 0.1
"""Pressure up to which a finger is lifted: what models draw is not exactly 0."""
_FINGERS = (["x", "y", "pressure"], ["x", "y", "down"])


def finger_paths(view: np.ndarray, channels: Sequence[str]) -> list[np.ndarray]:
    """The places of each finger in a series (T, D), (T, 2) each, NaN where it is lifted; none where no columns are fingers.

    Args:
        view: the series.
        channels: the names of its columns; those of a finger, or a pen, end in `x`, `y` and `pressure` or `down`.
    """
    ends = [name.rpartition(" ")[2] for name in channels]
    starts = [place for place in range(len(ends) - 2) if ends[place : place + 3] in _FINGERS]
    found = [np.where(view[:, start + 2 : start + 3] > LIFTED, view[:, start : start + 2], np.nan) for start in starts]
    return [points for points in found if np.isfinite(points).any()]
