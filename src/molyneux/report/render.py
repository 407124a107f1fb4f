"""Pages as one self-contained HTML file, or as Markdown."""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from molyneux.report.gallery import DrawnCell, DrawnGallery
from molyneux.report.page import Block, Drawings, Facts, Listing, Page, Picture, Section
from molyneux.report.tables import Table, to_markdown
from molyneux.report.tables.markdown import escape_markdown
from molyneux.version import __version__


def render_html(page: Page) -> str:
    """The page with its style, drawings and pictures in one file; nothing is fetched and no script runs."""
    css = Markup(_environment(True).get_template("page.css").render())
    return _environment(True).get_template("page.html.j2").render(page=page, css=css, version=__version__)


def render_markdown(page: Page) -> str:
    """The page's words and tables; drawings by their files, galleries as tables of what was read, pictures left out."""
    return _environment(False).get_template("page.md.j2").render(page=page).rstrip() + "\n"


@cache
def _environment(web: bool) -> Environment:
    environment = Environment(
        loader=PackageLoader("molyneux.report"),
        autoescape=web,
        undefined=StrictUndefined,
        trim_blocks=False,
        keep_trailing_newline=True,
    )
    environment.filters["kind"] = lambda block: type(block).__name__
    environment.filters["stacked"] = _stacked
    environment.filters["lone"] = _lone
    environment.filters["unbroken"] = _unbroken
    environment.filters["told"] = _told
    environment.filters["escape_markdown"] = escape_markdown
    return environment


def _unbroken(text: str) -> str:
    """Numbers stay with their units, and intervals in one piece, at the ends of lines."""
    return re.sub(r"(?<=\d)–(?=\d)", "\u2060–\u2060", text.replace(" %", "\u00a0%"))  # noqa: RUF001


def _stacked(table: Table) -> bool:
    """Whether intervals stand below their values, because so many side by side would be too wide."""
    return sum(any(row[number].detail for row in table.rows) for number in range(len(table.columns))) > 3


def _lone(section: Section) -> bool:
    """Whether a section opens with its only table, which then needs no title of its own."""
    tables = [isinstance(block, Table) for block in section.blocks]
    return tables[0] and sum(tables) == 1


def _told(page: Page) -> list[tuple[Section, list[str]]]:
    """The sections that have something to say in Markdown, with their blocks."""
    told = [(section, [text for block in section.blocks if (text := _markdown(block))]) for section in page.filled]
    return [(section, texts) for section, texts in told if texts]


def _markdown(block: Block) -> str:
    match block:
        case Table():
            return to_markdown(block)
        case DrawnGallery():
            return _gallery(block)
        case Facts(title, items):
            return f"**{title}**\n\n" + "".join(f"- {name}: {escape_markdown(value)}\n" for name, value in items.items())
        case Listing(title, text):
            return f"**{title}**\n\n```\n{text.rstrip()}\n```\n"
        case Drawings(title, panels, _, note):
            figures = " ".join(f"![{escape_markdown(panel.title)}](figures/{panel.name}.svg)" for panel in panels)
            return "\n\n".join(part for part in (f"**{title}**" if title else "", escape_markdown(note), figures) if part) + "\n"
        case Picture():
            return ""


def _gallery(gallery: DrawnGallery) -> str:
    """Texts and what was read in each view; nothing where there are pictures that nobody read."""
    if gallery.dense and not gallery.worded:
        return ""
    head = [escape_markdown(column) for column in gallery.columns]
    rows = [[_cell(cell) for cell in row] for row in gallery.rows]
    table = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join([f"**{escape_markdown(gallery.title)}**", "", escape_markdown(gallery.note), "", *table]) + "\n"


def _cell(cell: DrawnCell) -> str:
    kind = "picture" if cell.uri else "series" if cell.svg else ""
    mark = {"right": "✓", "wrong": "✗", "": ""}[cell.verdict]
    said = cell.text or kind
    read = cell.reading if cell.reading != cell.text else ""
    return escape_markdown(" ".join(part for part in (said, mark, f"({read})" if read else "") if part))
