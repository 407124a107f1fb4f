"""Finds which curve some points lie on: every shape in every pose is tried, and the best ones are fitted."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.molyneux_shapes.comparison import DIRECTIONS

BINS = 64
"""Directions in which points are first compared with curves."""

NEAR = 0.05
"""Error from which on points do not lie on a curve: less than half of what shapes are apart; that of true views is lower."""

_FITTED, _MORE, _STEPS, _CHUNK = 5, 40, 12, 128
"""Curves that are fitted to each row, and where none of them is near; steps of a fit; rows that are compared at once."""

_SECTORS = 48
"""Of the directions in which it is looked whether points lie."""


class Match(NamedTuple):
    """What curve the points of each of n rows lie on.

    Args:
        shape: (n,) int64 the curve that fits best.
        error: (n,) root mean square distance of the points to it, in radii of a disc of the same area.
        covered: (n,) share of its directions near which there are points, 0..1.
        scale: (n,) radius of a disc of the same area, in the unit of the points.
    """

    shape: np.ndarray
    error: np.ndarray
    covered: np.ndarray
    scale: np.ndarray


def match(points: np.ndarray, counts: np.ndarray, radii: np.ndarray, *, near: float = NEAR) -> Match:
    """The best of some curves for the points of each row; least squares over place, scale and rotation.

    Args:
        points: (n, P, 2) in any order, clockwise angles as in pictures.
        counts: (n,) how many of them there are; fewer than 12 match nothing.
        radii: (k, DIRECTIONS) of the curves, as `comparison.radii_of` gives them.
        near: error from which on more curves are tried.
    """
    count = len(points)
    found = Match(np.zeros(count, np.int64), np.full(count, np.inf), np.zeros(count), np.ones(count))
    for start in range(0, count, _CHUNK):
        rows = np.arange(start, min(start + _CHUNK, count))
        for fitted in (_FITTED, _MORE):
            rows = rows[found.error[rows] > near]
            for array, value in zip(found, _best(points[rows], counts[rows], radii, fitted), strict=True):
                array[rows] = value
    return found


def _best(points: np.ndarray, counts: np.ndarray, radii: np.ndarray, fitted: int) -> Match:
    """As `match`, of the `fitted` curves that look most alike."""
    size, bank = len(points), radii.reshape(len(radii), BINS, -1).mean(2)
    signature, pose = np.ones((size, BINS)), np.zeros((size, 3))
    _describe(points, counts, signature, pose)
    likeness = np.fft.irfft(np.fft.rfft(signature)[:, None] * np.conj(np.fft.rfft(bank)), BINS)
    unlike = (bank**2).sum(1) - 2.0 * likeness.max(2)
    chosen = np.argsort(unlike, 1)[:, :fitted]
    turn = np.take_along_axis(likeness.argmax(2), chosen, 1) * (2.0 * np.pi / BINS)
    slopes = (np.roll(radii, -1, 1) - np.roll(radii, 1, 1)) * (DIRECTIONS / (4.0 * np.pi))
    found = Match(np.zeros(size, np.int64), np.full(size, np.inf), np.zeros(size), np.ones(size))
    _fit(points, counts, pose, chosen, turn, radii, slopes, *found)
    return found


def signatures(points: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What points outline, of no known curve: radii (n, DIRECTIONS) and the radius of a disc of the same area (n,).

    Arguments as of `match`. Directions without points are filled in from their neighbours.
    """
    signature, pose = np.ones((len(points), DIRECTIONS)), np.ones((len(points), 3))
    _describe(points, counts, signature, pose)
    scale = np.sqrt((signature**2).mean(1))
    return signature / scale[:, None], pose[:, 2] * scale


@compiled
def _describe(points: np.ndarray, counts: np.ndarray, signature: np.ndarray, pose: np.ndarray) -> None:
    """Mean radius of the points around their centroid by direction, in radii of a disc; and pose: x, y and that radius."""
    bins = signature.shape[1]
    total, number, step = np.empty(bins), np.empty(bins), 2.0 * math.pi / bins
    for row in range(len(points)):
        size = counts[row]
        if size < 12:
            continue
        x, y = 0.0, 0.0
        for i in range(size):
            x, y = x + points[row, i, 0] / size, y + points[row, i, 1] / size
        area = 0.0
        for _ in range(4):
            for i in range(bins):
                total[i], number[i] = 0.0, 0.0
            for i in range(size):
                u, v = points[row, i, 0] - x, points[row, i, 1] - y
                place = int((math.atan2(v, u) / step) % bins) % bins
                total[place] += math.sqrt(u * u + v * v)
                number[place] += 1.0
            for i in range(bins):
                if number[i] > 0.0:
                    signature[row, i] = total[i] / number[i]
                    continue
                before, after = 1, 1
                while number[(i - before) % bins] == 0.0:
                    before += 1
                while number[(i + after) % bins] == 0.0:
                    after += 1
                left = total[(i - before) % bins] / number[(i - before) % bins]
                right = total[(i + after) % bins] / number[(i + after) % bins]
                signature[row, i] = (left * after + right * before) / (before + after)
            area, move_x, move_y = 0.0, 0.0, 0.0
            for i in range(bins):
                a, b, one, two = signature[row, i], signature[row, (i + 1) % bins], (i + 0.5) * step, (i + 1.5) * step
                turn = a * b * math.sin(step)
                area += turn / 2.0
                move_x += turn * (a * math.cos(one) + b * math.cos(two)) / 6.0
                move_y += turn * (a * math.sin(one) + b * math.sin(two)) / 6.0
            x, y = x + move_x / max(area, 1e-12), y + move_y / max(area, 1e-12)
        scale = math.sqrt(max(area, 1e-12) / math.pi)
        pose[row, 0], pose[row, 1], pose[row, 2] = x, y, scale
        for i in range(bins):
            signature[row, i] /= scale


@compiled
def _fit(
    points: np.ndarray,
    counts: np.ndarray,
    pose: np.ndarray,
    chosen: np.ndarray,
    turns: np.ndarray,
    radii: np.ndarray,
    slopes: np.ndarray,
    shape: np.ndarray,
    error: np.ndarray,
    covered: np.ndarray,
    scale: np.ndarray,
) -> None:
    """Gauss-Newton over x, y, rotation and the logarithm of the scale, of the distances to each chosen curve."""
    normal, wanted, slope, seen = np.empty((4, 4)), np.empty(4), np.empty(4), np.empty(_SECTORS)
    for row in range(len(points)):
        size = counts[row]
        if size < 12:
            continue
        for option in range(chosen.shape[1]):
            curve = chosen[row, option]
            x, y, large, turn = pose[row, 0], pose[row, 1], pose[row, 2], turns[row, option]
            squares = math.inf
            for iteration in range(_STEPS + 1):
                cos, sin, before = math.cos(turn), math.sin(turn), squares
                squares = 0.0
                for i in range(4):
                    wanted[i] = 0.0
                    for j in range(4):
                        normal[i, j] = 0.0
                for i in range(_SECTORS):
                    seen[i] = 0.0
                for i in range(size):
                    dx, dy = (points[row, i, 0] - x) / large, (points[row, i, 1] - y) / large
                    off, share = _aside(cos * dx + sin * dy, cos * dy - sin * dx, radii[curve], slopes[curve], slope)
                    squares += off * off / size
                    seen[int(share * _SECTORS) % _SECTORS] = 1.0
                    weight = 1.0 if abs(off) < 0.1 else 0.1 / abs(off)
                    for j in range(4):
                        wanted[j] -= weight * slope[j] * off
                        for k in range(4):
                            normal[j, k] += weight * slope[j] * slope[k]
                if iteration == _STEPS or abs(before - squares) < 1e-9:
                    break
                for j in range(4):
                    normal[j, j] += size * (1e-5 if j != 2 else 1e-6)
                _solve(normal, wanted)
                turn += min(max(wanted[2], -0.2), 0.2)
                x += large * (cos * wanted[0] - sin * wanted[1])
                y += large * (sin * wanted[0] + cos * wanted[1])
                large *= math.exp(min(max(wanted[3], -0.2), 0.2))
            if math.sqrt(squares) < error[row]:
                near = 0
                for i in range(_SECTORS):
                    near += int(seen[i - 1] + seen[i] + seen[(i + 1) % _SECTORS] > 0.0)
                shape[row], error[row], covered[row], scale[row] = curve, math.sqrt(squares), near / _SECTORS, large


@compiled
def _aside(u: float, v: float, radii: np.ndarray, slopes: np.ndarray, slope: np.ndarray) -> tuple[float, float]:
    """Distance of a point to a curve, to first order, and its direction, 0..1; `slope` becomes the change with each number."""
    directions = len(radii)
    away = math.sqrt(u * u + v * v) + 1e-9
    share = (math.atan2(v, u) / (2.0 * math.pi)) % 1.0
    place = int(share * directions) % directions
    rest, following = share * directions - place, (place + 1) % directions
    radius = radii[place] + rest * (radii[following] - radii[place])
    steep = slopes[place] + rest * (slopes[following] - slopes[place])
    flat = 1.0 / math.sqrt(1.0 + (steep / radius) ** 2)
    across, along = flat * (u / away + steep * v / away**2), flat * (v / away - steep * u / away**2)
    slope[0], slope[1] = -across, -along
    slope[2], slope[3] = across * v - along * u, -across * u - along * v
    return (away - radius) * flat, share


@compiled
def _solve(normal: np.ndarray, wanted: np.ndarray) -> None:
    """Solve four linear equations of a positive definite matrix in place, by elimination."""
    for i in range(4):
        for j in range(i + 1, 4):
            share = normal[j, i] / normal[i, i]
            for k in range(i, 4):
                normal[j, k] -= share * normal[i, k]
            wanted[j] -= share * wanted[i]
    for i in range(3, -1, -1):
        for j in range(i + 1, 4):
            wanted[i] -= normal[i, j] * wanted[j]
        wanted[i] /= normal[i, i]
