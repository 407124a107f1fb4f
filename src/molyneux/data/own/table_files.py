"""Tables in CSV, TSV, JSON Lines, Parquet and Arrow files, read whole; errors name file, row and column."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from molyneux.core import DataError, StoreError, nearest, store
from molyneux.core.characters import composed, whole_characters
from molyneux.core.errors import short
from molyneux.data.formats.arrow_files import read_arrow, read_parquet
from molyneux.data.formats.json_files import read_lines
from molyneux.data.own.columns import is_list, is_number, is_text, numbers, plain
from molyneux.data.own.content import SPLIT_WORDS, Where
from molyneux.data.own.delimited import read_delimited
from molyneux.data.own.spelling import counted_texts

SUFFIXES = (".arrow", ".csv", ".feather", ".jsonl", ".ndjson", ".parquet", ".tab", ".tsv")
"""Of the names of tables, in small or capital letters."""

_KINDS = ", ".join(SUFFIXES)
_OTHER_TABLES = (".avro", ".dta", ".ods", ".orc", ".sas7bdat", ".sav", ".xls", ".xlsx")
_PERHAPS = (".dat", ".gz", ".json", ".npy", ".npz", ".pickle", ".pkl", ".txt", ".zip")
"""Suffixes of tables in other formats; and of files that may be one where they are named after a split."""


@dataclass(frozen=True)
class TableRows:
    """The rows of one or several files with the same columns.

    Args:
        table: all rows.
        files: the files and the number of rows of each, in order.
        notes: what was converted so far, one sentence each.
        separators: what separates fields in those files that are text.
    """

    table: pa.Table
    files: tuple[tuple[Path, int], ...]
    notes: list[str] = field(default_factory=list)
    separators: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.table)

    def where(self, row: int) -> str:
        """File and row, counted from 1 after the titles."""
        for path, size in self.files:
            if row < size:
                return f"{path}, row {row + 1}"
            row -= size
        return str(self.files[-1][0])

    def at(self, name: str) -> Where:
        """A function that gives the file and row of a number of a row, for messages about a column."""
        return lambda row: f"{self.where(row)}, column {name!r}"

    def column(self, name: str) -> pa.ChunkedArray:
        """The column of that name, in a plain type. Titles that differ only in surrounding blanks or in Unicode form are equal.

        Raises:
            DataError: there is none, or several.
        """
        names = self.table.column_names
        places = [place for place, title in enumerate(names) if title == name]
        places = places or [place for place, title in enumerate(names) if composed(title).strip() == composed(name).strip()]
        if len(places) != 1:
            many = f"{len(places)} columns {name!r}" if places else f"no column {name!r}; {nearest(name, names)}"
            raise DataError(f"{self.files[0][0]}: {many}")
        return plain(self.table.column(places[0]))

    def strings(self, name: str) -> list[str | None]:
        """The values of a column as text; None where there is none."""
        column = self.column(name)
        if not is_text(column.type):
            if not is_number(column.type):
                what = "lists" if is_list(column.type) else str(column.type)
                raise DataError(f"{self.files[0][0]}, column {name!r}: expected text, got {what}: store it as text")
            column = column.cast(pa.string())
        found: list[str | None] = column.to_pylist()
        return found

    def texts(self, name: str, missing: Sequence[str] | None = None) -> list[str | None]:
        """The values of a column as text; None where there is none, or where the text is one of `missing`."""
        return [None if missing and text in missing else text for text in self.strings(name)]

    def numbers(self, name: str) -> np.ndarray:
        """The values of a column as float64 (N,), or (N, L) where they are lists; NaN where there is none.

        Raises:
            DataError: a value is no number, infinite, or a list of another length; names file, row and column.
        """
        found, notes = numbers(self.column(name), self.at(name), comma="," not in self.separators)
        self.notes.extend(note for note in notes if note not in self.notes)
        return found

    def labels(self, name: str) -> tuple[np.ndarray, tuple[str, ...]]:
        """The labels of a column, as `make_labels` takes them, and names of values.

        There is no label where an integer is -1, a float is NaN, or a string is empty. The names are those of a `ClassLabel` of
        Hugging Face `datasets`; most columns have none.
        """
        column, names = self.column(name), self._class_names(name)
        if pa.types.is_decimal(column.type):
            column = column.cast(pa.float64())
        if pa.types.is_unsigned_integer(column.type) and not column.null_count:
            return np.asarray(column.to_numpy()), names
        if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
            return np.asarray(pc.fill_null(column.cast(pa.int64()), -1).to_numpy()), names
        if pa.types.is_floating(column.type):
            return np.asarray(column.cast(pa.float64()).to_numpy(), np.float64), names
        return np.array([value or "" for value in self.strings(name)], dtype=np.str_), names

    def images(self, name: str, root: Path) -> list[Path | bytes | None]:
        """Images of a column: paths below `root`; or the content of files, in a column of bytes or of `bytes` and `path`."""
        column = self.column(name)
        if pa.types.is_struct(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            return [self._image(value, root) for value in column.to_pylist()]
        return [file_below(root, value) if value else None for value in self.strings(name)]

    def _image(self, value: Any, root: Path) -> Path | bytes | None:
        if not isinstance(value, dict):
            return bytes(value) if value else None
        content, path = value.get("bytes"), value.get("path")
        return bytes(content) if content else file_below(root, str(path)) if path else None

    def _class_names(self, name: str) -> tuple[str, ...]:
        try:
            features = json.loads((self.table.schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
            return tuple(map(str, features[name].get("names") or ()))
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
            return ()


def file_below(root: Path, name: str) -> Path:
    """The file of a relative path, which may have backslashes or another Unicode form than the file's name."""
    slashes = name.replace("\\", "/")
    forms = (name, slashes, *(normalize(form, slashes) for form in ("NFC", "NFD")))
    return next((root / form for form in forms if (root / form).exists()), root / name)


def read_tables(paths: Sequence[Path]) -> TableRows:
    """The rows of some files, one after the other.

    Raises:
        StoreError: a file is not there. DataError: a file cannot be read, or its columns differ from those of the first.
    """
    found = [_read(path) for path in paths]
    tables = [table for table, _, _ in found]
    names = tables[0].column_names
    for place, (path, table) in enumerate(zip(paths, tables, strict=True)):
        if sorted(table.column_names) != sorted(names):
            raise DataError(
                f"{path}: expected the columns of {paths[0]}, {', '.join(names)}, got {', '.join(table.column_names)}"
            )
        if table.column_names != names and len(set(names)) == len(names):
            tables[place] = table.select(names)
    whole = tables[0] if len(tables) == 1 else _joined(paths, tables)
    whole = whole.replace_schema_metadata(tables[0].schema.metadata)
    files = tuple((path, len(table)) for path, table in zip(paths, tables, strict=True))
    separators = frozenset(separator for _, separator, _ in found if separator)
    return TableRows(whole, files, [note for _, _, notes in found for note in notes], separators)


def _joined(paths: Sequence[Path], tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of all tables; raises DataError, with file and column, where types do not go together."""
    tables = [pa.table([plain(column) for column in table.columns], names=table.column_names) for table in tables]
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        for path, table in zip(paths, tables, strict=True):
            for name, first, other in zip(table.column_names, tables[0].columns, table.columns, strict=True):
                if first.type != other.type and is_text(first.type) != is_text(other.type):
                    raise DataError(
                        f"{path}, column {name!r}: expected {first.type}, as in {paths[0]}, got {other.type}: store columns of "
                        "one type"
                    ) from error
        raise DataError(f"{paths[0].parent}: expected tables whose columns are of one type each: {short(error)}") from error


def _read(path: Path) -> tuple[pa.Table, str, list[str]]:
    """A table, what separates its fields if it is text, and what was converted."""
    suffix = path.suffix.lower()
    try:
        if suffix == ".parquet":
            return read_parquet(path), "", []
        if suffix in (".arrow", ".feather"):
            return read_arrow(path), "", []
        if suffix in (".jsonl", ".ndjson"):
            table, notes = read_json_lines(path)
            return table, "", notes
        return read_delimited(path)
    except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: expected a table in the format {suffix.removeprefix('.')}: {short(error)}") from error
    except OSError as error:
        raise store.read_error(error, path) from error


def table_files(path: Path) -> list[Path]:
    """The file at a path, or the tables in a folder and its sub-folders, sorted.

    Raises:
        StoreError: there are none. DataError: a folder holds a table in another format too, or a file named after a split that is
            none of these formats.
    """
    if store.is_folder(path):
        visible = [item for item in path.rglob("*") if not any(part.startswith(".") for part in item.relative_to(path).parts)]
        found = sorted(item for item in visible if item.suffix.lower() in SUFFIXES)
        if not found:
            raise StoreError(f"expected tables ({_KINDS}) in {path}, got none: name a file, or a folder that holds some")
        for item in sorted(visible):
            if item not in found and item.is_file() and _is_other_table(item):
                raise DataError(
                    f"{item}: expected tables ({_KINDS}) alone in {path}, got a file that is not read: store it as CSV or "
                    "Parquet, or move it away"
                )
        return found
    if not store.is_file(path):
        raise StoreError(f"expected a table in {path}, which is not there: name a file ({_KINDS})")
    require_table(path)
    return [path]


def require_table(path: Path) -> None:
    """Raise StoreError for a file that is in none of the formats of tables, by its suffix."""
    if path.suffix.lower() not in SUFFIXES:
        raise StoreError(f"expected a table ({_KINDS}), got {path}: store it as CSV or Parquet")


def _is_other_table(path: Path) -> bool:
    """Whether a file that is not read seems to be a table, by its suffix or because it is named after a split."""
    suffixes = {suffix.lower() for suffix in path.suffixes}
    named = path.name.replace("-", ".").replace("_", ".").split(".")[0].lower() in SPLIT_WORDS
    return bool(suffixes & {*_OTHER_TABLES, *SUFFIXES}) or (named and path.suffix.lower() in _PERHAPS)


def read_json_lines(path: Path) -> tuple[pa.Table, list[str]]:
    """A table of the objects of a file, and what was converted; a key that an object lacks, and null, are no value.

    Raises:
        DataError: a line is no object, or a key has values of several kinds; names line and key. StoreError: it cannot be read.
    """
    rows, places = list[Any](), list[str]()
    for where, record in read_lines(path):
        rows.append(record)
        places.append(where)
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not names:
        raise DataError(f"{path}: expected an object with values on each line, got none: add rows")
    table = pa.table({whole_characters(name): _column([row.get(name) for row in rows], name, places) for name in names})
    halves = [
        (place, name)
        for place, row in zip(places, rows, strict=True)
        for name, value in row.items()
        if isinstance(value, str) and whole_characters(value) != value
    ]
    if not halves:
        return table, []
    place, name = halves[0]
    count = counted_texts(len(halves))
    return table, [f"{place}, {name!r}: half of a character (a lone surrogate) was read as U+FFFD ({count})"]


def _column(values: list[Any], name: str, places: list[str]) -> pa.Array:
    """The values of a key; whole numbers beside others are numbers."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        values = [None if value is None else float(value) for value in values]
    elif len(kinds) > 1:
        first = next(value for value in values if value is not None)
        row = next(row for row, value in enumerate(values) if value is not None and type(value) is not type(first))
        raise DataError(
            f"{places[row]}: expected {name!r} as {type(first).__name__}, as in the first line, got "
            f"{type(values[row]).__name__} {str(values[row])[:50]!r}: write values of one kind"
        )
    elif kinds == {str}:
        values = [None if value is None else whole_characters(value) for value in values]
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError) as error:
        raise DataError(f"{places[0]}: expected values of one kind under {name!r}: {error}") from error
