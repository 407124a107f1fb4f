"""Labels: words, numbers, missing ones, spellings; and columns that name splits."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from molyneux.data import OwnDataset
from situations.columns import NUMBERS
from situations.situation import Situation, whole
from situations.tables import arrow, changed, table, text

CODES = [0, 1] * 12


def parquet(values: Any, **settings: Any) -> Any:
    """A table in Parquet with a column of labels."""
    return arrow({"weight": NUMBERS, "kind": values}, **{"tabular": ("weight",), "labels": ("kind",), **settings})


def word(value: str, **settings: Any) -> Any:
    """A table in CSV with the label of row 4 written like this."""
    return table(text(rows=changed(1, 3, value)), **settings)


def numbered(*words: str, **settings: Any) -> Any:
    """A table in CSV whose labels are these in turn."""
    rows = [(weight, words[row % len(words)], note) for row, (weight, _, note) in enumerate(changed(0, 0, "0.5"))]
    return table(text(rows=rows), **settings)


def values(*expected: str, codes: list[int] | None = None) -> Callable[[OwnDataset], bool]:
    """Whether the factor has these values, and the samples these codes."""

    def check(data: OwnDataset) -> bool:
        factors = whole(data).factors
        assert factors is not None
        return data.spec.factors[0].values == expected and (codes is None or factors[:, 0].tolist() == codes)

    return check


def without(*rows: int) -> list[int]:
    """The codes where these rows have no label."""
    return [-1 if row in rows else code for row, code in enumerate(CODES)]


def split(*words: str | None) -> Any:
    """A table with a column of splits whose rows say these in turn."""
    given = [words[row % len(words)] for row in range(24)]
    return (
        parquet(["a", "b", "b"] * 8, split="fold")
        if not words
        else arrow(
            {"weight": NUMBERS, "kind": ["a", "b", "b"] * 8, "fold": given}, tabular=("weight",), labels=("kind",), split="fold"
        )
    )


SITUATIONS = [
    Situation("words", "read", word("b"), "a class for each", values("a", "b", codes=CODES)),
    Situation("words with blanks inside", "read", word("b b"), "as they are", values("a", "b", "b b")),
    Situation(
        "blanks around words",
        "converted",
        word(" b "),
        "items.csv, row 4, label 'kind': ' b ' was read as 'b'",
        values("a", "b", codes=CODES),
    ),
    Situation(
        "a word in capital and in small letters",
        "converted",
        word("B"),
        "'B' and 'b' differ in capital letters and are different values",
        values("B", "a", "b"),
    ),
    Situation(
        "one word in two forms of Unicode (NFC and NFD)",
        "converted",
        numbered("caf\u00e9", "bar", "cafe\u0301"),
        "label 'kind': 'cafe\u0301' was read as 'caf\u00e9'",
        values("bar", "caf\u00e9", codes=[1, 0, 1] * 8),
    ),
    Situation("an empty field", "read", word(""), "no label", values("a", "b", codes=without(3))),
    *(
        Situation(
            f"the word {value!r}",
            "refused",
            word(value),
            f"row 4, label 'kind': got {value!r}, which may be a class or say that there",
        )
        for value in ("NA", "nan", "None", "null")
    ),
    Situation(
        "the word 'NA' with `missing: [NA]`", "read", word("NA", missing=("NA",)), "no label", values("a", "b", codes=without(3))
    ),
    Situation("the word 'NA' with `missing: []`", "read", word("NA", missing=()), "a class", values("NA", "a", "b")),
    Situation("whole numbers as words", "read", numbered("1", "2", "10"), "by size", values("1", "2", "10")),
    Situation(
        "whole numbers written 1.0",
        "converted",
        numbered("1.0", "2.0", "10"),
        "whole numbers were read as such, '1.0' as '1'",
        values("1", "2", "10"),
    ),
    Situation(
        "numbers that are not whole",
        "refused",
        numbered("0.5", "1.5"),
        "expected integers from 0, or words, got 0.5: name it under number_targets",
    ),
    Situation("negative numbers as words", "refused", numbered("-1", "1"), "expected integers from 0, or words, got -1"),
    Situation("true and false as words", "read", numbered("True", "False"), "classes", values("False", "True")),
    Situation("one class", "refused", numbered("a"), "expected at least two different values, got only 'a'"),
    Situation("no label in any row", "refused", numbered(""), "expected at least two different values, got none"),
    Situation(
        "a different label in each of many rows",
        "refused",
        table("weight,kind,note\n" + "".join(f"{n},x{n},c\n" for n in range(200))),
        "expected values that repeat, got 200 different ones in 200 samples",
    ),
    Situation(
        "a name, a number or a date that no other row has",
        "refused",
        parquet([f"2024-03-{day + 1:02d}" for day in range(24)]),
        "expected values that repeat, got 24 different ones in 24 samples",
    ),
    Situation(
        "one number in two spellings, '1' and '01'",
        "converted",
        numbered("1", "01", "2"),
        "label 'kind': '01' and '1' are one number in two spellings and different values",
        values("01", "1", "2"),
    ),
    Situation(
        "a class that no training sample has",
        "converted",
        arrow(
            {"weight": NUMBERS, "kind": ["a", "b"] * 11 + ["c", "c"], "fold": ["train"] * 18 + ["val"] * 2 + ["test"] * 4},
            tabular=("weight",),
            labels=("kind",),
            split="fold",
        ),
        "label 'kind': no training sample has 'c'",
    ),
    Situation("a column of integers", "read", parquet(CODES), "classes", values("0", "1", codes=CODES)),
    Situation(
        "integers of which -1 says that there is none",
        "read",
        parquet([-1, *CODES[1:]]),
        "no label",
        values("0", "1", codes=without(0)),
    ),
    Situation("integers with null", "read", parquet([None, *CODES[1:]]), "no label", values("0", "1", codes=without(0))),
    Situation(
        "several negative integers",
        "refused",
        parquet([-1, -2, *CODES[2:]]),
        "expected one negative number, which says that there is no",
    ),
    Situation(
        "floats with NaN and null, as pandas makes of integers",
        "read",
        parquet(pa.array([None, np.nan, *map(float, CODES[2:])])),
        "whole numbers, and no label",
        values("0", "1", codes=without(0, 1)),
    ),
    Situation("floats that are not whole", "refused", parquet([0.5, *NUMBERS[1:]]), "got float64: name it under number_targets"),
    Situation(
        "an infinite float",
        "refused",
        parquet([np.inf, *map(float, CODES[1:])]),
        "row 1, label 'kind': expected an integer, got inf",
    ),
    Situation(
        "integers beyond 2^63",
        "refused",
        parquet(pa.array([2**63 + 5, *CODES[1:]], pa.uint64())),
        "expected a class number below 2^63",
    ),
    Situation(
        "decimals that are whole", "read", parquet([Decimal(code) for code in CODES]), "classes", values("0", "1", codes=CODES)
    ),
    Situation("a column of true and false", "read", parquet([True, False] * 12), "1 and 0", values("0", "1", codes=[1, 0] * 12)),
    *(
        Situation(
            f"words of type {kind}", "read", parquet(pa.array(["a", "b"] * 12, kind)), "classes", values("a", "b", codes=CODES)
        )
        for kind in (pa.large_string(), pa.string_view())
    ),
    Situation(
        "words in a dictionary",
        "read",
        parquet(pa.array(["a", "b"] * 12).dictionary_encode()),
        "classes",
        values("a", "b", codes=CODES),
    ),
    Situation(
        "dates",
        "refused",
        parquet(pa.array([0, 86_400] * 12, pa.timestamp("s"))),
        "column 'kind': expected text, got timestamp[ms]",
    ),
    Situation(
        "lists (several labels in a row)", "refused", parquet([["a"], ["b"]] * 12), "column 'kind': expected text, got lists"
    ),
    Situation(
        "splits as `train`, `val`, `test`",
        "read",
        split("train", "train", "val", "test"),
        "the splits",
        lambda data: dict(data.splits) == {"train": 12, "validation": 6, "test": 6},
    ),
    Situation(
        "splits as ` Training`, `DEV`, `Test `",
        "read",
        split(" Training", "training", "DEV", "Test "),
        "the splits",
        lambda data: dict(data.splits) == {"train": 12, "validation": 6, "test": 6},
    ),
    Situation(
        "splits as other words",
        "refused",
        split("train", "holdout"),
        "row 2: expected the split as train, validation or test, got 'holdout'",
    ),
    Situation(
        "a row without a split",
        "refused",
        split("train", "val", "test", None),
        "row 4: expected the split as train, validation or test, got ''",
    ),
    Situation(
        "splits without test",
        "converted",
        split("train", "train", "val"),
        "no sample is named as of the split test: 2 of 16 training samples",
    ),
    Situation(
        "splits without train", "refused", split("val", "test"), "expected samples of the split train, got none in any row"
    ),
]
