"""Columns and arrays of texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from molyneux.core.views import text_strings
from molyneux.data import ArrayDataset, OwnDataset
from situations.situation import Situation, whole
from situations.tables import arrow, changed, table, text

NOTES = ["a cat", "a dog", "a cow"] * 8


def csv(value: str, **settings: Any) -> Any:
    """A table in CSV with the text of row 4 written like this."""
    return table(text(rows=changed(2, 3, value)), **settings)


def parquet(values: Any, **settings: Any) -> Any:
    """A table in Parquet with a column of texts."""
    return arrow({"note": values}, **{"texts": ("note",), **settings})


def array(values: Any, **settings: Any) -> Callable[[Path], OwnDataset]:
    """An array of texts."""

    def make(folder: Path) -> OwnDataset:
        np.savez(folder / "texts.npz", note=values)
        return ArrayDataset(path=folder / "texts.npz", **settings)

    return make


def lines(values: Any) -> Any:
    """A table in JSON Lines, with escapes for what is beyond ASCII."""
    return table("".join(json.dumps({"note": value}) + "\n" for value in values), "items.jsonl", tabular=(), labels=())


def said(row: int, expected: str) -> Callable[[OwnDataset], bool]:
    """Whether the text of a row is this one."""

    def check(data: OwnDataset) -> bool:
        batch = whole(data)
        return text_strings(data.spec.modality("note"), batch.views["note"])[row] == expected

    return check


def lacks(*rows: int) -> Callable[[OwnDataset], bool]:
    """Whether these rows and no others lack the text."""
    return lambda data: np.flatnonzero(~whole(data).mask("note").numpy()).tolist() == [*rows]


SITUATIONS = [
    Situation(
        "capital letters and punctuation",
        "read",
        csv("A CAT, here!".join('""')),
        "words in small letters, each sign a word",
        said(3, "a cat , here !"),
    ),
    Situation("emoji and other scripts", "read", csv("a \U0001f408 日本 кот"), "as they are", said(3, "a \U0001f408 日本 кот")),
    Situation("an empty field", "read", csv(""), "a row that lacks the text", lacks(3)),
    Situation("an empty text in quotes", "read", csv('""'), "an empty text", lambda data: said(3, "")(data) and lacks()(data)),
    Situation("null in Parquet", "read", parquet([None, *NOTES[1:]]), "a row that lacks the text", lacks(0)),
    Situation(
        "the word 'nan'", "converted", csv("nan"), "items.csv, row 4, text 'note': 'nan' was read as a text", said(3, "nan")
    ),
    Situation(
        "the word 'nan' with `missing: [nan]`", "read", csv("nan", missing=("nan",)), "a row that lacks the text", lacks(3)
    ),
    Situation(
        "letters and accents apart (NFD)",
        "converted",
        csv("a cafe\u0301"),
        "letters and accents were joined (Unicode NFC; in 1 text)",
        said(3, "a caf\u00e9"),
    ),
    Situation(
        "half an emoji in an array",
        "converted",
        array(np.array(["a cat \ud83d", *NOTES[1:]])),
        "texts.npz, array 'note', row 0, text 'note': half of a character (a lone surrogate, as of an emoji that was cut)",
        said(0, "a cat \ufffd"),
    ),
    Situation(
        "half an emoji in JSON Lines, `\\ud83d`",
        "converted",
        lines(["a cat \ud83d", *NOTES[1:]]),
        "items.jsonl, line 1, 'note': half of a character",
        said(0, "a cat \ufffd"),
    ),
    Situation(
        "a whole emoji in JSON Lines, `\\ud83d\\udc08`",
        "read",
        lines(["a \U0001f408", *NOTES[1:]]),
        "as it is",
        said(0, "a \U0001f408"),
    ),
    *(
        Situation(f"texts of type {kind}", "read", parquet(pa.array(NOTES, kind)), "as they are", said(1, "a dog"))
        for kind in (pa.large_string(), pa.string_view())
    ),
    Situation("texts in a dictionary", "read", parquet(pa.array(NOTES).dictionary_encode()), "as they are", said(1, "a dog")),
    Situation("numbers as texts", "read", parquet([1, 2] * 12), "as they are written", said(1, "2")),
    Situation("bytes as texts", "refused", parquet([b"a"] * 24), "column 'note': expected text, got binary"),
    Situation("lists of words as texts", "refused", parquet([["a", "cat"]] * 24), "column 'note': expected text, got lists"),
    Situation(
        "no text in any row",
        "refused",
        parquet(pa.nulls(24)),
        "text 'note': expected a text in at least one training sample, got none",
    ),
    Situation(
        "a text longer than `length`",
        "converted",
        csv("a b c d e f g h", length=4),
        "row 4, text 'note': cut after 4 symbols (in 1 text)",
        said(3, "a b c d"),
    ),
    Situation(
        "a text longer than `length` in characters",
        "converted",
        csv("a big cat here", length=11, unit="characters"),
        "row 4, text 'note': cut after 11 symbols (in 1 text)",
        said(3, "a big cat h"),
    ),
    Situation(
        "bytes of UTF-8 in an array", "read", array(np.array([note.encode() for note in NOTES])), "as text", said(1, "a dog")
    ),
    Situation(
        "bytes of another encoding in an array",
        "refused",
        array(np.array(["fenêtre".encode("latin-1")] * 24)),
        "texts.npz, array 'note': expected text in UTF-8",
    ),
]
