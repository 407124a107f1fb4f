"""The rows of tables with the lines on which they begin, as an editor counts them; bad rows are told and passed over."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from molyneux.core import DataError, MolyneuxError, files, store
from molyneux.core.characters import composed
from molyneux.data.formats.labelled_text_files import require_closed
from molyneux.data.own.checks.findings import DataProblem
from molyneux.data.own.columns import is_list, is_number, is_text
from molyneux.data.own.delimited import UTF_16_MARKS, separator_of, title_line
from molyneux.data.own.table_files import read_tables

_LONGEST_FIELD = 1 << 27
_SHOWN = 60
_DELIMITED = (".csv", ".tab", ".tsv")
_HALF = re.compile("[\udc80-\udcff]+")


@dataclass
class CheckedRows:
    """The rows of some files.

    Args:
        columns: by title, the values of all rows as text; None where there is none.
        places: (N,) file and line of each row.
        findings: what was wrong with the files.
        separators: what separates fields in files that are text.
        lists: titles of columns that are no text, such as lists of numbers or the content of images.
    """

    columns: dict[str, list[str | None]] = field(default_factory=dict)
    places: list[tuple[Path, int, str]] = field(default_factory=list)
    findings: list[DataProblem] = field(default_factory=list)
    separators: set[str] = field(default_factory=set)
    lists: set[str] = field(default_factory=set)

    def place(self, row: int, column: str = "") -> str:
        """File, line and column of a row."""
        path, line, unit = self.places[row]
        return f"{path}, {unit} {line}" + (f", column {column!r}" if column else "")

    def column(self, name: str) -> list[str | None] | None:
        """The values of a column, whose title may have blanks around it; None where there is none."""
        if name in self.columns:
            return self.columns[name]
        same = [title for title in self.columns if composed(title).strip() == composed(name).strip()]
        return self.columns[same[0]] if len(same) == 1 else None


def checked_rows(paths: Sequence[Path]) -> CheckedRows:
    """The rows of tables in files, with all that is wrong with their lines."""
    rows = CheckedRows()
    for path in paths:
        try:
            if path.suffix.lower() in _DELIMITED:
                titles, values = _delimited(path, rows)
            else:
                titles, values = _others(path, rows)
        except (MolyneuxError, csv.Error, OSError) as error:
            rows.findings.append(DataProblem("a file that cannot be read", True, str(path), _without(str(error), path)))
            continue
        if rows.columns and sorted(rows.columns) != sorted(titles):
            text = f"expected the columns {', '.join(rows.columns)}, as in the first file, got {', '.join(titles)}"
            rows.findings.append(DataProblem("files with other columns", True, str(path), text))
            del rows.places[len(rows.places) - len(values) :]
            continue
        for place, title in enumerate(titles):
            if title in titles[:place]:
                continue
            rows.columns.setdefault(title, []).extend(row[place] for row in values)
    return rows


def _delimited(path: Path, rows: CheckedRows) -> tuple[list[str], list[list[str | None]]]:
    """Titles and rows of delimited text."""
    text = _text(path, rows)
    head = text.encode("utf-8", "surrogateescape")[: 1 << 20]
    skip = 1 if head.startswith(b"sep=") else 0
    titles_text = title_line(head, skip)
    usual = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    given = head[4:5].decode("ascii", "replace") if skip else ""
    separator = given if given and given in ",;\t|" else separator_of(titles_text, usual)
    rows.separators.add(separator)
    try:
        require_closed(path, separator)
    except DataError as error:
        named = re.search(r", line (\d+): (.*)", str(error))
        place, told = (f"{path}, line {named[1]}", named[2]) if named else (str(path), _without(str(error), path))
        rows.findings.append(DataProblem("a quote that is not closed", True, place, told))
    records = _records(text, separator)
    titles: list[str] = []
    found: list[list[str | None]] = []
    for line, record in records:
        if line <= skip or (not titles and not any(record)):
            continue
        if not titles:
            titles = record
            for title in sorted({title for title in titles if title.strip() and titles.count(title) > 1}):
                text = f"expected titles that differ, got {title!r} {titles.count(title)} times: rename all but one"
                rows.findings.append(DataProblem("a title that is there twice", True, f"{path}, line {line}", text))
            continue
        if not record and len(titles) > 1:
            continue
        record = record or [""]
        if len(record) != len(titles):
            rows.findings.append(_other_number(path, line, record, titles, separator))
            continue
        found.append([value or None for value in record])
        rows.places.append((path, line, "line"))
    return titles, found


def _other_number(path: Path, line: int, record: Sequence[str], titles: Sequence[str], separator: str) -> DataProblem:
    shown = separator.join(record)[:_SHOWN]
    advice = f"quote fields that hold {separator!r}" if len(record) > len(titles) else "fill it, or take it away"
    if not record[-1] and len(record) == len(titles) + 1:
        advice = f"take away the {separator!r} at its end"
    text = f"expected {len(titles)} fields separated by {separator!r}, got {len(record)} in {shown!r}: {advice}"
    return DataProblem("a row with another number of fields", True, f"{path}, line {line}", text)


def _text(path: Path, rows: CheckedRows) -> str:
    """The text of a file; bytes that are not in UTF-8 are told, and stand for themselves."""
    content = files.read_plain(path, most=store.MOST_LINES)
    if content.startswith(UTF_16_MARKS):
        try:
            return content.decode("utf-16")
        except UnicodeError as error:
            raise DataError(f"{path}: expected text in UTF-16, as its mark says: {error}: save it as UTF-8") from error
    if b"\0" in content[: 1 << 20]:
        raise DataError(f"{path}: expected text in UTF-8, got bytes of zeros, as UTF-16 without a mark has: save it as UTF-8")
    text = content.decode("utf-8-sig", "surrogateescape")
    if _HALF.search(text):
        for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
            if half := _HALF.search(line):
                byte, meant = half[0].encode("utf-8", "surrogateescape")[0], _windows(line)
                told = f"expected text in UTF-8, got the byte {byte:#04x}{meant}: save the file as UTF-8"
                rows.findings.append(DataProblem("text that is not in UTF-8", True, f"{path}, line {number}", told))
    return text


def _windows(line: str) -> str:
    """How a line reads in the encoding of Windows, where it is one."""
    try:
        return f", which is Windows-1252 of {line.encode('utf-8', 'surrogateescape').decode('cp1252')[:_SHOWN]!r}"
    except UnicodeDecodeError:
        return ""


def _records(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The records of delimited text, each with the line on which it begins."""
    before, limit = 0, csv.field_size_limit(_LONGEST_FIELD)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        for record in reader:
            yield before + 1, record
            before = reader.line_num
    finally:
        csv.field_size_limit(limit)


def _others(path: Path, rows: CheckedRows) -> tuple[list[str], list[list[str | None]]]:
    """Titles and rows of JSON Lines, Parquet or Arrow, which are read whole."""
    table = read_tables([path])
    columns = []
    for name in table.table.column_names:
        column = table.column(name)
        plain = is_text(column.type) or is_number(column.type)
        if not plain:
            rows.lists.add(name)
        values = (
            table.strings(name) if plain else [None if value is None else str(hash(str(value))) for value in column.to_pylist()]
        )
        if not plain and not is_list(column.type):
            values = [None] * len(values)
        columns.append(values)
    unit = "line" if path.suffix.lower() in (".jsonl", ".ndjson") else "row"
    rows.places += [(path, number, unit) for number in range(1, len(table) + 1)]
    return list(table.table.column_names), [list(row) for row in zip(*columns, strict=True)]


def _without(message: str, path: Path) -> str:
    """A message without the file that it begins with."""
    return message.removeprefix(f"{path}: ").removeprefix(f"{path}, ")
