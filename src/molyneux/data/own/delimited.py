"""Tables in delimited text: CSV and TSV, as spreadsheets and programs write them."""

from __future__ import annotations

import codecs
import csv as plain_csv
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from molyneux.core import DataError, files, store
from molyneux.data.formats.labelled_text_files import require_closed

_HEAD = 1 << 20
"""Bytes in which the titles end."""

_BLOCK = 16 << 20
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_FEED = b"\n"
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_delimited(path: Path) -> tuple[pa.Table, str, list[str]]:
    """A table of delimited text with titles, what separates its fields, and what was converted, in sentences.

    Every value stays text; an empty one that is not quoted is null. The separator is that of the suffix, unless the titles
    are a single field with it and several with another separator.

    Raises:
        DataError: titles are repeated, a row has another number of fields, a quote is not closed, or the text is not in UTF-8
            or marked as UTF-16; names the row. StoreError: the file cannot be read.
    """
    notes: list[str] = []
    source: Any = path
    with files.open_plain(path) as stream:
        head = stream.read(_HEAD)
    if head.startswith(UTF_16_MARKS):
        text = _decoded(path)
        head, source = text[:_HEAD], pa.BufferReader(text)
        notes.append(f"{path}: read from UTF-16")
    elif b"\0" in head:
        raise DataError(f"{path}: expected text in UTF-8, got bytes of zeros, as UTF-16 without a mark has: save it as UTF-8")
    else:
        _require_utf8(path)
    told = head.removeprefix(codecs.BOM_UTF8)[:5]
    skip = 1 if told.startswith(b"sep=") else 0  # a line of spreadsheets that names the separator
    usual = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    given = told[4:].decode("ascii", "replace") if skip else ""
    titles = title_line(head, skip)
    separator = given if given in _SEPARATORS else separator_of(titles, usual)
    if separator != usual:
        notes.append(f"{path}: read as separated by {_SEPARATORS[separator]} ({separator!r}), not by {_SEPARATORS[usual]}")
    if isinstance(source, Path):
        require_closed(path, separator)
    return _parsed(source, path, separator, titles=titles, skip=skip), separator, notes


def _decoded(path: Path) -> bytes:
    """A file of UTF-16 with its mark, in UTF-8."""
    try:
        return files.read_plain(path, most=store.MOST_LINES).decode("utf-16").encode("utf-8")
    except UnicodeError as error:
        raise DataError(f"{path}: expected text in UTF-16, as its mark says: {error}: save it as UTF-8") from error


def _require_utf8(path: Path) -> None:
    """Raise DataError, with line and byte, for text that is not in UTF-8."""
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    with files.open_plain(path) as stream:
        while True:
            block = stream.read(_BLOCK)
            held = decoder.getstate()[0]
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                before = (held + block)[: error.start]
                line += before.count(b"\n")
                byte, line_so_far = (held + block)[error.start], before.rpartition(_FEED)[2][-20:].decode("utf-8", "replace")
                raise DataError(
                    f"{path}, line {line}: expected text in UTF-8, got the byte {byte:#04x} after "
                    f"{line_so_far!r}: save the file as UTF-8 (spreadsheets call it CSV UTF-8)"
                ) from error
            if not block:
                return
            line += block.count(b"\n")


def title_line(head: bytes, skip: int) -> str:
    """The line of titles."""
    lines = head.decode("utf-8-sig", "replace").splitlines()
    filled = [line for line in lines[skip:] if line.strip()]
    return filled[0] if filled else ""


def separator_of(titles: str, usual: str) -> str:
    """The separator of titles: the usual one, or where that gives a single title, the one that gives most."""
    counts = {separator: len(next(plain_csv.reader([titles], delimiter=separator), [])) for separator in _SEPARATORS}
    return usual if counts[usual] > 1 else max(counts, key=lambda separator: (counts[separator], separator == usual))


def _parsed(source: Any, path: Path, separator: str, *, titles: str, skip: int) -> pa.Table:
    wrong = list[csv.InvalidRow]()
    several = separator in titles  # in a table of one column, an empty line is a row without a value

    def refuse(row: csv.InvalidRow) -> str:
        wrong.append(row)
        return "error"

    def options(handler: Any = None) -> dict[str, Any]:
        parse = csv.ParseOptions(
            delimiter=separator, newlines_in_values=True, invalid_row_handler=handler, ignore_empty_lines=several
        )
        return {
            "parse_options": parse,
            "read_options": csv.ReadOptions(skip_rows=skip, use_threads=handler is None, block_size=_BLOCK),
        }

    def opened() -> Any:
        if not isinstance(source, Path):
            source.seek(0)
        return source

    try:
        with csv.open_csv(opened(), **options(refuse)) as head:
            names = head.schema.names
        repeated = next((name for name in names if name.strip() and names.count(name) > 1), None)
        if repeated is not None:
            raise DataError(f"{path}: expected titles that differ in the first row, got {repeated!r} twice")
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            null_values=[""],
            quoted_strings_can_be_null=False,
            check_utf8=False,
        )
        try:
            return csv.read_csv(opened(), convert_options=convert, **options())
        except pa.ArrowInvalid:
            return csv.read_csv(opened(), convert_options=convert, **options(refuse))  # in one thread, which counts rows
    except pa.ArrowInvalid as error:
        if not wrong:
            raise DataError(f"{path}: expected a table in delimited text with titles: {error}") from error
        row = wrong[0]
        number = "" if row.number is None else f", row {row.number - 1}"
        advice = "take away the one at the end" if row.text.endswith(separator) else f"quote fields that hold {separator!r}"
        if row.expected_columns == 1:
            advice = "take away what stands before the titles"
        raise DataError(
            f"{path}{number}: expected {row.expected_columns} fields separated by {separator!r}, as the titles "
            f"{titles[:60]!r} are, got {row.actual_columns} in {row.text[:80]!r}: {advice}"
        ) from error
    except OSError as error:
        raise store.read_error(error, path) from error
