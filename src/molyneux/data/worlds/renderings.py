"""The reference pictures of a `RenderingReader`: every figure that a world can draw, and means that show a figure no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from molyneux.data.worlds.raster import Figures, masks

TURNS = 40
"""Rotations of each figure."""

OFFSETS = (-1 / 3, 0.0, 1 / 3)
"""Places within a pixel, along each axis."""

BLURS = (0.0, 0.8, 1.4)
"""Standard deviations of the Gaussians that figures are softened with, in pixels of a 64-pixel picture."""

WINDOWS = ((0.5, 1), (1.0, 1), (0.25, 2))
"""Ranges of rotations over which means are taken: the width as a share of the rotation after which a figure looks the same, and
the number of windows, one or two opposite ones (for what looks the same upside down)."""

ALIKE = 0.96
"""A mean that is this similar to a rendering of what it is a mean of still shows it (a circle, turned)."""

BRIGHTEST = 16
"""Pixels whose mean is the brightness of a picture."""

_PHASES = 10


class FigureKind(NamedTuple):
    """A figure in one size: codes of shape and size, and how to draw it."""

    shape: int
    size: int
    outline: int
    length: float
    thickness: float


@dataclass(frozen=True)
class Renderings:
    """Pictures of figures, centred and of norm 1; those that show both shape and size come first.

    Args:
        pictures: (T, side * side) float32.
        codes: (T, 2) int64 codes of shape and size, -1 = cannot be read.
        side: of a picture in pixels, odd.
    """

    pictures: np.ndarray
    codes: np.ndarray
    side: int


def renderings(kinds: tuple[FigureKind, ...], image_size: int) -> Renderings:
    """All renderings of figures, and all means that show them no more.

    Renderings: every kind, turned, moved within a pixel and softened. Means: of a kind over at least half of the turn after
    which it looks the same, or over opposite turns (its shape cannot be told), of all kinds of a size and of everything over
    all turns, and of a shape in two sizes at the same turn (its size cannot be told).
    """
    side = 2 * int(np.ceil(0.5 * max(kind.length for kind in kinds) * image_size * 2**0.5)) + 3
    angles = np.arange(TURNS) * (2 * np.pi / TURNS)
    true = {kind: _draw(kind, angles, side, image_size) for kind in kinds}
    found = [(_soft(turned, image_size), (kind.shape, kind.size)) for kind, turned in true.items()]
    found += [(means, (-1, kind.size)) for kind, turned in true.items() for means in _turned_means(turned)]
    found += _mixtures(true)
    found, side = _trimmed(found)
    pictures = [_unit(evened(item.reshape(-1, side * side))[0]) for item, _ in found]
    codes = [np.tile(code, (len(item), 1)) for item, (_, code) in zip(pictures, found, strict=True)]
    return Renderings(np.concatenate(pictures), np.concatenate(codes), side)


def _trimmed(found: list[tuple[np.ndarray, tuple[int, int]]]) -> tuple[list[tuple[np.ndarray, tuple[int, int]]], int]:
    """The same pictures without the border that is black in all of them, and their side."""
    side = found[0][0].shape[-1]
    lit = np.max([pictures.reshape(-1, side, side).max(0) for pictures, _ in found], 0) > 1e-3
    away = np.abs(np.arange(side) - side // 2)
    reach = int(np.maximum(away[:, None], away)[lit].max())
    kept = slice(side // 2 - reach, side // 2 + reach + 1)
    return [(pictures[..., kept, kept], codes) for pictures, codes in found], 2 * reach + 1


def evened(light: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Brightness (n, pixels) with what is at least half as bright as the brightest at 1, since textures vary so much.

    Also the brightness (n,) of the brightest pixels.
    """
    brightest = torch.from_numpy(light).topk(BRIGHTEST).values.mean(1).numpy()  # partitions by numpy take 50 times as long
    return np.minimum(light / np.maximum(0.5 * brightest, 1e-6)[:, None], 1.0), brightest


def _draw(kind: FigureKind, angles: np.ndarray, side: int, image_size: int) -> np.ndarray:
    """(TURNS, 9, side, side): turned, and with the centroid at each place within the middle pixel."""
    first = _masks(kind, angles, np.full((len(angles), 2), 0.5 * side), side, image_size).astype(np.float64)
    middle = np.arange(side) + 0.5
    area = first.sum((1, 2))
    centroid = np.stack([(first * middle).sum((1, 2)) / area, (first * middle[:, None]).sum((1, 2)) / area], 1)
    places = np.array([(x, y) for x in OFFSETS for y in OFFSETS])
    centre = (side - centroid)[:, None] + places
    count = len(places)
    drawn = _masks(kind, np.repeat(angles, count), centre.reshape(-1, 2), side, image_size)
    return drawn.reshape(len(angles), count, side, side)


def _masks(kind: FigureKind, angles: np.ndarray, centre: np.ndarray, side: int, image_size: int) -> np.ndarray:
    """Masks of one kind at centres in pixels, (n, side, side) float32 in 0..1."""
    scale, count = image_size / side, len(angles)
    figures = Figures(
        shape=np.full(count, kind.outline),
        centre=centre / side,
        size=np.full(count, kind.length * scale),
        rotation=angles.astype(np.float64),
        thickness=np.full(count, kind.thickness * scale),
    )
    return masks(figures, side) / np.float32(255)


def _soft(drawn: np.ndarray, image_size: int) -> np.ndarray:
    """A rendering sharp and softened, (..., side, side) -> (blurs, ..., side, side)."""
    from scipy.ndimage import gaussian_filter  # half a second to import, and only readers need it

    return np.stack([gaussian_filter(drawn, blur * image_size / 64, axes=(-2, -1)) if blur else drawn for blur in BLURS])


def _turned_means(turned: np.ndarray) -> list[np.ndarray]:
    """Means (n, 9, side, side) over windows of turns that are not like any of the turned figures themselves."""
    flat = _middle(turned)
    period = _period(flat @ flat[0])
    found = []
    for window, count in WINDOWS:
        members = _members(period, window, count)
        means = np.stack([np.roll(turned, -start, 0)[members].mean(0) for start in range(0, period, max(1, period // _PHASES))])
        likeness = (_middle(means) @ flat.T).max(1)
        found.append(means[likeness < ALIKE])
    return [means for means in found if len(means)]


def _middle(drawn: np.ndarray) -> np.ndarray:
    """Of pictures (n, 9, side, side) those in the middle of the pixel, ready to be compared."""
    return _unit(evened(drawn[:, 4].reshape(len(drawn), -1))[0])


def _members(period: int, window: float, count: int) -> np.ndarray:
    """Numbers of the turns in one window, or in two opposite ones."""
    width = max(1, round(window * period))
    starts = np.arange(count) * period // count
    return np.unique((starts[:, None] + np.arange(width)).ravel())


def _period(likeness: np.ndarray) -> int:
    """After how many turns a figure looks the same again, from its similarity (TURNS,) to the first."""
    divisors = (period for period in range(1, TURNS) if TURNS % period == 0)
    return next((period for period in divisors if likeness[::period].min() > ALIKE), TURNS)


def _mixtures(true: Mapping[FigureKind, np.ndarray]) -> list[tuple[np.ndarray, tuple[int, int]]]:
    """Means over shapes, over sizes, and over both."""
    over_turns = {kind: turned.mean(0) for kind, turned in true.items()}
    shapes, sizes = ({getattr(kind, name) for kind in true} for name in ("shape", "size"))
    found = []
    if len(shapes) > 1:
        for size in sizes:
            found.append((np.mean([mean for kind, mean in over_turns.items() if kind.size == size], 0), (-1, size)))
    if len(sizes) > 1:
        found.append((np.mean(list(over_turns.values()), 0), (-1, -1)))
        for shape in shapes:
            alike = [turned for kind, turned in true.items() if kind.shape == shape]
            pairs = [(one, other) for i, one in enumerate(alike) for other in alike[:i]]
            found += [((one + other) / 2, (shape, -1)) for one, other in pairs]
    return found


def _unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
