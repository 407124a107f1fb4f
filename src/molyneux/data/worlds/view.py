"""A view: one modality of a scene and how it is made; for pictures, by a brush."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from molyneux.core import Modality
from molyneux.data.worlds.scenes import Scenes

Brush = Callable[[Scenes, np.ndarray], None]
"""Paints scenes into RGB pictures (n, 3, image_size, image_size) uint8."""


@dataclass(frozen=True)
class View:
    """One way to look at scenes.

    Args:
        modality: what it looks like in a batch.
        make: the views (n, *modality.shape) of n scenes, in the modality's dtype.
    """

    modality: Modality
    make: Callable[[Scenes], np.ndarray]
