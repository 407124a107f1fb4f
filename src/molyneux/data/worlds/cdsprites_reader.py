"""The reader of CdSprites pictures on black ground."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from molyneux.core import Spec
from molyneux.data.worlds import cdsprites_settings as attributes
from molyneux.data.worlds.cdsprites_settings import Settings
from molyneux.data.worlds.dsprites import PLACES
from molyneux.data.worlds.raster import SHAPES
from molyneux.data.worlds.rendering_reader import RenderingReader
from molyneux.data.worlds.renderings import Kind

_SLACK = 2.0
"""Positions by which a figure may lie outside of a quadrant's."""


def can_be_read(settings: Settings) -> bool:
    """Whether pictures of these settings are read without error.

    They are not where there are backgrounds (level 5), noise in size or background, or the original sprites; nor where borders
    are smooth, pictures have fewer than 64 pixels a side or shapes are thin, so that true views resemble means of views.
    """
    noisy = settings.noise.size or settings.noise.background
    sharp = settings.image_size >= 64 and not settings.anti_alias and "spiral" not in settings.choices["shapes"].values()
    return settings.level <= 4 and settings.dsprites is None and not noisy and sharp


def rendering_reader(settings: Settings, spec: Spec, factors: Sequence[str]) -> RenderingReader:
    """The reader of pictures of these settings.

    Args:
        settings: of a world without backgrounds.
        spec: of its samples.
        factors: names of those that pictures show.
    """
    sizes = settings.choices["sizes"] if settings.level >= 2 else {"": max(settings.choices["sizes"].values())}
    kinds = [
        Kind(shape, size, SHAPES.index(name), attributes.BOXES[name] * scale / 64, attributes.STROKES.get(name, 0.0) * scale / 64)
        for shape, name in enumerate(settings.choices["shapes"].values())
        for size, scale in enumerate(sizes.values())
    ]
    colours = np.array(list(settings.choices["colours"].values()), np.float64)
    return RenderingReader(
        kinds,
        colours=colours if "colour" in factors else None,
        places=_quadrants(settings.image_size) if "position" in factors else None,
        factors=[factor.name for factor in spec.factors if factor.name in factors and factor.name in _READ],
        modality="image",
        image_size=settings.image_size,
    )


_READ = ("shape", "size", "colour", "position")


def _quadrants(image_size: int) -> np.ndarray:
    """(4, 4) left, top, right and bottom of the quadrants in pixels."""
    ends = [(min(x), min(y), max(x), max(y)) for x, y in attributes.QUADRANTS.values()]
    low, high = np.array(ends)[:, :2] - _SLACK, np.array(ends)[:, 2:] + _SLACK
    pixels = 32 + (np.concatenate([low, high], 1) - (PLACES - 1) / 2) * attributes.STEP
    return np.asarray(pixels * image_size / 64)
