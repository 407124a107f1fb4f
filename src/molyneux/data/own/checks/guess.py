"""Data sets of files for which no settings were written: what each column seems to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import store
from molyneux.core.config import build
from molyneux.data.formats.array_files import map_array, read_arrays
from molyneux.data.own.arrays import ArrayDataset
from molyneux.data.own.checks.rows import checked_rows
from molyneux.data.own.checks.values import is_numeric
from molyneux.data.own.content import SPLIT_WORDS
from molyneux.data.own.dataset import OwnDataset
from molyneux.data.own.image_folder import ImageFolder
from molyneux.data.own.pictures import SUFFIXES
from molyneux.data.own.table import TableDataset
from molyneux.data.own.table_files import SUFFIXES as TABLES
from molyneux.data.own.table_files import table_files

_FEW, _SHARE = 20, 0.05
"""Different values of a column of labels: so many, or this share of the rows."""

_NONE = "text"
"""A column of a table without any, for the message of what reads it."""


def guessed_data(path: Path | str, given: Mapping[str, Any] | None = None) -> tuple[OwnDataset, str]:
    """The data set of a file or a folder, and what its parts were taken for.

    Args:
        path: a table, a folder of tables or of images, a `.npz` file or a folder of `.npy` files.
        given: settings that are known, such as `labels`; where there are any for a table, nothing else is guessed of it.

    Raises:
        StoreError: there is nothing there. ConfigError: settings that do not fit.
    """
    path, given = Path(path), dict(given or {})
    kind = _kind(path)
    guess: dict[str, Any] = {}
    if not given and kind is not ImageFolder:
        guess = _of_table(path) if kind is TableDataset else _of_arrays(path)
        given = guess
    data: OwnDataset = build(kind, {"path": str(path), **given}).value
    if guess.get("texts") == [_NONE]:
        guess = {}
    said = (f"{name}: {', '.join(names) if isinstance(names, list) else names}" for name, names in guess.items())
    return data, "; ".join(said)


def _kind(path: Path) -> type[TableDataset] | type[ImageFolder] | type[ArrayDataset]:
    if path.suffix.lower() in (".npz", ".npy"):
        return ArrayDataset
    if not store.is_folder(path):
        return TableDataset
    suffixes = {item.suffix.lower() for item in path.rglob("*") if item.is_file() and not item.name.startswith(".")}
    if ".npy" in suffixes:
        return ArrayDataset
    return ImageFolder if suffixes & {*SUFFIXES} and not suffixes & {*TABLES} else TableDataset


def _of_table(path: Path) -> dict[str, Any]:
    rows = checked_rows(table_files(path))
    found: dict[str, list[str]] = {"images": [], "tabular": [], "texts": [], "labels": []}
    for name, values in rows.columns.items():
        known = [value.strip() for value in values if value is not None and value.strip()]
        if not name.strip() or not known or name in rows.lists:
            continue
        distinct = set(known)
        if {word.lower() for word in distinct} <= SPLIT_WORDS.keys():
            continue
        if sum(Path(value).suffix.lower() in SUFFIXES for value in known[:100]) > 0.5 * len(known[:100]):
            found["images"].append(name)
        elif is_numeric(values):
            found["tabular"].append(name)
        elif len(distinct) <= max(_FEW, _SHARE * len(known)) and len(distinct) < 0.8 * len(known):
            found["labels"].append(name)
        else:
            found["texts"].append(name)
    if not (found["images"] or found["tabular"] or found["texts"]) and found["labels"]:
        found["texts"] = [found["labels"].pop()]
    if not (found["images"] or found["tabular"] or found["texts"]):
        found["texts"] = [next(iter(rows.columns), _NONE)]
    split = [name for name, values in rows.columns.items() if values and _names_splits(values)]
    settings: dict[str, Any] = {name: names for name, names in found.items() if names}
    return {**settings, **({"split": split[0]} if split else {})}


def _names_splits(values: Sequence[str | None]) -> bool:
    return {(value or "").strip().lower() for value in values} <= SPLIT_WORDS.keys()


def _of_arrays(path: Path) -> dict[str, Any]:
    """One integer for each sample is a label."""
    if store.is_folder(path):
        arrays: dict[str, np.ndarray] = {item.stem: map_array(item)[1] for item in sorted(path.glob("*.npy"))}
    else:
        arrays = dict(read_arrays(path))
    names = [name for name, array in arrays.items() if array.ndim == 1 and array.dtype.kind in "biu"]
    return {"labels": names} if names else {}
