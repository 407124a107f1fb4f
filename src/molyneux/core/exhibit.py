"""Exhibits: pictures and points that a measure stores beside its scores, as arrays, for the report to draw.

A `Gallery` is a table of views (inputs, reconstructions, traversals) with what a reader read in each; a `Scatter` is a
2-D projection of codes coloured by factors. On disk: one JSON index and one array per exhibit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import files, store
from molyneux.core.errors import CorruptFileError


@dataclass(frozen=True)
class Cell:
    """One view in a gallery.

    Args:
        view: image (C, H, W) uint8, series (T, D) float32, or None for text.
        text: the string of a text view; for other kinds a label, or empty.
        reading: the factor values that the reader read in it, as text.
        correct: whether the reading is right; None where there is nothing to compare it with.
        channels: of a series, the names of its columns, where they are known.
    """

    view: np.ndarray | None = None
    text: str = ""
    reading: str = ""
    correct: bool | None = None
    channels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gallery:
    """A table of views: rows of cells under column titles."""

    name: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Scatter:
    """A scatter plot: points in the plane, which can be coloured by each of several factors.

    Args:
        points: (N, 2) float32.
        colours: per factor name its codes (N,) int64; -1 = absent.
        values: per factor name its value names.
    """

    name: str
    title: str
    note: str
    points: np.ndarray
    colours: Mapping[str, np.ndarray] = field(default_factory=dict)
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


Exhibit = Gallery | Scatter


def save_exhibits(folder: Path | str, exhibits: Sequence[Exhibit]) -> None:
    """Write exhibits into `folder`: `exhibits.json` and numbered arrays, whose file names do not depend on any given name."""
    folder = Path(folder)
    index = []
    for number, item in enumerate(exhibits):
        stem = f"exhibit{number}"
        index.append(_save_gallery(folder, stem, item) if isinstance(item, Gallery) else _save_scatter(folder, stem, item))
    store.write_json(folder / "exhibits.json", index)


def load_exhibits(folder: Path | str) -> list[Exhibit]:
    """Read what `save_exhibits` wrote; an absent index gives an empty list.

    Raises:
        CorruptFileError: the index does not describe exhibits.
    """
    folder = Path(folder)
    path = files.inside(folder, "exhibits.json")
    if not path.exists():
        return []
    try:
        return [_LOAD[record["type"]](folder, record) for record in store.read_json(path)]
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        raise CorruptFileError(
            f"{path} is damaged ({error!r}): restore it from a copy, or delete {folder} to measure again"
        ) from error


def _save_gallery(folder: Path, stem: str, gallery: Gallery) -> dict[str, Any]:
    shapes: dict[tuple[int, ...], list[np.ndarray]] = {}
    rows = []
    for row in gallery.rows:
        cells = []
        for cell in row:
            place = None
            if cell.view is not None:
                group = shapes.setdefault(cell.view.shape, [])
                place = [list(shapes).index(cell.view.shape), len(group)]
                group.append(cell.view)
            named = {"channels": list(cell.channels)} if cell.channels else {}
            cells.append({"view": place, "text": cell.text, "reading": cell.reading, "correct": cell.correct, **named})
        rows.append(cells)
    for number, views in enumerate(shapes.values()):
        store.write_array(folder / f"{stem}.{number}.npy", np.stack(views))
    head = {"type": "gallery", "file": stem, "name": gallery.name, "title": gallery.title, "note": gallery.note}
    return {**head, "columns": list(gallery.columns), "rows": rows, "arrays": len(shapes)}


def _load_gallery(folder: Path, record: Mapping[str, Any]) -> Gallery:
    names = [f"{record['file']}.{number}.npy" for number in range(record["arrays"])]
    arrays = [store.read_array(files.inside(folder, name)) for name in names]

    def cell(item: Mapping[str, Any]) -> Cell:
        place = item["view"]
        view = None if place is None else np.asarray(arrays[place[0]][place[1]])
        channels = tuple(map(str, item.get("channels", ())))
        known = channels if view is not None and len(channels) == view.shape[-1] else ()
        return Cell(view, item["text"], item["reading"], item["correct"], known)

    rows = tuple(tuple(cell(item) for item in row) for row in record["rows"])
    return Gallery(record["name"], record["title"], record["note"], tuple(record["columns"]), rows)


def _save_scatter(folder: Path, stem: str, scatter: Scatter) -> dict[str, Any]:
    store.write_array(folder / f"{stem}.points.npy", scatter.points.astype(np.float32))
    names = list(scatter.colours)
    codes = np.stack([scatter.colours[name] for name in names], 1) if names else np.empty((len(scatter.points), 0), np.int64)
    store.write_array(folder / f"{stem}.colours.npy", codes)
    head = {"type": "scatter", "file": stem, "name": scatter.name, "title": scatter.title, "note": scatter.note}
    return {**head, "factors": names, "values": {name: list(scatter.values[name]) for name in names}}


def _load_scatter(folder: Path, record: Mapping[str, Any]) -> Scatter:
    points = np.asarray(store.read_array(files.inside(folder, f"{record['file']}.points.npy")))
    codes = np.asarray(store.read_array(files.inside(folder, f"{record['file']}.colours.npy")))
    colours = {name: codes[:, column] for column, name in enumerate(record["factors"])}
    values = {name: tuple(record["values"][name]) for name in record["factors"]}
    return Scatter(record["name"], record["title"], record["note"], points, colours, values)


_LOAD: dict[str, Callable[[Path, Mapping[str, Any]], Exhibit]] = {"gallery": _load_gallery, "scatter": _load_scatter}
