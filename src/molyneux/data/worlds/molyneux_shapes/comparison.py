"""How far two curves are from each other, whatever their place, size, rotation and handedness; and low-level statistics."""

from __future__ import annotations

import numpy as np

DIRECTIONS = 256
"""Directions in which the border's distance from the centroid is compared."""

ANGLES = np.arange(DIRECTIONS) * (2.0 * np.pi / DIRECTIONS)


STATISTICS = ("area", "perimeter", "compactness", "elongation", "unevenness")
"""Names of what `statistics` gives."""

SINGLE = ("farthest point", "skewness", "kurtosis")
"""Names of what `single_numbers` gives."""


def radii_of(curves: np.ndarray) -> np.ndarray:
    """The border's distance from the origin in `DIRECTIONS` directions, equally spaced, (n, DIRECTIONS), scaled to the area pi.

    Args:
        curves: (n, points, 2), star-shaped around the origin, clockwise as seen in a picture.
    """
    out = np.empty((len(curves), DIRECTIONS))
    for row, points in enumerate(curves):
        angle = np.arctan2(points[:, 1], points[:, 0]) % (2.0 * np.pi)
        order = np.argsort(angle)
        out[row] = np.interp(ANGLES, angle[order], np.sqrt((points[order] ** 2).sum(1)), period=2.0 * np.pi)
    return np.asarray(out / np.sqrt((out**2).mean(1, keepdims=True)))


def distances(one: np.ndarray, other: np.ndarray, *, mirrored: bool = True) -> np.ndarray:
    """Distances (n, m) of curves given by their radii (n, DIRECTIONS) and (m, DIRECTIONS).

    The root mean square difference of the radii in the rotation in which it is smallest: 0 for curves of the same shape, whatever
    their place, size and rotation; in units of the radius of a disc of the same area. With `mirrored`, also of mirror images.
    """
    spectra, others = np.fft.rfft(one), np.fft.rfft(other)
    squares = (one**2).sum(1)[:, None] + (other**2).sum(1)
    best = np.empty((len(one), len(other)))
    for row, spectrum in enumerate(spectra):
        best[row] = np.fft.irfft(spectrum * np.conj(others), DIRECTIONS).max(1)
        if mirrored:
            best[row] = np.maximum(best[row], np.fft.irfft(spectrum * others, DIRECTIONS).max(1))
    return np.asarray(np.sqrt(np.maximum(squares - 2.0 * best, 0.0) / DIRECTIONS))


def statistics(radii: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Low-level statistics (n, 5) of outlines, in the order of `STATISTICS`.

    Area and perimeter (logarithms, in the square of the unit and in the unit); and what does not depend on the unit: the square
    of the perimeter by the area (logarithm), the ratio of the second moments along and across the long axis (logarithm), and
    the standard deviation of the radii.

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


def single_numbers(radii: np.ndarray) -> np.ndarray:
    """Numbers (n, 3) of outlines in which the two of a pair differ, in the order of `SINGLE`.

    The largest of the radii, and the mean third and fourth power of how far they are from their mean, in standard deviations.

    Args:
        radii: (n, 256) of outlines, in radii of discs of the same area.
    """
    away = (radii - radii.mean(1, keepdims=True)) / radii.std(1, keepdims=True)
    return np.stack([radii.max(1), (away**3).mean(1), (away**4).mean(1)], 1)
