"""Tables in CSV, TSV, Parquet and Arrow files, read whole; errors name file, row and column."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from molyneux.core import DataError, StoreError, nearest, store
from molyneux.data.arrow_files import read_arrow, read_parquet
from molyneux.data.limits import short

SUFFIXES = (".arrow", ".csv", ".feather", ".parquet", ".tsv")
_MISSING = ("", "NA", "NaN", "nan", "null", "None")


@dataclass(frozen=True)
class TableRows:
    """The rows of one or several files with the same columns.

    Args:
        table: all rows.
        files: the files and the number of rows of each, in order.
    """

    table: pa.Table
    files: tuple[tuple[Path, int], ...]

    def __len__(self) -> int:
        return len(self.table)

    def where(self, row: int) -> str:
        """File and row, counted from 1 after the titles."""
        for path, size in self.files:
            if row < size:
                return f"{path}, row {row + 1}"
            row -= size
        return str(self.files[-1][0])

    def column(self, name: str) -> pa.ChunkedArray:
        """The column of that name.

        Raises:
            DataError: there is none, or several.
        """
        names = self.table.column_names
        if names.count(name) != 1:
            many = f"{names.count(name)} columns {name!r}" if name in names else f"no column {name!r}; {nearest(name, names)}"
            raise DataError(f"{self.files[0][0]}: {many}")
        return self.table.column(name)

    def strings(self, name: str) -> list[str | None]:
        """The values of a column as text; None where there is none."""
        column = self.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            if not (pa.types.is_integer(column.type) or pa.types.is_boolean(column.type) or pa.types.is_floating(column.type)):
                raise DataError(f"{self.files[0][0]}, column {name!r}: expected text, got {column.type}")
            column = column.cast(pa.string())
        found: list[str | None] = column.to_pylist()
        return found

    def numbers(self, name: str) -> np.ndarray:
        """The values of a column as float64 (N,); NaN where there is none.

        Raises:
            DataError: a value is no number; names file, row and column.
        """
        column = self.column(name)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = pc.utf8_trim_whitespace(column)
            column = pc.if_else(pc.is_in(column, pa.array(_MISSING, column.type)), pa.scalar(None, column.type), column)
        try:
            return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
            for row, value in enumerate(column.to_pylist()):
                try:
                    float(value if value is not None else 0)
                except (TypeError, ValueError):
                    raise DataError(
                        f"{self.where(row)}, column {name!r}: expected a number, got {str(value)[:100]!r}: "
                        "correct it, or leave it empty"
                    ) from None
            raise DataError(f"{self.files[0][0]}, column {name!r}: expected numbers, got {column.type}") from None

    def labels(self, name: str) -> tuple[np.ndarray, tuple[str, ...]]:
        """The labels of a column: integers, -1 where there is none, or strings, empty where there is none; and names of values.

        The names are those of a `ClassLabel` of Hugging Face `datasets`; most columns have none.
        """
        column, names = self.column(name), self._class_names(name)
        if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
            return np.asarray(pc.fill_null(column.cast(pa.int64()), -1).to_numpy()), names
        return np.array([value or "" for value in self.strings(name)], dtype=np.str_), ()

    def images(self, name: str, root: Path) -> list[Path | bytes | None]:
        """Images of a column: paths below `root`; or the content of files, in a column of bytes or of `bytes` and `path`."""
        column = self.column(name)
        if pa.types.is_struct(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            return [self._image(value, root) for value in column.to_pylist()]
        return [root / value if value else None for value in self.strings(name)]

    def _image(self, value: Any, root: Path) -> Path | bytes | None:
        if not isinstance(value, dict):
            return bytes(value) if value else None
        content, path = value.get("bytes"), value.get("path")
        return bytes(content) if content else root / str(path) if path else None

    def _class_names(self, name: str) -> tuple[str, ...]:
        try:
            features = json.loads((self.table.schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
            return tuple(map(str, features[name].get("names") or ()))
        except (KeyError, TypeError, AttributeError, ValueError):
            return ()


def read_tables(paths: Sequence[Path]) -> TableRows:
    """The rows of some files, one after the other.

    Raises:
        StoreError: a file is not there. DataError: a file cannot be read, or its columns differ from those of the first.
    """
    tables = [_read(path) for path in paths]
    for path, table in zip(paths, tables, strict=True):
        if table.column_names != tables[0].column_names:
            raise DataError(
                f"{path}: expected the columns of {paths[0]}, {', '.join(tables[0].column_names)}, got "
                f"{', '.join(table.column_names)}"
            )
    whole = pa.concat_tables(tables, promote_options="permissive") if len(tables) > 1 else tables[0]
    whole = whole.replace_schema_metadata(tables[0].schema.metadata)
    return TableRows(whole, tuple((path, len(table)) for path, table in zip(paths, tables, strict=True)))


def _read(path: Path) -> pa.Table:
    try:
        if path.suffix == ".parquet":
            return read_parquet(path)
        if path.suffix in (".arrow", ".feather"):
            return read_arrow(path)
        return _delimited(path, "\t" if path.suffix == ".tsv" else ",")
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise DataError(f"{path}: expected a table in the format {path.suffix.removeprefix('.')}: {short(error)}") from error
    except OSError as error:
        raise store.read_error(error, path) from error


def _delimited(path: Path, delimiter: str) -> pa.Table:
    """A table of delimited text with titles; every value stays text, an empty one that is not quoted is null."""
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    with csv.open_csv(path, parse_options=parse) as head:
        names = head.schema.names
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path}: expected titles that differ in the first row, got {repeated!r} twice")
    convert = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        strings_can_be_null=True,
        null_values=[""],
        quoted_strings_can_be_null=False,
    )
    return csv.read_csv(path, parse_options=parse, convert_options=convert)


def table_files(path: Path) -> list[Path]:
    """The file at a path, or the tables in a folder and its sub-folders, sorted.

    Raises:
        StoreError: there are none.
    """
    kinds = ", ".join(SUFFIXES)
    if path.is_dir():
        found = sorted(item for item in path.rglob("*") if item.suffix in SUFFIXES and not item.name.startswith("."))
        if not found:
            raise StoreError(f"expected tables ({kinds}) in {path}, got none: name a file, or a folder that holds some")
        return found
    if not store.is_file(path):
        raise StoreError(f"expected a table in {path}, which is not there: name a file ({kinds})")
    if path.suffix not in SUFFIXES:
        raise StoreError(f"expected a table ({kinds}), got {path}: store it as CSV or Parquet")
    return [path]
