"""Targets of which a sample has any number of labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from molyneux.data import OwnDataset
from situations.arrays import NUMBERS as VECTORS
from situations.arrays import npz, with_value
from situations.columns import NUMBERS
from situations.situation import Situation, whole
from situations.tables import arrow, table

TAGS: list[list[str]] = [[], ["war"], ["love", "war"], ["art"]] * 6
VALUES = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 0, 0]] * 6)


def tagged(values: Any) -> Any:
    """A table in Parquet with a column of several labels."""
    return arrow({"weight": NUMBERS, "tags": values}, tabular=("weight",), labels=(), multilabel_targets=("tags",))


def fields(*words: str) -> Any:
    """A table in CSV whose labels are these in turn."""
    rows = "".join(f'{row}.5,"{words[row % len(words)]}"\n' for row in range(24))
    return table(f"weight,tags\n{rows}", texts=(), labels=(), tabular=("weight",), multilabel_targets=("tags",))


def places(array: np.ndarray, **settings: Any) -> Any:
    """An array (N, labels)."""
    return npz(x=VECTORS, tags=array, settings={"labels": (), "ignore": ("kind",), "multilabel_targets": ("tags",), **settings})


def target(expected: np.ndarray, *symbols: str, unknown: tuple[int, ...] = ()) -> Callable[[OwnDataset], bool]:
    """Whether the target has these values where it is known, and these labels; and where it is not known."""

    def check(data: OwnDataset) -> bool:
        batch = whole(data)
        known = batch.known["tags"].numpy() if "tags" in batch.known else np.ones(len(batch), bool)
        assert np.flatnonzero(~known).tolist() == [*unknown]
        assert data.spec.targets[0].symbols == symbols
        return bool((batch.targets["tags"].numpy()[known] == expected[known]).all())

    return check


SITUATIONS = [
    Situation("lists of words", "read", tagged(TAGS), "an empty list is no label", target(VALUES, "art", "love", "war")),
    Situation(
        "a list that is null",
        "read",
        tagged([None, *TAGS[1:]]),
        "not asked for",
        target(VALUES, "art", "love", "war", unknown=(0,)),
    ),
    Situation(
        "lists of integers",
        "read",
        tagged(pa.array([[], [10], [9, 10], [2]] * 6)),
        "labels by size",
        target(VALUES, "2", "9", "10"),
    ),
    Situation(
        "words with bars between them",
        "converted",
        fields("war", "war", "love|war", "art"),
        "items.csv, row 3, column 'tags': 'love|war' was read as 2 labels",
        target(np.array([[0, 0, 1], [0, 0, 1], [0, 1, 1], [1, 0, 0]] * 6), "art", "love", "war"),
    ),
    Situation("words with commas and blanks between them", "converted", fields("war", "love, war"), "was read as 2 labels"),
    Situation("an empty field", "read", fields("war", "", "art"), "not asked for"),
    Situation(
        "lists as pandas writes them in CSV, `['war']`",
        "refused",
        fields("['war']"),
        "store lists in Parquet or JSON Lines",
    ),
    Situation("lists of numbers that are not whole", "refused", tagged([[0.5]] * 24), "expected lists of words or integers"),
    Situation("no label in any row", "refused", tagged(pa.array([[]] * 24, pa.list_(pa.string()))), "expected labels, got none"),
    Situation("labels that hardly repeat", "refused", tagged([[f"t{row}"] for row in range(24)]), "expected labels that repeat"),
    Situation("an array (N, labels) of 0 and 1", "read", places(VALUES), "by number", target(VALUES, "0", "1", "2")),
    Situation(
        "an array with the names of the labels",
        "read",
        places(VALUES > 0, names={"tags": ("art", "love", "war")}),
        "by name",
        target(VALUES, "art", "love", "war"),
    ),
    Situation(
        "an array with a row of NaN",
        "read",
        places(with_value(VALUES.astype(float), 3, np.nan)),
        "not asked for",
        target(VALUES, "0", "1", "2", unknown=(3,)),
    ),
    Situation("an array with another number", "refused", places(2 * VALUES), "expected 0 or 1 for each label, got 2"),
    Situation("an array of one axis", "refused", places(VALUES[:, 0]), "expected an array (N, labels) of 0 and 1"),
    Situation(
        "other names than labels", "refused", places(VALUES, names={"tags": ("a", "b")}), "expected as many names as the 3 labels"
    ),
]
