"""Scenes that differ from others in one thing: the second scenes of minimal pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from molyneux.core import ConfigError, nearest, seeds
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.shapeworld.scenes.placement import SceneRows, fits, order
from molyneux.data.worlds.shapeworld.scenes.scenes import Scenes
from molyneux.data.worlds.shapeworld.scenes.settings import SceneSettings

EDITS = ("mirrored", "flipped", "colour", "shape", "object", "colours", "shapes", "places", "removed")
"""What may differ: left and right, up and down, the colour or the shape of an entity or both, two that exchange colours, shapes
(with their sizes) or places, or an entity that is not there."""

_EXCHANGED = {"colours": ("colour",), "shapes": ("shape", "size", "distortion"), "places": ("centre",)}

_STRETCHED = (1, 7)
"""Rectangles and ellipses have a distortion."""

_NUMBERS = 6

_REFLECTIONS = ("mirrored", "flipped")


def edited(
    scenes: Scenes, settings: SceneSettings, edits: Sequence[str], stream: np.ndarray, indices: np.ndarray
) -> tuple[Scenes, np.ndarray, np.ndarray]:
    """Scenes with one difference, by number: each is a function of the scene, the settings, the stream and its number alone.

    Args:
        scenes: n of them.
        settings: what they were drawn from; the new ones keep to them.
        edits: names of `EDITS`, equally likely.
        stream: key of the random numbers.
        indices: (n,) numbers of the samples.

    Returns:
        n scenes, positions in `edits` (n,), and whether there is such a scene, (n,) bool: it differs and keeps to the settings.

    Raises:
        ConfigError: an unknown edit, or none.
    """
    unknown = [name for name in edits if name not in EDITS]
    if unknown or not edits:
        raise ConfigError(f"edits: {nearest(unknown[0], EDITS) if unknown else 'expected at least one'}")
    numbers = seeds.uniforms(stream, indices, _NUMBERS)
    which = np.minimum((numbers[:, 0] * len(edits)).astype(np.int64), len(edits) - 1)
    out = Scenes(**{field.name: getattr(scenes, field.name).copy() for field in fields(scenes)})
    for place, name in enumerate(edits):
        rows = np.flatnonzero(which == place)
        if name in _REFLECTIONS:
            _reflect(out, rows, name == "mirrored")
        else:
            _edit(out, rows, name, settings, numbers[rows])
    placed = np.ones(len(out), bool)
    before, moved = scenes.overlap, out.present != scenes.present
    for name in ("shape", "size", "distortion", "rotation"):
        moved |= getattr(out, name) != getattr(scenes, name)
    moved |= (out.centre != scenes.centre).any(2)
    _place(SceneRows(**vars(out)), moved, before, float(settings.overlap), float(settings.outside), placed)
    placed &= settings.contains(out)
    return out, which, placed & differing(scenes, out).any(1)


def differing(scenes: Scenes, others: Scenes) -> np.ndarray:
    """Which entities of scenes have no equal at their place in others, (n, E) bool."""
    same = scenes.present & others.present & (scenes.shape == others.shape) & (scenes.colour == others.colour)
    same &= (scenes.centre == others.centre).all(2) & (scenes.size == others.size) & (scenes.shade == others.shade)
    return np.asarray(scenes.present & ~same)


def _reflect(out: Scenes, rows: np.ndarray, sideways: bool) -> None:
    axis = 0 if sideways else 1
    out.centre[rows, :, axis] = np.where(out.present[rows], 1 - out.centre[rows, :, axis], 0.0)
    turned = ((0.0 if sideways else 0.5) - out.rotation[rows]) % 1.0
    out.rotation[rows] = np.where(out.present[rows], turned, 0.0)


def _edit(out: Scenes, rows: np.ndarray, name: str, settings: SceneSettings, numbers: np.ndarray) -> None:
    count = out.present[rows].sum(1)
    one = np.minimum((numbers[:, 1] * count).astype(np.int64), count - 1)
    other = np.minimum((numbers[:, 2] * (count - 1)).astype(np.int64), np.maximum(count - 2, 0))
    other = np.where(count > 1, other + (other >= one), one)
    if name in ("colour", "object"):
        values = np.flatnonzero(settings.table().any(0))
        out.colour[rows, one] = values[(numbers[:, 3] * len(values)).astype(np.int64)]
    if name in ("shape", "object"):
        values = np.flatnonzero(settings.table().any(1))
        out.shape[rows, one] = values[(numbers[:, 5] * len(values)).astype(np.int64)]
        low, high = settings.distortion
        stretched = np.isin(out.shape[rows, one], _STRETCHED)
        drawn = np.floor((low + numbers[:, 4] * (high - low)) * 2.0**20 + 0.5) / 2.0**20  # as `sampling.on_grid`
        out.distortion[rows, one] = np.where(stretched, drawn, 1.0)
    if name == "removed":
        last = count - 1
        for field in fields(out):
            if field.name not in ("present", "overlap"):
                array = getattr(out, field.name)
                array[rows, one] = array[rows, last]
        out.present[rows, last] = False
    for attribute in _EXCHANGED.get(name, ()):
        array = getattr(out, attribute)
        array[rows, one], array[rows, other] = array[rows, other].copy(), array[rows, one].copy()


@compiled
def _place(rows: SceneRows, moved: np.ndarray, before: np.ndarray, overlap: float, outside: float, placed: np.ndarray) -> None:
    """Measure overlaps anew, and put entities in the order of drawing; whether all fit, into `placed`."""
    for row in range(len(placed)):
        rows.overlap[row] = 0
        count = int(np.int64(0))  # a literal would compile `order` for itself
        for e in range(rows.present.shape[1]):
            if rows.present[row, e]:
                count += 1
                if placed[row] and not fits(row, e, rows, overlap, outside, moved, before):
                    placed[row] = False
        if placed[row] and overlap > 0:
            order(row, count, rows)
