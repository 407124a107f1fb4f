"""Pages into files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from molyneux.core import ConfigError, nearest, store
from molyneux.report.page import Drawings, Page
from molyneux.report.plots import standalone
from molyneux.report.render import render_html, render_markdown
from molyneux.report.tables import Table, to_csv, to_latex

FORMATS = ("markdown", "html", "csv", "latex")


def write_page(page: Page, folder: Path, stem: str, formats: Sequence[str]) -> list[Path]:
    """Write a page: `<stem>.html`, `<stem>.md` with its drawings under `figures/`, every table under `tables/`.

    Raises:
        ConfigError: an unknown format. StoreError: the folder cannot be written.
    """
    check_formats(formats)
    written: list[Path] = []
    if "markdown" in formats:
        written.append(_write(folder / f"{stem}.md", render_markdown(page)))
        _figures(page, folder / "figures")
    if "html" in formats:
        written.append(_write(folder / f"{stem}.html", render_html(page)))
    tables = [block for section in page.filled for block in section.blocks if isinstance(block, Table)]
    if "csv" in formats:
        written += [_write(folder / "tables" / f"{table.name}.csv", to_csv(table)) for table in tables]
    if "latex" in formats:
        written += [_write(folder / "tables" / f"{table.name}.tex", to_latex(table)) for table in tables]
    return written


def check_formats(formats: Sequence[str]) -> None:
    """Raise ConfigError with a sentence for each unknown format."""
    unknown = [f"unknown report format {name!r}; {nearest(name, FORMATS)}" for name in formats if name not in FORMATS]
    if unknown:
        raise ConfigError(unknown)


def _figures(page: Page, folder: Path) -> None:
    drawings = [block for section in page.filled for block in section.blocks if isinstance(block, Drawings)]
    for panel in (panel for drawing in drawings for panel in drawing.panels):
        _write(folder / f"{panel.name}.svg", standalone(panel))


def _write(path: Path, text: str) -> Path:
    store.write_text(path, text)
    return path
