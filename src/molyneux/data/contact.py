"""A contact sheet: one picture that shows what the first samples of a source look like in every sense."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont, UnidentifiedImageError
from PIL.PngImagePlugin import PngInfo

from molyneux.core import Batch, ConfigError, Modality, Source, store
from molyneux.core.views import text_strings, to_model

_SIDE, _GAP, _LINE = 128, 12, 14
"""Least side of a panel, space between samples, height of a line of text; pixels."""

_MARK, _MAKER = "Software", "molyneux contact sheet"
"""What is written into the picture, so that it is known again."""

_PAPER, _INK, _PANEL, _FRAME, _ACCENT = (255, 255, 255), (30, 30, 30), (240, 240, 240), (205, 205, 205), (200, 60, 20)


def contact_sheet(source: Source, path: Path, *, rows: int = 6, columns: int = 8) -> None:
    """Draw the first `rows * columns` samples into one PNG picture; a picture that stands there is replaced.

    Images are shown as they are, videos by their first frame, series of contact points as the closed contour (with its first
    point and its direction marked), other series and sounds as curves, texts and labels as lines underneath. What is missing
    stays grey.

    Raises:
        ConfigError: `rows` or `columns` below 1. StoreError: the picture cannot be written.
    """
    if rows < 1 or columns < 1:
        raise ConfigError(f"expected at least 1 row and 1 column, got {rows} and {columns}")
    count = min(rows * columns, len(source))
    batch = source.batch(np.arange(count)).check(source.spec)
    sheet = _Sheet(tuple(_panel(modality, batch) for modality in source.spec.modalities), min(columns, count))
    stream = BytesIO()
    mark = PngInfo()
    mark.add_text(_MARK, _MAKER)
    sheet.draw(count).save(stream, "PNG", pnginfo=mark)
    store.write_bytes(path, stream.getvalue())


def is_contact_sheet(path: Path) -> bool:
    """Whether a file is a picture that `contact_sheet` drew; such a one may be replaced."""
    try:
        with Image.open(path) as picture:
            return picture.info.get(_MARK) == _MAKER
    except (UnidentifiedImageError, OSError):
        return False


@dataclass(frozen=True)
class _Panel:
    """One modality of all samples: pictures, or lines of text."""

    pictures: tuple[Image.Image, ...] = ()
    texts: tuple[str, ...] = ()


class _Sheet:
    """Samples in a grid, their panels under each other."""

    def __init__(self, panels: tuple[_Panel, ...], columns: int) -> None:
        self.panels, self.columns = panels, columns
        self.font = ImageFont.load_default(11)
        self.width = max([_SIDE, *(panel.pictures[0].width for panel in panels if panel.pictures)])
        self.texts = [[self._wrap(text) for text in panel.texts] for panel in panels]
        self.heights = [_height(panel, lines) for panel, lines in zip(panels, self.texts, strict=True)]

    def draw(self, count: int) -> Image.Image:
        """The whole sheet."""
        across, down = self.width + _GAP, sum(self.heights) + _GAP
        size = (self.columns * across + _GAP, -(-count // self.columns) * down + _GAP)
        sheet = Image.new("RGB", size, _PAPER)
        pen = ImageDraw.Draw(sheet)
        for number in range(count):
            x, y = _GAP + number % self.columns * across, _GAP + number // self.columns * down
            for panel, lines, height in zip(self.panels, self.texts, self.heights, strict=True):
                if panel.pictures:
                    picture = panel.pictures[number]
                    pen.rectangle((x - 1, y - 1, x + picture.width, y + picture.height), outline=_FRAME)
                    sheet.paste(picture, (x, y))
                else:
                    pen.multiline_text((x, y), "\n".join(lines[number]), fill=_INK, font=self.font, spacing=2)
                y += height
        return sheet

    def _wrap(self, text: str) -> list[str]:
        """Lines that are no wider than a panel, as far as spaces allow."""
        lines = [""]
        for word in text.split(" "):
            longer = f"{lines[-1]} {word}".strip()
            if lines[-1] and self.font.getlength(longer) > self.width:
                lines.append(word)
            else:
                lines[-1] = longer
        return lines


def _height(panel: _Panel, lines: list[list[str]]) -> int:
    if panel.pictures:
        return panel.pictures[0].height + 4
    return _LINE * max(len(item) for item in lines) + 2


def _panel(modality: Modality, batch: Batch) -> _Panel:
    present = batch.mask(modality.name).tolist()
    view = batch.views[modality.name]
    if modality.kind == "text":
        texts = text_strings(modality, view)
        return _Panel(texts=tuple(text if here else "(missing)" for text, here in zip(texts, present, strict=True)))
    if modality.kind == "label":
        names = [modality.symbols[code] if here else "(missing)" for code, here in zip(view.tolist(), present, strict=True)]
        return _Panel(texts=tuple(f"{modality.name}: {name}" for name in names))
    kinds: dict[str, Callable[[np.ndarray], Image.Image]]
    kinds = {"image": _picture, "series": _contour, "video": lambda frames: _picture(frames[0])}
    draw = kinds.get(modality.kind, _curves)
    if modality.kind == "series" and modality.shape[1] != 5:
        draw = _curves
    values = to_model(modality, view).numpy()
    if modality.kind == "video" and modality.dtype == "uint8":
        values = view.numpy() / 255.0
    blank = draw(np.full(modality.shape, 0.94))
    return _Panel(tuple(draw(value) if here else blank for value, here in zip(values, present, strict=True)))


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
