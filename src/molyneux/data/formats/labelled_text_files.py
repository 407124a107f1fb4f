"""Labelled texts in files of comma-separated values: a class number from 1, then quoted fields, no header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from molyneux.core import DataError, files, store
from molyneux.core.tooling.compiled import compiled

_CLASS = "class"
_BLOCK = _SCANNED = 16 << 20
"""Bytes that are parsed, and searched for quotes, at once: what is in memory does not grow with the file."""

_QUOTE, _RETURN, _FEED = 34, 13, 10
_START, _PLAIN, _QUOTED, _MAYBE_CLOSED = 0, 1, 2, 3
"""Where a reader is: before a field, in one without quotes, in one with quotes, behind a quote that closes it unless a second
one follows."""


def read_labels(path: Path, fields: Sequence[str], *, classes: int) -> np.ndarray:
    """The class of every row of a file, (N,) int64 from 0; `fields` are the columns after the class.

    Raises:
        StoreError: the file cannot be read. DataError: names file and row of what is no class, or file and line of a quote that
            is not closed at the end of the file.
    """
    with _reading(path):
        require_closed(path)
    found = [np.empty(0, np.int64)]
    for start, batch in _batches(path, fields, (_CLASS,)):
        words = batch.column(0)
        known = pc.index_in(words, pa.array([str(number + 1) for number in range(classes)]))
        if known.null_count:
            row = int(np.flatnonzero(known.is_null().to_numpy(zero_copy_only=False))[0])
            got = words[row].as_py()
            raise DataError(
                f"{path}, row {start + row + 1}: expected a class from 1 to {classes} and no line of titles, got {got!r}"
            )
        found.append(known.to_numpy().astype(np.int64))
    return np.concatenate(found)


def read_texts(path: Path, fields: Sequence[str], *, used: Sequence[str], rows: np.ndarray) -> Iterator[pa.Array]:
    """The texts of some rows (n,), whose numbers rise, block by block: the fields `used` in this order, joined by a space.

    Raises:
        StoreError, DataError: the file cannot be read.
    """
    for start, batch in _batches(path, fields, used):
        first, last = np.searchsorted(rows, [start, start + len(batch)])
        if last > first:
            chosen = batch.take(pa.array(rows[first:last] - start))
            yield pc.binary_join_element_wise(*(chosen.column(name) for name in used), " ")


def _batches(path: Path, fields: Sequence[str], wanted: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The columns `wanted`, block by block, with the number of the first row."""
    names, start = [_CLASS, *fields], 0
    with _reading(path):
        reader = csv.open_csv(
            files.require_plain_file(path),
            read_options=csv.ReadOptions(column_names=names, block_size=_BLOCK),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(include_columns=list(wanted), column_types=dict.fromkeys(names, pa.string())),
        )
        for batch in reader:
            yield start, batch
            start += len(batch)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except pa.ArrowInvalid as error:
        raise DataError(f"{path}: expected rows of quoted fields, separated by commas, in UTF-8: {error}") from error
    except OSError as error:
        raise store.read_error(error, path) from error


def require_closed(path: Path, separator: str = ",") -> None:
    """Raise DataError if a field's quote is not closed at the end of a file: a reader would take what is there for the whole row.

    A quote opens a field only where the field begins, and two of them inside it stand for one, as Arrow reads them.
    """
    state = np.array([_START, 1, 0], np.int64)
    with files.open_plain(path) as stream:
        while block := stream.read(_SCANNED):
            _follow(np.frombuffer(block, np.uint8), state, ord(separator))
    if state[0] == _QUOTED:
        raise DataError(
            f"{path}, line {state[2]}: expected a quote that closes the field before the end of the file, got none: "
            "the file was cut, restore it"
        )


@compiled
def _follow(block: np.ndarray, state: np.ndarray, separator: int) -> None:
    """Go on through the bytes of a file; `state` is where the reader is, its line, and the line where the last quote began."""
    where, line, opened = state[0], state[1], state[2]
    for byte in block:
        if where == _QUOTED:
            where = _MAYBE_CLOSED if byte == _QUOTE else _QUOTED
        elif byte in (separator, _RETURN, _FEED):
            where = _START
        elif byte == _QUOTE and where == _START:
            where, opened = _QUOTED, line
        elif byte == _QUOTE and where == _MAYBE_CLOSED:
            where = _QUOTED
        else:
            where = _PLAIN
        line += byte == _FEED
    state[0], state[1], state[2] = where, line, opened
