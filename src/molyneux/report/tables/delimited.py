"""Tables as comma-separated values: unrounded numbers, intervals in columns of their own."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from molyneux.report.tables.table import INTERVAL, Entry, Table


def to_csv(table: Table) -> str:
    """The table as CSV (RFC 4180 with plain line feeds); a column with intervals is followed by its `low` and `high`."""
    titles: list[str] = []
    parts: list[tuple[int, Callable[[Entry], str]]] = []
    for number, column in enumerate(table.columns):
        title = column.title.removesuffix(INTERVAL)
        titles.append(title)
        parts.append((number, _value))
        if any(row[number].interval for row in table.rows):
            titles += [f"{title} low", f"{title} high"]
            parts += [(number, _low), (number, _high)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows([part(row[number]) for number, part in parts] for row in table.rows)
    return stream.getvalue()


def _value(entry: Entry) -> str:
    return entry.text if entry.value is None else repr(entry.value)


def _low(entry: Entry) -> str:
    return "" if entry.interval is None else repr(entry.interval[0])


def _high(entry: Entry) -> str:
    return "" if entry.interval is None else repr(entry.interval[1])
