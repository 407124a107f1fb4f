"""The checks of ShapeWorld as tables of the records of `studies/shapeworld_checks.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from molyneux.report.tables import records_to_markdown

Row = Mapping[str, Any]

_SUMS = ("sentences", "distinct", "tree to tree", "text to text", "several readings")
"""Columns of the part `language` that are added up over kinds of captions."""


def checks(record: Mapping[str, Any], what: str) -> str:
    """The rows of a record as a table.

    Args:
        record: of one part.
        what: a variant, to which the rows are restricted; "" for all. Columns that are the same in all rows are left out then.
    """
    rows: list[Row] = [row for row in record["rows"] if not what or row["variant"] == what]
    if "language" in rows[0]:
        rows = _summed(rows)
    shown = [{column: value for column, value in row.items() if not what or column != "variant"} for row in rows]
    world = record.get("world", "shapeworld-v1")  # records of the first version do not name it
    note = f"{world}, seed {record['seed']}; {record['processor seconds']:,.0f} seconds of processor time; {record['machine']}"
    return f"{record['what']}.\n\n{records_to_markdown(shown)}\n- Record: {note}.\n"


def _summed(rows: Sequence[Row]) -> list[Row]:
    """Captions of all kinds together, by language and wording."""
    found: list[Row] = []
    for key in dict.fromkeys((row["language"], row["wording"]) for row in rows):
        mine = [row for row in rows if (row["language"], row["wording"]) == key]
        sums = {name: sum(row[name] for row in mine) for name in _SUMS if name in mine[0]}
        longest = max(row["longest"] for row in mine)
        found.append({"language": key[0], "wording": key[1], "kinds": len(mine), **sums, "words of the longest": longest})
    return found
