"""Exact readers of pictures and touches of the world's shapes: the curve that fits is looked for among all that there are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import Reading
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.cdsprites_settings import COLOURS
from molyneux.data.worlds.molyneux_shapes.chosen import shape_curves
from molyneux.data.worlds.molyneux_shapes.comparison import radii_of
from molyneux.data.worlds.molyneux_shapes.matching import NEAR, match

MOST_POINTS = 640
"""Points of a border; a picture with more of them shows no shape."""

_SEEN, _FELT = 0.97, 0.75
"""Least share of the directions of a curve in which there are points, in pictures and in touches."""

_NEAR_PLAIN = 0.03
"""The same as `NEAR` for white shapes on black, whose border is known better."""

_LIT, _DARKEST = 0.25, 0.49
"""Shares of the brightest point of a shape: below the first a point is not inside; the darkest point inside has the second."""

_LIGHT = 75.0
"""Mean grey from which on a ground is light."""


class PictureShapeReader:
    """Reads which shape a picture shows, with its colour and its ground; satisfies `core.Reader`.

    The border is where half of a pixel is covered. Its points are fitted by the shapes that are most alike, in place, scale and
    rotation; the best is read if its root mean square distance is at most `NEAR` (0.03 at levels 1 to 3) and points lie all
    along it. At level 5 coverage
    is told from the difference of the largest and the smallest channel, which grey ground has not; from level 4 on by that of
    the points nearby. A shape in other colours than those of its level is not read. Nothing is learned, and true views are read
    without error.

    Args:
        level: of the world.
        factors: names of the factors that pictures show, `shape` first.
    """

    modality = "image"
    """Name of the modality it reads."""

    version = "1"
    """Raised whenever some view may be read otherwise."""

    def __init__(self, level: int, factors: tuple[str, ...]) -> None:
        self.factors, self._level = factors, level

    @property
    def accuracy(self) -> Mapping[str, float]:
        """Nothing is learned: 1 for every factor."""
        return dict.fromkeys(self.factors, 1.0)

    def read(self, view: Tensor) -> Reading:
        """Factor codes of pictures (B, 3, H, W) uint8."""
        pictures = view.detach().cpu().float()
        points, counts = border_points(cover(pictures, self._level).numpy())
        shape = _read(points, counts, _SEEN, _NEAR_PLAIN if self._level <= 3 else NEAR)
        read = {"shape": shape}
        if self._level >= 4:
            read["colour"] = _colour(pictures)
        if self._level >= 5:
            read["background"] = _ground(pictures)
        codes = torch.stack([read[name] for name in self.factors], 1) if len(view) else torch.empty((0, len(self.factors)))
        codes = codes.long().where(codes.ge(0).all(1, keepdim=True), -1)
        return Reading(codes, self.factors, _reasons(codes))


class TouchShapeReader:
    """Reads which shape a hand felt; satisfies `core.Reader`.

    The contacts of both fingers are fitted by the shapes that are most alike, in place, scale and rotation; the best is read if
    their root mean square distance is at most `NEAR`, and contacts lie along three quarters of it. Nothing is learned, and true
    views are read without error.
    """

    modality = "touch"
    """Name of the modality it reads."""

    version = "1"
    """Raised whenever some view may be read otherwise."""

    factors = ("shape",)
    """Names of the factors it reads."""

    @property
    def accuracy(self) -> Mapping[str, float]:
        """Nothing is learned: 1 for every factor."""
        return dict.fromkeys(self.factors, 1.0)

    def read(self, view: Tensor) -> Reading:
        """Factor codes of touches (B, steps, 6) float32."""
        codes = _read(*contact_points(view.detach().cpu().numpy()), _FELT, NEAR)[:, None]
        return Reading(codes, self.factors, _reasons(codes))


def contact_points(touches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 2 steps, 2) of the contacts of touches (n, steps, 6), those that there are first, and their numbers (n,)."""
    places = np.concatenate([touches[..., :2], touches[..., 3:5]], 1).astype(np.float64)
    pressed = (np.concatenate([touches[..., 2], touches[..., 5]], 1) > 0.05) & np.isfinite(places).all(2)
    order = np.argsort(~pressed, 1, kind="stable")
    return np.take_along_axis(places, order[..., None], 1), pressed.sum(1)


def cover(pictures: Tensor, level: int) -> Tensor:
    """How far each pixel is covered by a shape, (n, H, W) of 0..1, of pictures (n, 3, H, W) of 0..255 of a level."""
    strength = pictures.amax(1) - (pictures.amin(1) if level >= 5 else 0.0)
    if level <= 3:
        plain = (pictures.amax(1) - pictures.amin(1)).amax((1, 2)) < 1.0
        return strength / 255.0 * plain[:, None, None]
    brightest = strength.amax((1, 2), keepdim=True).clamp(min=1.0)
    share = (strength / brightest)[:, None]
    inside = (-functional.max_pool2d(-share, 3, 1, 1) >= _LIT).float()  # no neighbour is of the ground
    total = functional.avg_pool2d(share * inside, 3, 1, 1)
    number = functional.avg_pool2d(inside, 3, 1, 1)
    nearby = torch.where(number > 0.05, total / number.clamp(min=0.05), functional.max_pool2d(share, 3, 1, 1))
    covers = (share / nearby.clamp(min=_DARKEST)).clamp(0.0, 1.0)
    return torch.where(inside > 0, 1.0, covers)[:, 0]


def border_points(covers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, `MOST_POINTS`, 2) in pixels where coverage (n, H, W) crosses one half, and their numbers (n,).

    0 where there are more, and where the border of the picture is covered.
    """
    points, counts = np.zeros((len(covers), MOST_POINTS, 2)), np.zeros(len(covers), np.int64)
    _cross(np.ascontiguousarray(covers, np.float64), points, counts)
    return points, counts


def _read(points: np.ndarray, counts: np.ndarray, least: float, near: float) -> Tensor:
    """Numbers (n,) of the shapes that points lie on; -1 for none."""
    found = match(points, counts, _radii(), near=near)
    return torch.from_numpy(np.where((found.error <= near) & (found.covered >= least), found.shape, -1))


def _reasons(codes: Tensor) -> dict[int, str]:
    return dict.fromkeys(torch.nonzero(codes[:, 0] < 0).flatten().tolist(), "no shape of this world fits")


@lru_cache(maxsize=1)
def _radii() -> np.ndarray:
    return radii_of(shape_curves())


def _colour(pictures: Tensor) -> Tensor:
    """Code (n,) of the colour of the shape in pictures (n, 3, H, W); -1 for another one."""
    strength = pictures.amax(1) - pictures.amin(1)
    weight = (strength >= 0.5 * strength.amax((1, 2), keepdim=True)) * strength
    tint = (pictures - pictures.amin(1, keepdim=True)) / strength.clamp(min=1.0)[:, None]
    mean = (tint * weight[:, None]).sum((2, 3)) / weight.sum((1, 2)).clamp(min=1.0)[:, None]
    known = torch.tensor(list(COLOURS.values())).float()
    known = known - known.amin(1, keepdim=True)
    away = torch.cdist(mean, known / known.amax(1, keepdim=True))
    return torch.where(away.amin(1) < 0.2, away.argmin(1), -1)


def _ground(pictures: Tensor) -> Tensor:
    """Code (n,) of the ground of pictures (n, 3, H, W): light 0, dark 1; -1 where it is not grey."""
    strength = pictures.amax(1) - pictures.amin(1)
    ground = strength < 3.0
    mean = (pictures.mean(1) * ground).sum((1, 2)) / ground.sum((1, 2)).clamp(min=1)
    return torch.where(ground.float().mean((1, 2)) < 0.3, -1, (mean < _LIGHT).long())


@compiled
def _cross(covers: np.ndarray, points: np.ndarray, counts: np.ndarray) -> None:
    most, height, width = points.shape[1], covers.shape[1], covers.shape[2]
    for row in range(len(covers)):
        count = 0
        for i in range(height):
            for j in range(width):
                here = covers[row, i, j] - 0.5
                if here >= 0.0 and (i == 0 or j == 0 or i == height - 1 or j == width - 1):
                    count = most + 1
                for way in range(2):
                    a, b = i + way, j + 1 - way
                    if a >= height or b >= width:
                        continue
                    there = covers[row, a, b] - 0.5
                    if (here < 0.0) != (there < 0.0):
                        if count < most:
                            share = here / (here - there)
                            points[row, count, 0] = j + 0.5 + share * (1 - way)
                            points[row, count, 1] = i + 0.5 + share * way
                        count += 1
        counts[row] = count if count <= most else 0
