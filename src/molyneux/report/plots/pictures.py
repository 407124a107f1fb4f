"""Small pictures of views: images as lossless PNG data URIs, series as SVG contours or lines."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

import numpy as np
from PIL import Image

from molyneux.core import SpecError
from molyneux.core.fingers import finger_paths as finger_paths

_SIDE = 60


def image_uri(view: np.ndarray) -> str:
    """A data URI of an image (C, H, W) uint8 with one or three channels, lossless, at its own size.

    Raises:
        SpecError: another shape or type.
    """
    if view.ndim != 3 or view.shape[0] not in (1, 3) or view.dtype != np.uint8:
        got = f"{view.dtype} {view.shape}"
        raise SpecError(f"expected an image (1 or 3, H, W) of uint8, got {got}: keep views in exhibits as they are stored")
    stream = io.BytesIO()
    _pillow(view).save(stream, "PNG", optimize=True)
    return png_uri(stream.getvalue())


def png_uri(content: bytes) -> str:
    """A data URI of a PNG file."""
    return "data:image/png;base64," + base64.b64encode(content).decode()


def contour_svg(view: np.ndarray, channels: Sequence[str] = ()) -> str:
    """A series (T, D) float as a small drawing.

    Where `channels` name places and pressures, each finger is an open path in a frame that shows all of them, broken where its
    pressure says that it is lifted; the first point is marked. Otherwise with two to six columns the first two are a closed path
    in the plane, x to the right and y downward, in the unit square or, where it leaves it, scaled to its own extent; the first
    point is marked. Otherwise each column is a line over time.

    Args:
        view: the series.
        channels: the names of its columns; see `core.Modality`.

    Raises:
        SpecError: not two axes.
    """
    if view.ndim != 2:
        raise SpecError(f"expected a series (T, D), got shape {view.shape}: keep views in exhibits as they are stored")
    if fingers := finger_paths(view, channels):
        return _fingers(fingers)
    return _path(view[:, :2]) if 2 <= view.shape[1] <= 6 else _lines(view)


def _pillow(view: np.ndarray) -> Image.Image:
    """The image as a Pillow image, with a palette where it has at most 256 colours, which takes a third of the bytes."""
    if view.shape[0] == 1:
        return Image.fromarray(view[0])
    red, green, blue = view.astype(np.uint32)
    packed, places = np.unique((red << 16) | (green << 8) | blue, return_inverse=True)
    if len(packed) > 256:
        return Image.fromarray(np.ascontiguousarray(view.transpose(1, 2, 0)))
    image = Image.fromarray(places.reshape(view.shape[1:]).astype(np.uint8), "P")
    image.putpalette(np.stack([packed >> 16, packed >> 8 & 255, packed & 255], 1).astype(np.uint8).tobytes())
    return image


def _fingers(paths: list[np.ndarray]) -> str:
    every = np.concatenate(paths)
    low, high = np.nanmin(every, 0), np.nanmax(every, 0)
    scale = _SIDE / max(float((high - low).max()), 1e-9)
    drawn = []
    for number, points in enumerate(paths):
        placed = (points - (low + high) / 2) * scale + _SIDE / 2 + 2
        commands, down = "", False
        for x, y in placed:
            commands += f"{'L' if down else 'M'}{x:.1f} {y:.1f}" if np.isfinite(x) else ""
            down = bool(np.isfinite(x))
        x, y = placed[np.isfinite(placed[:, 0])][0]
        drawn.append(f'<path class="finger-{number}" d="{commands}"/><circle cx="{x:.1f}" cy="{y:.1f}" r="2"/>')
    return _frame("".join(drawn))


def _path(points: np.ndarray) -> str:
    inside = bool((points > -0.1).all() and (points < 1.1).all())
    low, size = (np.zeros(2), 1.0) if inside else (points.min(0), float(max(np.ptp(points, axis=0).max(), 1e-9)))
    placed = np.clip((points - low) / size, -0.1, 1.1) * 60 + 2
    commands = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in placed)
    x, y = placed[0]
    return _frame(f'<path d="{commands}Z"/><circle cx="{x:.1f}" cy="{y:.1f}" r="2"/>')


def _lines(view: np.ndarray) -> str:
    low, size = view.min(), float(max(np.ptp(view), 1e-9))
    height = 62 - (view - low) / size * 60
    across = np.linspace(2, 62, len(view))
    paths = ["M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(across, column, strict=True)) for column in height.T[:12]]
    return _frame("".join(f'<path d="{commands}"/>' for commands in paths))


def _frame(content: str) -> str:
    return f'<svg class="series" viewBox="0 0 64 64" role="img" aria-label="series">{content}</svg>'
