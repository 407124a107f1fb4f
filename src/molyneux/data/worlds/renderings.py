"""The reference pictures of a `RenderingReader`: every figure that a world can draw, and pictures that are none of them.

All are centred on their centroid, smoothed by `SMOOTHING` and of norm 1. `codes` says what a reader reads where one is nearest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from molyneux.core.lazy import lazy_module
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds import foreign_shapes
from molyneux.data.worlds.raster import ELLIPSE_RATIO, SHAPES, Figures, masks

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import functional
else:
    torch = lazy_module("torch")
    functional = lazy_module("torch.nn.functional")

SMOOTHING = 0.7
"""Standard deviation in pixels of the Gaussian that all pictures are smoothed with, against the steps of borders. This and all
lengths are those of a 64-pixel picture."""

TURNS, FAR = 60, 0.23
"""Rotations of a figure in a full turn; a multiple for one that reaches farther than this, in sides of the picture."""

_CRISP = (0.95, 1.0, 1.05)
"""Sizes, in those of the world, of figures with crisp borders that are read."""

_READ = ((1.0, 0.0), (1.0, 0.06), (1.0, 0.11), (0.95, 0.06))
"""What else is read: sizes and standard deviations of Gaussian blur in square roots of the figure's area. Evening makes soft
figures larger: 1.05 would look as a crisp figure of 1.15 does."""

_SOFT = 0.11

_FINE, _OFFSETS = (-0.4, -0.2, 0.0, 0.2, 0.4), (-1 / 3, 0.0, 1 / 3)
"""Places within a pixel, along each axis, at which figures of the world and of the nearest wrong sizes are drawn crisply."""

_SMALL = 0.25
"""Length of figures, in sides of the picture, up to which these places matter, and foreign shapes have to be known one by one."""

_NEAREST, _NEXT = (1 / 1.12, 1.12), (1 / 1.16, 1.16, 1.2)
"""The nearest wrong sizes, in those of the world, and the next ones."""

_OVALS, _OVAL_SCALES = (0.48, 0.66, 0.75, 0.82, 0.9), (0.92, 1.0, 1.08)
"""Short by long axis of ellipses that a world does not have, and lengths in those with the area of its figures."""

_WRONG_BLURS = (0.145, 0.165, 0.2, 0.26, 0.36, 0.5)

_STEP = 1.1
"""Ratio of neighbouring wrong sizes with smooth borders."""

_AREAS, _LENGTHS = (0.8, 1.25), 1.04
"""Areas of foreign shapes, in those of the smallest and the largest figure of a size; and the ratio of neighbouring lengths."""

_WINDOWS = (0.6, 0.7, 0.8, 0.9, 1.0)
"""Widths of means over rotations, in rotations after which a figure looks the same."""

_STARTS = 8
_LIKE = 0.995
"""A mean that is this similar to one of its figures still shows it (a circle, turned)."""

HAZE = 0.08
"""Evened brightness up to which a pixel counts as black."""

INSIDE = 0.5
"""Evened brightness of a pixel that belongs to the figure, for its centre."""

BRIGHTEST = 16
"""Pixels whose mean is the brightness of a picture."""

_OUTLINE_TURNS, _FINER = 64, 3
"""Rotations of foreign outlines, and how many times finer they are drawn."""

_RESEMBLE = {"sector 90": {"pieslice"}, "sector 180": {"semicircle"}, "rectangle 1.8": {"line"}}
"""Foreign outlines that are too much like a shape that some worlds have."""

_FOREIGN = ("circle", "semicircle", "line", "pieslice")
"""Shapes that are known to be wrong where a world does not have them, drawn with the area of its figures."""


class FigureKind(NamedTuple):
    """A figure in one size: codes of shape and size, and how to draw it; lengths are in sides of the picture."""

    shape: int
    size: int
    outline: int
    length: float
    thickness: float

    @property
    def reach(self) -> float:
        """The largest distance of a point of the figure from its middle."""
        cornered = SHAPES[self.outline] in ("square", "line", "pieslice")
        return self.length * (0.71 if cornered else 0.55) + self.thickness / 2

    def scaled(self, ratio: float) -> FigureKind:
        """The same figure in another size, which the world does not have."""
        return self._replace(length=self.length * ratio, thickness=self.thickness * ratio)


@dataclass(frozen=True)
class Renderings:
    """Reference pictures; those that show both shape and size come first.

    Args:
        pictures: (T, side * side) float32 of norm 1.
        codes: (T, 2) int64 codes of shape and size, -1 = cannot be read.
        side: of a picture in pixels, odd.
    """

    pictures: np.ndarray
    codes: np.ndarray
    side: int


def renderings(kinds: tuple[FigureKind, ...], image_size: int, level: float) -> Renderings:
    """Reference pictures of the figures of a world.

    Args:
        kinds: all figures of the world.
        image_size: side of its pictures.
        level: share of the largest brightness from which on all brightness is the same (`evened`).
    """
    side = 2 * int(np.ceil(1.05 * max(kind.reach for kind in kinds) * image_size + 2)) + 1
    found = [*_true(kinds, side, image_size), *_wrong(kinds, side, image_size)]
    pictures = [_ready(group.pictures.reshape(-1, side, side), level, image_size, crisp=group.crisp) for group in found]
    codes = [np.tile(group.code, (len(part), 1)) for part, group in zip(pictures, found, strict=True)]
    return Renderings(np.concatenate(pictures), np.concatenate(codes), side)


class _Group(NamedTuple):
    """Pictures (n, side, side) and their code of shape and size.

    Pixels of crisp figures are covered or not; where figures are `crisp`, partly covered pixels are means of them over places
    within a pixel, and are not evened.
    """

    pictures: np.ndarray
    code: tuple[int, int]
    crisp: bool = False


def evened(light: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Brightness (n, pixels) divided by `level` times the largest and cut at 1, and the largest brightness (n,).

    Textures are at least half as bright as their brightest point. What is darker than `HAZE` of that counts as black.
    """
    brightest = torch.from_numpy(light).topk(BRIGHTEST).values.mean(1).numpy()  # partitions by numpy take 50 times as long
    even = np.minimum(light / np.maximum(level * brightest, 1e-6)[:, None], 1.0)
    return np.maximum(even - HAZE, 0.0) / (1 - HAZE), brightest


def _true(kinds: tuple[FigureKind, ...], side: int, image_size: int) -> Iterator[_Group]:
    for kind in kinds:
        code = (kind.shape, kind.size)
        yield from _at_places(kind, _FINE, code, side, image_size)
        for ratio in _CRISP:
            yield _Group(_draw(kind.scaled(ratio), side, image_size), code, crisp=True)
        for ratio, blur in _READ:
            yield _Group(_blurred(_draw(kind.scaled(ratio), side, image_size), blur), code)


def _at_places(
    kind: FigureKind, places: tuple[float, ...], code: tuple[int, int], side: int, image_size: int
) -> Iterator[_Group]:
    for place in product(places, places) if kind.length < _SMALL else ():
        yield _Group(_draw(kind, side, image_size, place=place, anti_alias=False), code)


def _wrong(kinds: tuple[FigureKind, ...], side: int, image_size: int) -> Iterator[_Group]:
    """References that are no figure of the world: blurred figures, other sizes, foreign shapes, and means over rotations."""
    for kind in kinds:
        turned = _draw(kind, side, image_size)
        for blur in _WRONG_BLURS:
            yield _Group(_blurred(turned, blur), (-1, -1))
        for mean in _turned_means(turned):
            yield _Group(mean, (-1, kind.size))
            yield _Group(_blurred(mean, _SOFT), (-1, kind.size))
    for shape in {kind.shape for kind in kinds}:
        yield from _wrong_sizes([kind for kind in kinds if kind.shape == shape], side, image_size)
    yield from _foreign(kinds, side, image_size)
    yield from _ovals(kinds, side, image_size)
    yield from _outlines(kinds, side, image_size)


def _wrong_sizes(kinds: list[FigureKind], side: int, image_size: int) -> Iterator[_Group]:
    """Figures of one shape in other sizes than the world's: crisp and close to them, smooth and blurred in all others."""
    lengths = np.array([kind.length for kind in kinds])
    for kind, ratio in product(kinds, (*_NEAREST, *_NEXT)):
        wrong = kind.scaled(ratio)
        if np.abs(np.log(wrong.length / lengths)).min() > np.log(1.119):
            yield from _at_places(wrong, _OFFSETS if ratio in _NEAREST else (), (-1, -1), side, image_size)
            yield _Group(_draw(wrong, side, image_size), (-1, -1), crisp=True)
    for length in _wrong_lengths(lengths):
        turned = _draw(kinds[0].scaled(length / kinds[0].length), side, image_size)
        for blur in (0.0, _SOFT):
            yield _Group(_blurred(turned, blur), (-1, -1))


def _foreign(kinds: tuple[FigureKind, ...], side: int, image_size: int) -> Iterator[_Group]:
    known = {kind.outline for kind in kinds}
    for size in {kind.size for kind in kinds}:
        areas = [_draw(kind, side, image_size)[0].sum() for kind in kinds if kind.size == size]
        for name in _FOREIGN:
            if (outline := SHAPES.index(name)) in known:
                continue
            unit = FigureKind(-1, -1, outline, 0.3, 0.12)
            fitting = (np.mean(areas) / _draw(unit, side, image_size)[0].sum()) ** 0.5
            for ratio in (0.8, 0.9, 1.0, 1.1, 1.25) if name == "circle" else (0.87, 1.0, 1.15):
                code = size if name == "circle" and 0.85 < ratio < 1.2 else -1
                yield _Group(_blurred(_draw(unit.scaled(fitting * ratio), side, image_size), 0.08), (-1, code))


def _ovals(kinds: tuple[FigureKind, ...], side: int, image_size: int) -> Iterator[_Group]:
    """Ellipses of other axes than the world's: nearly round ones resemble hearts, by their area and outline."""
    known = [1.0 if SHAPES[kind.outline] == "circle" else ELLIPSE_RATIO for kind in kinds]
    ratios = [ratio for ratio in _OVALS if np.abs(np.log(np.divide(ratio, known))).min() > np.log(1.15)]
    for size in {kind.size for kind in kinds}:
        area = np.mean([_draw(kind, side, image_size)[0].sum() for kind in kinds if kind.size == size])
        for ratio, scale in product(ratios, _OVAL_SCALES):
            covered = _oval(scale * (area / (np.pi * ratio)) ** 0.5, ratio, side)
            for blur in (0.0, 0.08):
                yield _Group(_blurred(covered, blur), (-1, -1), crisp=not blur)


def _outlines(kinds: tuple[FigureKind, ...], side: int, image_size: int) -> Iterator[_Group]:
    """Shapes that no world has, with areas between those of the smallest and the largest small figure."""
    known = {SHAPES[kind.outline] for kind in kinds}
    for size in {kind.size for kind in kinds if kind.length < _SMALL}:
        areas = [_draw(kind, side, image_size)[0].sum() for kind in kinds if kind.size == size]
        low, high = min(areas) * _AREAS[0], max(areas) * _AREAS[1]
        steps = 1 + int(np.ceil(np.log(high / low) / (2 * np.log(_LENGTHS))))
        for name, radii in foreign_shapes.wrong().items():
            if name in _RESEMBLE and known & _RESEMBLE[name]:
                continue
            for area in np.geomspace(low, high, steps):
                yield _Group(_outline(radii, area, side), (-1, -1))


def _outline(radii: np.ndarray, area: float, side: int) -> np.ndarray:
    """(n, side, side) float32: an outline turned, as often as it looks different, with smooth borders."""
    step, turns = foreign_shapes.DIRECTIONS // _OUTLINE_TURNS, _OUTLINE_TURNS
    while turns % 2 == 0 and np.allclose(np.roll(radii, step * turns // 2), radii, rtol=1e-3):
        turns //= 2
    distance, place = _polar(side)
    covered = np.zeros((turns, side, side), np.uint8)
    _count_covered(distance, place, radii * np.sqrt(area), step, covered)
    return covered.astype(np.float32) / np.float32(_FINER**2)


@lru_cache(maxsize=1)
def _polar(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Distance from the middle, and number of the nearest direction, of the points of a finer grid, (side * finer) twice."""
    middle = (np.arange(side * _FINER) + 0.5) / _FINER - side / 2
    place = np.arctan2(middle[:, None], middle) % (2 * np.pi) * (foreign_shapes.DIRECTIONS / (2 * np.pi))
    return np.hypot(middle, middle[:, None]), np.rint(place).astype(np.int64)


@compiled
def _count_covered(distance: np.ndarray, place: np.ndarray, radii: np.ndarray, step: int, out: np.ndarray) -> None:
    """How many points of the finer grid lie within an outline, for each turn and pixel, added to `out`."""
    finer = len(distance) // out.shape[1]
    for turn in range(len(out)):
        for i in range(len(distance)):
            for j in range(len(distance)):
                if distance[i, j] <= radii[(place[i, j] - step * turn) % len(radii)]:
                    out[turn, i // finer, j // finer] += 1


def _oval(radius: float, ratio: float, side: int) -> np.ndarray:
    """(n, side, side) float32: turned ellipses with smooth borders, from the longer radius in pixels."""
    middle = np.arange(side) + 0.5 - side / 2
    angle = np.arange(TURNS // 2)[:, None, None] * (2 * np.pi / TURNS)
    x = middle * np.cos(angle) + middle[:, None] * np.sin(angle)
    y = middle[:, None] * np.cos(angle) - middle * np.sin(angle)
    far = np.hypot(x, y / ratio) / radius
    slope = np.hypot(x, y / ratio**2) / (np.maximum(far, 1e-6) * radius**2)
    return np.asarray(np.clip(0.5 - (far - 1) / np.maximum(slope, 1e-6), 0, 1), np.float32)


def _wrong_lengths(lengths: np.ndarray) -> np.ndarray:
    """Lengths from 0.6 times the smallest to 1.5 times the largest of the world, each at least 12 % from every one of them."""
    first, last = np.log(0.6 * lengths.min()), np.log(1.5 * lengths.max())
    tried = np.exp(np.linspace(first, last, int((last - first) / np.log(_STEP))))
    nearest = np.abs(np.log(tried[:, None] / lengths)).min(1)
    edges = np.concatenate([lengths * 1.12, lengths / 1.12])
    away = np.abs(np.log(edges[:, None] / lengths)).min(1) >= np.log(1.119)
    return np.concatenate([tried[nearest > np.log(1.13)], edges[away]])


def _draw(
    kind: FigureKind, side: int, image_size: int, *, place: tuple[float, float] = (0.0, 0.0), anti_alias: bool = True
) -> np.ndarray:
    """(n, side, side) float32: turned, as often as it looks different, with the centroid at a place within the middle pixel."""
    centre = _centres(kind, side, image_size)
    return _turned(kind, side, image_size, 0.5 * side - centre + place, anti_alias=anti_alias)


def _turned(kind: FigureKind, side: int, image_size: int, centre: np.ndarray, *, anti_alias: bool) -> np.ndarray:
    """A figure turned by the first of all angles, as many as there are centres (n, 2) in pixels."""
    turns, scale = _turns(kind), image_size / side
    angles = np.arange(turns)[: len(centre)] * (2 * np.pi / turns)
    shape, length, thickness = (
        np.full(len(centre), value) for value in (kind.outline, kind.length * scale, kind.thickness * scale)
    )
    return masks(Figures(shape, centre / side, length, angles, thickness), side, anti_alias=anti_alias) / np.float32(255)


@lru_cache(maxsize=64)  # a figure is drawn at many places within a pixel
def _centres(kind: FigureKind, side: int, image_size: int) -> np.ndarray:
    """(n, 2) x and y of the centroid from the middle, in pixels, of a figure drawn in the middle, for each of its turns."""
    first = _turned(kind, side, image_size, np.full((_turns(kind), 2), 0.5 * side), anti_alias=True)
    middle = np.arange(side) + 0.5 - side / 2
    area = np.maximum(first.sum((1, 2)), 1e-6)
    centre = np.stack([(first.sum(1) * middle).sum(1) / area, (first.sum(2) * middle).sum(1) / area], 1)
    return centre[: _period(first)]


def _turns(kind: FigureKind) -> int:
    """Rotations of a figure in a full turn."""
    return TURNS * int(np.ceil(kind.reach / FAR))


def _period(turned: np.ndarray) -> int:
    """After how many turns a figure looks the same again."""
    turns = len(turned)
    flat = turned.reshape(len(turned), -1)
    likeness = flat @ flat[0] / np.maximum((flat**2).sum(1), 1e-6)
    divisors = (period for period in range(1, turns) if turns % period == 0)
    return next((period for period in divisors if likeness[::period].min() > _LIKE), turns)


def _turned_means(turned: np.ndarray) -> Iterator[np.ndarray]:
    """Means (n, side, side) over windows of rotations that are not like any of the figures themselves."""
    flat = turned.reshape(len(turned), -1)
    for window in _WINDOWS if len(turned) > 2 else ():
        width = round(window * len(turned))
        starts = np.arange(0, len(turned), max(1, len(turned) // _STARTS))
        means = np.stack([np.roll(turned, -start, 0)[:width].mean(0) for start in starts])
        likeness = (means.reshape(len(means), -1) @ flat.T / np.linalg.norm(flat, axis=1)).max(1)
        yield means[likeness < _LIKE * np.linalg.norm(means.reshape(len(means), -1), axis=1)]


def _blurred(pictures: np.ndarray, share: float) -> np.ndarray:
    """Pictures blurred by a Gaussian whose standard deviation is a share of the square root of what is lit."""
    from scipy.ndimage import gaussian_filter  # half a second to import, and only readers need it

    if not share or not len(pictures):
        return pictures
    return np.asarray(gaussian_filter(pictures, share * pictures[0].sum() ** 0.5, axes=(1, 2), truncate=3))


def _ready(pictures: np.ndarray, level: float, image_size: int, *, crisp: bool) -> np.ndarray:
    """Evened unless `crisp`, centred, smoothed and of norm 1, (n, side * side) float32."""
    flat = pictures.reshape(len(pictures), -1).astype(np.float32)
    light = torch.from_numpy(flat if crisp else evened(flat, level)[0]).view(pictures.shape)
    smooth = centred(light, centroid(light), pictures.shape[-1], SMOOTHING * image_size / 64).flatten(1)
    return np.asarray(functional.normalize(smooth, dim=1).numpy())


def centroid(light: Tensor) -> Tensor:
    """(n, 2) mean x and y of the pixels of evened brightness (n, H, W) that are at least 0.5; the middle if none is."""
    lit = (light > INSIDE).float()
    height, width = lit.shape[1:]
    total = lit.sum((1, 2))
    x = (lit.sum(1) * (torch.arange(width) + 0.5)).sum(1) / total
    y = (lit.sum(2) * (torch.arange(height) + 0.5)).sum(1) / total
    middle = torch.tensor([0.5 * width, 0.5 * height])
    return torch.stack([x, y], 1).where((total > 0)[:, None], middle)


def centred(light: Tensor, centre: Tensor, side: int, sigma: float) -> Tensor:
    """Smoothed brightness (n, side, side) around centres (n, 2), which may lie between pixels, of pictures (n, S, S)."""
    steps = torch.arange(side) - side // 2
    across, down = (gaussian(centre[:, axis, None] + steps, light.shape[-1], sigma) for axis in (0, 1))
    return down @ light @ across.transpose(1, 2)


def gaussian(places: Tensor, size: int, sigma: float) -> Tensor:
    """Weights (..., size) of the pixels of a row for its smoothed brightness at places (...) in pixels."""
    away = places[..., None] - (torch.arange(size) + 0.5)
    exponent = (-0.5 * (away / sigma) ** 2).clamp(min=-30)  # numbers too small for their full precision are slow
    weights: Tensor = exponent.exp() / (sigma * (2 * torch.pi) ** 0.5)
    return weights
