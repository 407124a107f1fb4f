"""Pictures of generated views: a sheet of several, PNG files, and small drawings for notebooks."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from molyneux.core import ConfigError, Modality, values_of

if TYPE_CHECKING:
    from PIL.Image import Image

_SMALL, _GAP, _MOST = 128, 4, 2_500
"""Pixels to which smaller pictures are enlarged, by whole numbers, and between pictures; pictures on a sheet."""

SHOWN = 24
"""Samples that a notebook shows."""


def picture_sheet(images: Sequence[Image], *, columns: int = 0) -> Image:
    """Pictures of one size on one sheet, row by row; small ones are enlarged, each pixel to a square. One picture stays as it is.

    Args:
        images: at least one.
        columns: of the sheet; by default as many as make it about twice as wide as high.

    Raises:
        ConfigError: more than 2,500.
    """
    from PIL import Image

    if len(images) > _MOST:
        raise ConfigError(f"expected at most {_MOST:,} pictures on one sheet, got {len(images):,}: save them as single files")
    if len(images) == 1:
        return images[0]
    width, height = images[0].size
    scale = max(1, _SMALL // max(width, height))
    columns = columns or min(len(images), math.ceil(math.sqrt(2 * len(images))))
    rows = math.ceil(len(images) / columns)
    across, down = width * scale + _GAP, height * scale + _GAP
    sheet = Image.new("RGB", (columns * across - _GAP, rows * down - _GAP), "white")
    for number, image in enumerate(images):
        enlarged = image.convert("RGB").resize((width * scale, height * scale), Image.Resampling.NEAREST)
        sheet.paste(enlarged, (number % columns * across, number // columns * down))
    return sheet


def png_bytes(image: Image) -> bytes:
    """The content of a PNG file; the same picture gives the same bytes."""
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def npz_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The content of a `.npz` file; the same arrays give the same bytes."""
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def shown_view(modality: Modality, view: Tensor) -> str:
    """One view (*shape) as HTML: an image, a contour or curves, or escaped text."""
    from molyneux.report.plots import contour_svg, image_uri  # with what draws; takes a second to import

    if modality.kind == "image" and view.shape[0] in (1, 3):
        source = f'src="{image_uri(view.numpy())}" alt="{html.escape(modality.name)}"'
        return f'<img style="width:100%;image-rendering:pixelated" {source}>'
    if modality.kind == "series":
        return contour_svg(view.numpy(), modality.channels)
    if modality.symbols:
        return f"<p>{html.escape(str(values_of(modality, view[None])[0]))}</p>"
    return f"<p>{html.escape(modality.name)} {tuple(view.shape)}</p>"
