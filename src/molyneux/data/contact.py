"""A contact sheet: one picture that shows what the first samples of a source look like in every sense."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from PIL.PngImagePlugin import PngInfo

from molyneux.core import Batch, ConfigError, DataError, Modality, Source, store
from molyneux.core.fingers import finger_paths
from molyneux.core.image_files import open_image
from molyneux.core.views import text_strings, to_model

_SIDE, _GAP, _LINE = 128, 12, 14
"""Least side of a panel, space between samples, height of a line of text; pixels."""

_MARK, _MAKER = "Software", "molyneux contact sheet"
"""What is written into the picture, so that it is known again."""

_PAPER, _INK, _PANEL, _FRAME, _ACCENT = (255, 255, 255), (30, 30, 30), (240, 240, 240), (205, 205, 205), (200, 60, 20)
_SECOND = (47, 127, 196)
"""Of the paths of further fingers."""


def contact_sheet(source: Source, path: Path | str, *, rows: int = 6, columns: int = 8) -> None:
    """Draw the first `rows * columns` samples into one PNG picture; a picture that stands there is replaced.

    Images are shown as they are, videos by their first frame, series of contact points as the closed contour (with its first
    point and its direction marked), those of fingers or pens as their paths (with their first points), other series and sounds as
    curves, texts and labels as lines underneath. What is missing stays grey.

    Raises:
        ConfigError: `rows` or `columns` below 1. StoreError: the picture cannot be written.
    """
    path = Path(path)
    if rows < 1 or columns < 1:
        raise ConfigError(f"expected at least 1 row and 1 column, got {rows} and {columns}")
    count = min(rows * columns, len(source))
    batch = source.batch(np.arange(count)).check(source.spec)
    mark, stream = PngInfo(), BytesIO()
    mark.add_text(_MARK, _MAKER)
    _sheet(source.spec.modalities, batch, min(columns, count)).save(stream, "PNG", pnginfo=mark)
    store.write_bytes(path, stream.getvalue())


def is_contact_sheet(path: Path | str) -> bool:
    """Whether a file is a picture that `contact_sheet` drew; such a one may be replaced."""
    path = Path(path)
    try:
        with open_image(path, str(path)) as picture:
            return picture.info.get(_MARK) == _MAKER
    except DataError:
        return False


def _sheet(modalities: Sequence[Modality], batch: Batch, columns: int) -> Image.Image:
    """Samples in a grid, their panels under each other."""
    panels = {modality.name: _pictures(modality, batch) for modality in modalities if modality.kind not in ("text", "label")}
    framed = set(panels)
    width = max([_SIDE, *(pictures[0].width for pictures in panels.values())])
    panels |= {modality.name: _texts(modality, batch, width) for modality in modalities if modality.name not in panels}
    heights = {modality.name: panels[modality.name][0].height + 4 for modality in modalities}
    across, down = width + _GAP, sum(heights.values()) + _GAP
    sheet = Image.new("RGB", (columns * across + _GAP, -(-len(batch) // columns) * down + _GAP), _PAPER)
    pen = ImageDraw.Draw(sheet)
    for number in range(len(batch)):
        x, y = _GAP + number % columns * across, _GAP + number // columns * down
        for name, height in heights.items():
            picture = panels[name][number]
            if name in framed:
                pen.rectangle((x - 1, y - 1, x + picture.width, y + picture.height), outline=_FRAME)
            sheet.paste(picture, (x, y))
            y += height
    return sheet


def _texts(modality: Modality, batch: Batch, width: int) -> list[Image.Image]:
    """Texts and labels as pictures of the same height, with lines that are no wider than `width` as far as spaces allow."""
    view, font = batch.views[modality.name], ImageFont.load_default(11)
    names = [f"{modality.name}: {modality.symbols[code]}" for code in view.tolist()] if modality.kind == "label" else []
    missing = "(missing)" if modality.kind == "text" else f"{modality.name}: (missing)"
    shown = zip(names or text_strings(modality, view), batch.mask(modality.name).tolist(), strict=True)
    wrapped = [_wrapped(text if here else missing, font, width) for text, here in shown]
    pictures = [Image.new("RGB", (width, _LINE * max(map(len, wrapped)) - 2), _PAPER) for _ in wrapped]
    for picture, lines in zip(pictures, wrapped, strict=True):
        ImageDraw.Draw(picture).multiline_text((0, 0), "\n".join(lines), fill=_INK, font=font, spacing=2)
    return pictures


def _wrapped(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _pictures(modality: Modality, batch: Batch) -> list[Image.Image]:
    """Views as pictures; grey where they are missing."""
    view = batch.views[modality.name]
    kinds: dict[str, Callable[[np.ndarray], Image.Image]]
    kinds = {"image": _picture, "series": _contour, "video": lambda frames: _picture(frames[0])}
    draw = kinds.get(modality.kind, _curves)
    if modality.kind == "series" and modality.shape[1] != 5:
        draw = _curves
    if modality.kind == "series" and finger_paths(np.ones(modality.shape), modality.channels):
        draw = partial(_paths, channels=modality.channels)
    values = to_model(modality, view).numpy()
    if modality.kind == "video" and modality.dtype == "uint8":
        values = view.numpy() / 255.0
    blank = np.full(modality.shape, 0.94)
    present = batch.mask(modality.name).tolist()
    return [draw(value if here else blank) for value, here in zip(values, present, strict=True)]


def _picture(value: np.ndarray) -> Image.Image:
    """An image (C, H, W) of numbers 0..1, enlarged by a whole factor; its first one or three channels."""
    channels = value[:3] if len(value) >= 3 else np.repeat(value[:1], 3, 0)
    pixels = (np.clip(channels, 0.0, 1.0) * 255.0).round().astype(np.uint8).transpose(1, 2, 0)
    factor = max(1, _SIDE // max(pixels.shape[:2]))
    return Image.fromarray(np.ascontiguousarray(pixels.repeat(factor, 0).repeat(factor, 1)))


def _contour(value: np.ndarray) -> Image.Image:
    """Contact points (T, 5), the first two columns being x and y, 0..1, y downward."""
    panel = Image.new("RGB", (_SIDE, _SIDE), _PANEL)
    pen = ImageDraw.Draw(panel)
    points = [(float(x) * _SIDE, float(y) * _SIDE) for x, y in value[:, :2]]
    pen.line([*points, points[0]], fill=_INK)
    for x, y in points:
        pen.ellipse((x - 1, y - 1, x + 1, y + 1), fill=_INK)
    pen.line(points[:4], fill=_ACCENT, width=2)
    x, y = points[0]
    pen.ellipse((x - 3, y - 3, x + 3, y + 3), fill=_ACCENT)
    return panel


def _paths(value: np.ndarray, channels: Sequence[str]) -> Image.Image:
    """The paths of fingers in a series (T, D) in one frame, which they fill; they break where a finger is lifted."""
    panel = Image.new("RGB", (_SIDE, _SIDE), _PANEL)
    pen, paths = ImageDraw.Draw(panel), finger_paths(value, channels)
    every = np.concatenate(paths or [np.zeros((1, 2))])
    low, high = np.nanmin(every, 0), np.nanmax(every, 0)
    scale = (_SIDE - 12) / max(float((high - low).max()), 1e-9)
    for number, points in enumerate(paths):
        placed, ink = (points - (low + high) / 2) * scale + _SIDE / 2, _SECOND if number else _INK
        for (x, y), (next_x, next_y) in pairwise(placed.tolist()):
            if np.isfinite(x + next_x):
                pen.line((x, y, next_x, next_y), fill=ink)
        x, y = placed[np.isfinite(placed[:, 0])][0].tolist()
        pen.ellipse((x - 3, y - 3, x + 3, y + 3), fill=_ACCENT)
    return panel


def _curves(value: np.ndarray) -> Image.Image:
    """Numbers along their first axis, one curve per remaining dimension (the first eight), each over its own range."""
    panel = Image.new("RGB", (_SIDE, _SIDE // 2), _PANEL)
    pen = ImageDraw.Draw(panel)
    curves = np.atleast_2d(value.reshape(len(value), -1).T if value.ndim > 1 else value)[:8]
    low, high = curves.min(1, keepdims=True), curves.max(1, keepdims=True)
    for curve in (curves - low) / np.where(high > low, high - low, 1.0):
        x = np.linspace(0, _SIDE - 1, len(curve))
        y = (1.0 - curve) * (_SIDE // 2 - 5) + 2
        pen.line(list(zip(x.tolist(), y.tolist(), strict=True)), fill=_INK)
    return panel
