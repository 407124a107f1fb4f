"""What pictures and strokes of characters say without a model: drawn strokes, and low-level statistics."""

from __future__ import annotations

import math

import numpy as np

from molyneux.data.worlds.polygons import polygon_masks

SIDE = 24
"""Side of the pictures that are compared, in pixels."""

WIDTH = 0.045
"""Width of a drawn stroke, in sides of a character: about that of the outlines."""

TURNS = tuple(math.radians(turn) for turn in range(-24, 25, 6))
"""Rotations of a drawing: those of picture and pen together are at most 25 degrees."""


def ink(pictures: np.ndarray) -> np.ndarray:
    """The share of each picture (n, 1, S, S) uint8 that is white, (n,)."""
    return np.asarray(pictures.reshape(len(pictures), -1).mean(1) / 255.0)


def stroke_counts(strokes: np.ndarray) -> np.ndarray:
    """How many strokes the pen writes in each view (n, T, 3), (n,): how often it is set down. One that is too short is lost."""
    down = strokes[:, :, 2] > 0.5
    return np.asarray(down[:, 0].astype(np.int64) + (down[:, 1:] & ~down[:, :-1]).sum(1))


def written_ways(strokes: np.ndarray) -> np.ndarray:
    """The length of what the pen writes in each view (n, T, 3), (n,)."""
    steps = np.sqrt((np.diff(strokes[:, :, :2].astype(np.float64), axis=1) ** 2).sum(2))
    return np.asarray((steps * (strokes[:, 1:, 2] > 0.5) * (strokes[:, :-1, 2] > 0.5)).sum(1))


def drawing_distances(pictures: np.ndarray, strokes: np.ndarray) -> np.ndarray:
    """Distances (n, m) of what a pen writes, drawn with a brush of one width, from pictures.

    Both are cut to what they show, scaled to SIDE x SIDE pixels and blurred. The distance is 1 less the correlation, of the best
    of `TURNS` rotations of the drawing.

    Args:
        pictures: (m, 1, S, S) uint8.
        strokes: (n, T, 3).
    """
    seen = _standardised(_framed(pictures))
    return np.asarray(np.min([1.0 - _standardised(_framed(_drawn(strokes, turn))) @ seen.T for turn in TURNS], 0))


def _drawn(strokes: np.ndarray, turn: float) -> np.ndarray:
    """What a pen writes in views (n, T, 3), rotated, as pictures (n, 1, 64, 64) uint8."""
    out = np.zeros((len(strokes), 1, 64, 64), np.uint8)
    cos, sin = math.cos(turn), math.sin(turn)
    for row, view in enumerate(strokes.astype(np.float64)):
        places = np.stack([cos * view[:, 0] - sin * view[:, 1], sin * view[:, 0] + cos * view[:, 1]], 1)
        line = (view[1:, 2] > 0.5) & (view[:-1, 2] > 0.5)
        middle = (places.max(0) + places.min(0)) / 2
        bars = _bars(places[:-1][line] - middle, places[1:][line] - middle)
        size = 0.95 / (float(np.ptp(places, axis=0).max()) + 2 * WIDTH)
        if len(bars):
            fit = (np.full((len(bars), 2), 0.5), np.full(len(bars), size), np.zeros(len(bars)))
            out[row, 0] = polygon_masks(bars, np.arange(len(bars)), *fit, 64).max(0)
    return out


def _framed(pictures: np.ndarray) -> np.ndarray:
    """Pictures (n, 1, S, S) uint8 cut to what they show, scaled to (n, SIDE, SIDE) of 0..1; proportions are not kept."""
    out = np.zeros((len(pictures), SIDE, SIDE))
    for row, picture in enumerate(pictures[:, 0]):
        shown = picture > 64
        if shown.any():
            across, down = np.flatnonzero(shown.any(0)), np.flatnonzero(shown.any(1))
            part = picture[down[0] : down[-1] + 1, across[0] : across[-1] + 1] / 255.0
            out[row] = _shares(len(part)) @ part @ _shares(part.shape[1]).T
    return out


def _standardised(pictures: np.ndarray) -> np.ndarray:
    """Blurred pictures (n, D) of mean 0 and length 1."""
    for _ in range(2):
        for axis in (1, 2):
            pictures = 0.25 * np.roll(pictures, 1, axis) + 0.5 * pictures + 0.25 * np.roll(pictures, -1, axis)
    flat = pictures.reshape(len(pictures), -1)
    flat = flat - flat.mean(1, keepdims=True)
    return np.asarray(flat / np.maximum(np.sqrt((flat**2).sum(1, keepdims=True)), 1e-9))


def _bars(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Rectangles (n, 4, 2) along lines, half the width longer at both ends."""
    along = end - start
    along = along / np.maximum(np.sqrt((along**2).sum(1, keepdims=True)), 1e-9) * WIDTH / 2
    across = np.stack([-along[:, 1], along[:, 0]], 1)
    return np.stack([start - along - across, end + along - across, end + along + across, start - along + across], 1)


def _shares(size: int) -> np.ndarray:
    """How much of each of `size` cells lies in each of SIDE equal ones, weights of a mean, (SIDE, size)."""
    edges = np.arange(SIDE + 1) * size / SIDE
    cells = np.arange(size)
    overlap = np.minimum(edges[1:, None], cells + 1) - np.maximum(edges[:-1, None], cells)
    return np.asarray(np.maximum(overlap, 0.0) * SIDE / size)
