"""What the two-way choice is compared with: outlines that geometry reads in both senses, and low-level statistics of them."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from molyneux.data.worlds.molyneux_shapes.comparison import ANGLES, DIRECTIONS
from molyneux.data.worlds.molyneux_shapes.matching import signatures
from molyneux.data.worlds.molyneux_shapes.readers import border_points, contact_points, cover

STATISTICS = ("area", "perimeter", "compactness", "elongation", "unevenness")
"""Names of what `statistics` gives."""


def outlines(modality: str, view: Tensor, *, level: int) -> tuple[np.ndarray, np.ndarray]:
    """The outlines that pictures or touches show, of any shapes: no list of shapes is used.

    Args:
        modality: "image" or "touch".
        view: stored views (n, *shape).
        level: of the world that made the pictures.

    Returns:
        Radii (n, 256), which `comparison.distances` compares, and the radius of a disc of the same area (n,), in pixels or in the
        unit of the hand.
    """
    found = border_points(cover(view.float(), level).numpy()) if modality == "image" else contact_points(view.numpy())
    return signatures(*found)


def statistics(radii: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Low-level statistics (n, 5) of outlines, in the order of `STATISTICS`.

    Area and perimeter (logarithms, in the square of the unit and in the unit), what does not depend on the unit: the square of the
    perimeter by the area (logarithm), the ratio of the second moments along and across the long axis (logarithm), and the standard
    deviation of the radii.

    Args:
        radii: (n, 256) of outlines.
        size: (n,) radii of discs of the same area.
    """
    x, y = radii * np.cos(ANGLES), radii * np.sin(ANGLES)
    length = np.hypot(np.diff(x, axis=1, append=x[:, :1]), np.diff(y, axis=1, append=y[:, :1])).sum(1)
    weight = radii**4 / (4 * DIRECTIONS)  # second moments in polar coordinates, without the factor 2 pi
    along, across, both = (
        (weight * part).sum(1) for part in (np.cos(ANGLES) ** 2, np.sin(ANGLES) ** 2, np.cos(ANGLES) * np.sin(ANGLES))
    )
    middle, away = (along + across) / 2, np.sqrt(((along - across) / 2) ** 2 + both**2)
    columns = [
        2 * np.log(size),
        np.log(length * size),
        2 * np.log(length),
        np.log((middle + away) / np.maximum(middle - away, 1e-9)),
        radii.std(1),
    ]
    return np.stack(columns, 1)
