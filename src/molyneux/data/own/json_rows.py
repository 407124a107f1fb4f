"""Tables in JSON Lines: an object on each line, as Hugging Face `datasets` and many programs write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from molyneux.core import DataError
from molyneux.core.characters import whole_characters
from molyneux.data.benchmarks.json_files import read_lines
from molyneux.data.own.spelling import counted_texts


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
