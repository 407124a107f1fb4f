"""Columns of numbers: missing values, infinities, signs, and the types of Parquet and Arrow."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from molyneux.data import OwnDataset
from situations.situation import Situation, whole
from situations.tables import arrow, changed, table, text

NUMBERS = [row + 0.5 for row in range(24)]
KIND = ["a", "b"] * 12
USED: dict[str, Any] = {"tabular": ("weight",), "labels": ("kind",), "standardise": False}


def weights(values: Any, name: str = "items.parquet", **settings: Any) -> Any:
    """A table in Parquet with a column of numbers and one of labels."""
    return arrow({"weight": values, "kind": KIND}, name, **{**USED, **settings})


def number(value: str, **settings: Any) -> Any:
    """A table in CSV with a number of row 4 written like this."""
    return table(text(rows=changed(0, 3, value)), **{**USED, "texts": (), **settings})


def are(expected: Any) -> Callable[[OwnDataset], bool]:
    """Whether the numbers are these."""
    return lambda data: np.allclose(whole(data).views["tabular"].numpy(), np.reshape(expected, (24, -1)))


def fourth(value: float) -> Callable[[OwnDataset], bool]:
    """Whether the number of row 4 is this one, and the others are as they were."""
    return are([value if row == 3 else found for row, found in enumerate(NUMBERS)])


def lacks(*rows: int) -> Callable[[OwnDataset], bool]:
    """Whether these rows and no others lack the modality."""
    return lambda data: np.flatnonzero(~whole(data).mask("tabular").numpy()).tolist() == [*rows]


LISTS = [[float(row), 2.0] for row in range(24)]
EXACT = pa.array([Decimal(f"{value}") for value in NUMBERS], pa.decimal128(8, 3))
DAYS = pa.array([datetime.date(2026, 1, 1)] * 24)

SITUATIONS = [
    *(
        Situation(f"a number written {value!r}", "read", number(value), f"{expected:g}", fourth(expected))
        for value, expected in ((" 3.5 ", 3.5), ("-3", -3), ("1e3", 1000), ("+.5", 0.5), ("007", 7))
    ),
    *(
        Situation(f"a number that is {what}", "read", number(value), "a row that lacks the modality", lacks(3))
        for what, value in (
            ("an empty field", ""),
            ("`NA` or `N/A`", "N/A"),
            ("`NaN`, `nan` or `-nan`", "NaN"),
            ("`null` or `None`, in any letters", "NULL"),
        )
    ),
    *(
        Situation(f"a number written {value!r}", "refused", number(value), "items.csv, row 4, column 'weight': expected a number")
        for value in ("inf", "-Infinity", "1e39", "1_000", "?", "true", "0x1F", "3;4", '"1,234.5"', "[1 2]")
    ),
    *(
        Situation(f"a number written {value!r}", "refused", number(value), "write the number alone, without its unit")
        for value in ("12%", "$3", "3 kg", "20 °C")
    ),
    Situation(
        "numbers that are all missing in the training rows",
        "refused",
        weights(pa.nulls(24)),
        "expected training samples with all of weight, got none",
    ),
    Situation(
        "NaN and null in a column of floats", "read", weights([None, np.nan, *NUMBERS[2:]]), "both are missing", lacks(0, 1)
    ),
    Situation(
        "infinity in a column of floats",
        "refused",
        weights([*NUMBERS[:7], -np.inf, *NUMBERS[8:]]),
        "items.parquet, row 8, column 'weight': expected a number that is not infinite, got -inf",
    ),
    *(
        Situation(f"a column of type {kind}", "read", weights(pa.array(range(24), kind)), "as numbers", are(range(24)))
        for kind in (pa.int8(), pa.uint8(), pa.int64(), pa.uint64(), pa.float32(), pa.float64())
    ),
    Situation(
        "a column of half floats", "read", weights(pa.array(np.arange(24, dtype=np.float16))), "as numbers", are(range(24))
    ),
    Situation("decimals", "read", weights(EXACT), "as numbers", are(NUMBERS)),
    Situation("a column of true and false", "read", weights([True, False] * 12), "1 and 0", are([1, 0] * 12)),
    Situation("numbers as strings", "read", weights([f"{value}" for value in NUMBERS]), "as numbers", are(NUMBERS)),
    Situation(
        "numbers as strings of type large_string",
        "read",
        weights(pa.array([f"{value}" for value in NUMBERS], pa.large_string())),
        "as numbers",
        are(NUMBERS),
    ),
    Situation(
        "numbers as strings of type string_view (polars)",
        "read",
        weights(pa.array([f"{value}" for value in NUMBERS], pa.string_view())),
        "as numbers",
        are(NUMBERS),
    ),
    Situation(
        "numbers in a dictionary (pandas' categories)",
        "read",
        weights(pa.array(NUMBERS).dictionary_encode()),
        "as numbers",
        are(NUMBERS),
    ),
    Situation(
        "strings that are numbers in a dictionary, in Feather",
        "read",
        weights(pa.array([f"{value}" for value in NUMBERS]).dictionary_encode(), "items.FEATHER".lower()),
        "as numbers",
        are(NUMBERS),
    ),
    Situation("dates and times", "refused", weights(DAYS), "items.parquet, row 1, column 'weight': expected numbers, got date32"),
    Situation("bytes as numbers", "refused", weights([b"a"] * 24), "expected numbers, got binary"),
    Situation("lists of one length (embeddings)", "read", weights(LISTS), "a number in each column", are(LISTS)),
    Situation(
        "lists of fixed size", "read", weights(pa.array(LISTS, pa.list_(pa.float32(), 2))), "a number in each column", are(LISTS)
    ),
    Situation(
        "large lists", "read", weights(pa.array(LISTS, pa.large_list(pa.float64()))), "a number in each column", are(LISTS)
    ),
    Situation(
        "a list that is null, and one with NaN or null in it",
        "read",
        weights([None, [1.0, np.nan], [None, 2.0], *LISTS[3:]]),
        "rows that lack the modality",
        lacks(0, 1, 2),
    ),
    Situation(
        "lists of different lengths",
        "refused",
        weights([*LISTS[:5], [1.0], *LISTS[6:]]),
        "items.parquet, row 6, column 'weight': expected a list of 2 numbers, as in the first row, got 1",
    ),
    Situation(
        "infinity in a list",
        "refused",
        weights([*LISTS[:5], [1.0, np.inf], *LISTS[6:]]),
        "row 6, column 'weight': expected a number that is not infinite, got inf",
    ),
    Situation(
        "empty lists",
        "refused",
        weights(pa.array([[]] * 24, pa.list_(pa.float32()))),
        "expected lists of numbers, got empty ones",
    ),
    Situation("lists of lists", "refused", weights([[[1.0]]] * 24), "store series and images as arrays (.npz)"),
    Situation("lists of words", "refused", weights([["a"]] * 24), "expected lists of numbers, got list<"),
    Situation(
        "a target that is missing",
        "read",
        arrow({"weight": [None, np.nan, *NUMBERS[2:]], "size": NUMBERS}, tabular=("size",), number_targets=("weight",)),
        "not asked for",
        lambda data: np.flatnonzero(~whole(data).known_mask("weight").numpy()).tolist() == [0, 1],
    ),
    Situation(
        "an infinite target",
        "refused",
        arrow({"weight": [np.inf, *NUMBERS[1:]], "size": NUMBERS}, tabular=("size",), number_targets=("weight",)),
        "items.parquet, row 1, column 'weight': expected a number that is not infinite",
    ),
    Situation(
        "lists as numbers to predict",
        "refused",
        arrow({"weight": LISTS, "size": NUMBERS}, tabular=("size",), number_targets=("weight",)),
        "expected a number in each row, got lists",
    ),
    Situation(
        "a column of equal numbers", "read", weights([3.0] * 24, standardise=True), "0, for it has no deviation", are([0.0] * 24)
    ),
    Situation(
        "two columns of one name in Parquet",
        "refused",
        arrow(pa.Table.from_arrays([pa.array(NUMBERS), pa.array(NUMBERS), pa.array(KIND)], ["weight", "weight", "kind"]), **USED),
        "2 columns 'weight'",
    ),
]
