"""The content of a page, independent of its format, and its files: one HTML file, Markdown, its tables as CSV and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from molyneux.core import Cell, ConfigError, Gallery, nearest, store
from molyneux.report.plots import Panel, contour_svg, image_uri, standalone
from molyneux.report.tables import Strip, Table, to_csv, to_latex, to_markdown
from molyneux.report.tables.formats import escape_markdown
from molyneux.version import __version__

FORMATS = ("markdown", "html", "csv", "latex")
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
    """Rows of encoded views under column titles.

    Args:
        choose: whether each row is a question: the cells after the first one have buttons to choose from, and what is read in
            them is hidden until one is chosen.
    """

    name: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[DrawnCell, ...], ...]
    choose: bool = False

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


@dataclass(frozen=True)
class Statements:
    """A list of sentences."""

    sentences: tuple[str, ...]


Block = Table | Drawings | DrawnGallery | Picture | Facts | Listing | Statements


@dataclass(frozen=True)
class Section:
    """A heading and the blocks below it."""

    name: str
    title: str
    intro: str = ""
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Page:
    """A page: what answers first, then the evidence in sections; empty ones are left out.

    Args:
        kind: `run`, `study` or `leaderboard`.
        title: names of things as people say them.
        facts: short, below the title.
        headlines: main results.
        sections: of the page.
        answer: one sentence that says what was found.
        remarks: sentences below it, on how far it holds.
        picture: what shows it.
        command: what makes the page again, to be cited with its tables.
    """

    kind: str
    title: str
    facts: tuple[str, ...]
    headlines: tuple[Headline, ...]
    sections: tuple[Section, ...] = ()
    answer: str = ""
    remarks: tuple[str, ...] = ()
    picture: Block | None = None
    command: str = ""

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """The legend of the marks on the lines of main results, of those that occur."""
        strips = [headline.strip for headline in self.headlines if headline.strip]
        found = [("dot", "measured")] if strips else []
        found += [("chance", "guessing")] if any(strip.chance is not None for strip in strips) else []
        read = any(strip.ceiling is not None for strip in strips)
        return (*found, *([("ceiling", "judge ceiling: what the judge reads in true views")] if read else []))

    def citation(self, table: Table) -> str:
        """BibTeX of a table of this page, and the command that makes it again; no command where none is known."""
        title = f"{self.title}: {table.title}" if table.title else self.title
        made = f"Table made by Molyneux {__version__}" + f" with: {self.command}" * bool(self.command)
        fields = {"title": title, "howpublished": "Molyneux, a laboratory for multimodal representation learning", "note": made}
        return bibtex(f"molyneux-{table.name}", fields)

    @property
    def on_page(self) -> Page:
        """The page with the rows of its tables that it shows."""

        def cut(section: Section) -> Section:
            return replace(section, blocks=tuple(item.on_page if isinstance(item, Table) else item for item in section.blocks))

        return replace(self, sections=tuple(map(cut, self.sections)))

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
    if cell.view.ndim == 3:
        return replace(drawn, uri=image_uri(cell.view))
    return replace(drawn, svg=contour_svg(cell.view, cell.channels))


def write_page(page: Page, folder: Path, stem: str, formats: Sequence[str]) -> list[Path]:
    """Write a page: `<stem>.html`, `<stem>.md` with its drawings in `figures/`, every table in `tables/`.

    Raises:
        ConfigError: an unknown format. StoreError: the folder cannot be written.
    """
    check_formats(formats)
    blocks = [block for section in page.filled for block in section.blocks]
    tables = [block for block in blocks if isinstance(block, Table)]
    drawn = [*blocks, *([page.picture] if page.picture else [])]
    panels = [panel for block in drawn if isinstance(block, Drawings) for panel in block.panels]
    files: dict[Path, str] = {}
    if "markdown" in formats:
        files[folder / f"{stem}.md"] = render_markdown(page.on_page)
    if "html" in formats:
        files[folder / f"{stem}.html"] = render_html(page.on_page)
    if "csv" in formats:
        files |= {folder / "tables" / f"{table.name}.csv": to_csv(table) for table in tables}
    if "latex" in formats:
        files |= {folder / "tables" / f"{table.name}.tex": to_latex(table.on_page) for table in tables}
    figures = {folder / "figures" / f"{panel.name}.svg": standalone(panel) for panel in panels if "markdown" in formats}
    for path, text in (files | figures).items():
        store.write_text(path, text)
    return list(files)


def check_formats(formats: Sequence[str]) -> None:
    """Raise ConfigError with a sentence for each unknown format."""
    unknown = [f"unknown report format {name!r}; {nearest(name, FORMATS)}" for name in formats if name not in FORMATS]
    if unknown:
        raise ConfigError(unknown)


def render_html(page: Page) -> str:
    """The page with its style, drawings and pictures in one file; it fetches nothing and runs no script."""
    css = Markup(_environment().get_template("page.css").render())
    return _environment().get_template("page.html.j2").render(page=page, css=css, version=__version__)


def to_html(table: Table) -> str:
    """A table as a piece of HTML, with its title and notes; the page it stands on has the style."""
    module = _environment().get_template("blocks.html.j2").module
    return re.sub(r"\n\s*\n", "\n", str(module.table(table, False)).strip()) + "\n"  # type: ignore[attr-defined]


def render_markdown(page: Page) -> str:
    """The text and tables of a page as Markdown; drawings are linked, galleries become tables of what was read."""
    parts = [f"# {escape_markdown(page.title)}", f"**{escape_markdown(page.answer)}**" if page.answer else ""]
    parts.append("\n".join(f"- {escape_markdown(remark)}" for remark in page.remarks))
    parts.append(_markdown(page.picture) if page.picture else "")
    parts.append("\n".join(_headline(headline, page.kind) for headline in page.headlines))
    parts.append(escape_markdown(" · ".join(page.facts)))
    for section in page.filled:
        blocks = [text for block in section.blocks if (text := _markdown(block))]
        if blocks:
            parts += [f"## {escape_markdown(section.title)}", escape_markdown(section.intro), *blocks]
    tables = [block for section in page.filled for block in section.blocks if isinstance(block, Table)]
    parts += _cited(page, tables) if page.command else []
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _cited(page: Page, tables: Sequence[Table]) -> list[str]:
    """How to cite the tables of a page, once for all of them: in Markdown nothing can be folded."""
    if not tables:
        return []
    return ["## Cite these tables", _markdown(Listing("BibTeX", page.citation(replace(tables[0], name="tables", title=""))))]


def bibtex(key: str, fields: Mapping[str, str], authors: Sequence[str] = ()) -> str:
    """An entry of BibTeX, whose special characters are escaped; authors are written as they are, such as groups of people."""
    escaped = {name: "".join(f"\\{sign}" if sign in "&%$#_{}" else sign for sign in text) for name, text in fields.items()}
    if authors:
        escaped = {"author": " and ".join(f"{{{name}}}" for name in authors), **escaped}
    return "\n".join([f"@misc{{{key},", *(f"  {name} = {{{text}}}," for name, text in escaped.items()), "}"])


@cache
def _environment() -> Environment:
    loader = PackageLoader("molyneux.report")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters |= {"kind": _kind, "lone": _lone, "stacked": _stacked, "unbroken": _unbroken}
    return environment


def _kind(block: Block) -> str:
    return type(block).__name__


def _unbroken(text: str) -> str:
    """Keep numbers with their units, and intervals in one piece, at the ends of lines."""
    return re.sub(r"(?<=\d)–(?=\d)", "\u2060–\u2060", text.replace(" %", "\u00a0%"))  # noqa: RUF001


def _stacked(table: Table) -> bool:
    """Whether intervals stand below their values, because there are too many columns of them."""
    return sum(any(row[number].detail for row in table.rows) for number in range(len(table.columns))) > 3


def _lone(section: Section) -> bool:
    """Whether a section begins with its only table, which then needs no title of its own."""
    tables = [isinstance(block, Table) for block in section.blocks]
    return tables[0] and sum(tables) == 1


def _headline(headline: Headline, kind: str) -> str:
    about = f"**{escape_markdown(headline.about)}** " if kind in ("study", "leaderboard") else ""
    return f"- {about}{escape_markdown(' '.join(part for part in (headline.sentence, headline.note) if part))}"


def _markdown(block: Block) -> str:
    match block:
        case Table():
            return to_markdown(block)
        case DrawnGallery():
            return _gallery(block)
        case Facts(title, items):
            lines = [f"- {escape_markdown(name)}: {escape_markdown(value)}" for name, value in items.items()]
            return "\n".join([f"**{escape_markdown(title)}**", "", *lines])
        case Listing(title, text):
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            return f"**{escape_markdown(title)}**\n\n{fence}\n{text.rstrip()}\n{fence}"
        case Drawings(title, panels, _, note):
            figures = " ".join(f"![{escape_markdown(panel.title)}](figures/{panel.name}.svg)" for panel in panels)
            above = f"**{escape_markdown(title)}**" if title else ""
            said = "\n".join(f"- {escape_markdown(f'{panel.title}: {panel.note}')}" for panel in panels if panel.note)
            return "\n\n".join(part for part in (above, escape_markdown(note), said, figures) if part)
        case Statements(sentences):
            return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences)
        case Picture():
            return ""


def _gallery(gallery: DrawnGallery) -> str:
    """Texts and what was read in each view; nothing for a gallery of pictures without readings."""
    if gallery.dense and not gallery.text_only:
        return ""
    head = [escape_markdown(column) for column in gallery.columns]
    rows = [[_cell_text(cell) for cell in row] for row in gallery.rows]
    table = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    above = [f"**{escape_markdown(gallery.title)}**", ""] if gallery.title else []
    return "\n".join([*above, escape_markdown(gallery.note), "", *table])


def _cell_text(cell: DrawnCell) -> str:
    kind = "picture" if cell.uri else "series" if cell.svg else ""
    mark = {"right": "✓", "wrong": "✗", "": ""}[cell.verdict]
    reading = cell.reading if cell.reading != cell.text else ""
    return escape_markdown(" ".join(part for part in (cell.text or kind, mark, f"({reading})" if reading else "") if part))
