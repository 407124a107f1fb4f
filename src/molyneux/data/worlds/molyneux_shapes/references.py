"""What the two-way choice is compared with: the outlines that geometry reads in both senses, without a list of shapes."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from molyneux.data.worlds.molyneux_shapes.matching import signatures
from molyneux.data.worlds.molyneux_shapes.readers import border_points, contact_points, cover


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
