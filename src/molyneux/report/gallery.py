"""Galleries with their views encoded, cut to what a page can carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from molyneux.core import Cell, Gallery
from molyneux.report.plots import contour_svg, image_uri

BUDGET = 2_000_000
"""Bytes that all pictures of a page may take together."""


@dataclass(frozen=True)
class DrawnCell:
    """One view.

    Args:
        uri: an image as a data URI; empty for other kinds.
        svg: a series as an SVG element; empty for other kinds.
        text: a text view, or a label.
        reading: what the reader read in it.
        correct: whether that is right; None where nothing was asked.
    """

    uri: str = ""
    svg: str = ""
    text: str = ""
    reading: str = ""
    correct: bool | None = None

    @property
    def size(self) -> int:
        """Bytes it takes on a page."""
        return len(self.uri) + len(self.svg)

    @property
    def verdict(self) -> str:
        """Right or wrong in words; empty where nothing was asked."""
        return "" if self.correct is None else "right" if self.correct else "wrong"


@dataclass(frozen=True)
class DrawnGallery:
    """Rows of encoded views under column titles."""

    name: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[DrawnCell, ...], ...]

    @property
    def worded(self) -> bool:
        """Whether it holds words only, and is a table rather than a gallery."""
        return not any(cell.size for row in self.rows for cell in row)

    @property
    def dense(self) -> bool:
        """Whether it is nothing but pictures and labels, which then stand close."""
        return not any(cell.reading or cell.correct is not None for row in self.rows for cell in row)


def draw_galleries(galleries: Sequence[Gallery], budget: int = BUDGET) -> list[DrawnGallery]:
    """Encode galleries. Where the views of all take more than `budget` bytes, each keeps its first rows, at least one.

    Every gallery gets an equal share; what one leaves over is shared by those after it.
    """
    drawn = []
    for number, gallery in enumerate(galleries):
        share = budget // (len(galleries) - number)
        rows, used = _rows(gallery, share)
        budget -= used
        cut = f"The first {len(rows)} of {len(gallery.rows)} rows." if len(rows) < len(gallery.rows) else ""
        note = " ".join(part for part in (gallery.note, cut) if part)
        drawn.append(DrawnGallery(gallery.name, gallery.title, note, gallery.columns, tuple(rows)))
    return drawn


def _rows(gallery: Gallery, share: int) -> tuple[list[tuple[DrawnCell, ...]], int]:
    rows: list[tuple[DrawnCell, ...]] = []
    used = 0
    for row in gallery.rows:
        cells = tuple(_cell(cell) for cell in row)
        size = sum(cell.size for cell in cells)
        if rows and used + size > share:
            break
        rows.append(cells)
        used += size
    return rows, used


def _cell(cell: Cell) -> DrawnCell:
    words = DrawnCell(text=cell.text, reading=cell.reading, correct=cell.correct)
    if cell.view is None:
        return words
    return replace(words, uri=image_uri(cell.view)) if cell.view.ndim == 3 else replace(words, svg=contour_svg(cell.view))
