"""Content of a page independent of its format: headlines, and sections of tables, drawings, galleries and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from molyneux.core import Cell, Gallery
from molyneux.report.plots import Panel, contour_svg, image_uri
from molyneux.report.tables import Strip, Table

BUDGET = 2_000_000
"""Maximum size of all pictures of a page together, in bytes."""


@dataclass(frozen=True)
class DrawnCell:
    """One cell of a gallery: a `Cell` whose view is encoded, an image as the data URI `uri`, a series as the element `svg`."""

    uri: str = ""
    svg: str = ""
    text: str = ""
    reading: str = ""
    correct: bool | None = None

    @property
    def size(self) -> int:
        """Size on a page in bytes."""
        return len(self.uri) + len(self.svg)

    @property
    def verdict(self) -> str:
        """`right` or `wrong`; empty where there is nothing to compare the reading with."""
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
    def text_only(self) -> bool:
        """Whether no cell has a picture, so that it is shown as a table."""
        return not any(cell.size for row in self.rows for cell in row)

    @property
    def dense(self) -> bool:
        """Whether no cell has a reading; pictures then stand close to each other."""
        return not any(cell.reading or cell.correct is not None for row in self.rows for cell in row)


@dataclass(frozen=True)
class Headline:
    """One main result as a sentence.

    Args:
        about: subject of the result in two or three words, such as a direction.
        number: the number alone.
        sentence: the number in a sentence, with interval, chance and ceiling.
        strip: the number as a mark on a line.
        note: what qualifies the number, such as the share of measured views that also occur in training.
    """

    about: str
    number: str
    sentence: str
    strip: Strip | None = None
    note: str = ""


@dataclass(frozen=True)
class Drawings:
    """Panels side by side.

    Args:
        title: a line above them; empty where the heading of the section is enough.
        keys: the legend: pairs of a style (`solid`, `dashed`, `dotted`, `chance`, `ceiling`, `interval`) and its meaning.
        note: a sentence above the panels.
    """

    title: str
    panels: tuple[Panel, ...]
    keys: tuple[tuple[str, str], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """One picture as a data URI, with a text alternative."""

    uri: str
    alternative: str


@dataclass(frozen=True)
class Facts:
    """A list of names with their values, such as versions of packages."""

    title: str
    items: Mapping[str, str]


@dataclass(frozen=True)
class Listing:
    """Preformatted text: a command, a configuration."""

    title: str
    text: str
    folded: bool = False


Block = Table | Drawings | DrawnGallery | Picture | Facts | Listing


@dataclass(frozen=True)
class Section:
    """A heading and the blocks below it."""

    name: str
    title: str
    intro: str = ""
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Page:
    """A page of the kind `run` or `study`: facts below the title, main results, and sections; empty ones are left out."""

    kind: str
    title: str
    facts: tuple[str, ...]
    headlines: tuple[Headline, ...]
    sections: tuple[Section, ...] = ()

    @property
    def filled(self) -> tuple[Section, ...]:
        """The sections that have blocks."""
        return tuple(section for section in self.sections if section.blocks)


def draw_galleries(galleries: Sequence[Gallery], budget: int = BUDGET) -> list[DrawnGallery]:
    """Encode the views of galleries. Where all take more than `budget` bytes, each keeps its first rows, at least one.

    Every gallery gets an equal share of the bytes; those after it share what it does not use.
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
    drawn = DrawnCell(text=cell.text, reading=cell.reading, correct=cell.correct)
    if cell.view is None:
        return drawn
    return replace(drawn, uri=image_uri(cell.view)) if cell.view.ndim == 3 else replace(drawn, svg=contour_svg(cell.view))
