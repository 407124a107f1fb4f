"""Tables as files: separators, encodings, line ends, quotes, titles, suffixes, folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from molyneux.data import OwnDataset, TableDataset
from situations.situation import Situation, whole

TITLES = ("weight", "kind", "note")
ROWS = [(f"{row}.5", "ab"[row % 2], f"a {('cat', 'dog')[row % 2]} here") for row in range(24)]
USED: dict[str, Any] = {"tabular": ("weight",), "labels": ("kind",), "texts": ("note",), "standardise": False}


def text(separator: str = ",", end: str = "\n", titles: tuple[str, ...] = TITLES, rows: Any = None) -> str:
    """Delimited text."""
    return "".join(separator.join(row) + end for row in [titles, *(ROWS if rows is None else rows)])


def changed(place: int, row: int, value: str) -> list[tuple[str, ...]]:
    """The rows with another value in one field."""
    return [tuple(value if (r, p) == (row, place) else old for p, old in enumerate(fields)) for r, fields in enumerate(ROWS)]


def table(content: str | bytes, name: str = "items.csv", **settings: Any) -> Callable[[Path], OwnDataset]:
    """A table in one file of text."""

    def make(folder: Path) -> OwnDataset:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return TableDataset(path=folder / name, **{**USED, **settings})

    return make


def arrow(columns: dict[str, Any], name: str = "items.parquet", **settings: Any) -> Callable[[Path], OwnDataset]:
    """A table in one file of Parquet or Arrow."""

    def make(folder: Path) -> OwnDataset:
        found = columns if isinstance(columns, pa.Table) else pa.table(columns)
        if name.endswith(".parquet"):
            pq.write_table(found, folder / name)
        else:
            pyarrow.feather.write_feather(found, str(folder / name))
        return TableDataset(path=folder / name, **settings)

    return make


def files(contents: dict[str, str | bytes], **settings: Any) -> Callable[[Path], OwnDataset]:
    """A folder of files of text."""

    def make(folder: Path) -> OwnDataset:
        for name, content in contents.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return TableDataset(path=folder, **{**USED, **settings})

    return make


def right(data: OwnDataset) -> bool:
    """Whether all rows are as they were written."""
    batch = whole(data)
    assert batch.factors is not None
    return bool(
        np.array_equal(batch.views["tabular"].numpy()[:, 0], np.arange(24) + 0.5)
        and batch.factors[:, 0].tolist() == [row % 2 for row in range(24)]
        and {"cat", "dog", "here"} <= {*data.spec.modality("note").symbols}
    )


def tested(count: int) -> Callable[[OwnDataset], bool]:
    """Whether the test split has so many samples."""
    return lambda data: data.splits["test"] == count


LINES = "".join(json.dumps({"weight": float(w), "kind": k, "note": n}) + "\n" for w, k, n in ROWS)
PARTS = {"train": text(rows=ROWS[:16]), "val": text(rows=ROWS[16:20]), "test": text(rows=ROWS[20:])}
NAMED: dict[str, str | bytes] = {"train.csv": PARTS["train"], "val.csv": PARTS["val"], "test.csv": PARTS["test"]}

SITUATIONS = [
    Situation("lines end as on Windows (CRLF)", "read", table(text(end="\r\n")), "every row", right),
    Situation("lines end as on old Macs (CR)", "read", table(text(end="\r")), "every row", right),
    Situation("a byte order mark before UTF-8", "read", table(b"\xef\xbb\xbf" + text().encode()), "without the mark", right),
    Situation("UTF-16 with its mark", "converted", table(text().encode("utf-16")), "read from UTF-16", right),
    Situation("UTF-16 without a mark", "refused", table(text().encode("utf-16-le")), "save it as UTF-8"),
    Situation(
        "Latin-1 or Windows-1252",
        "refused",
        table(text(rows=changed(2, 20, "fenêtre")).encode("latin-1")),
        "items.csv, line 22: expected text in UTF-8, got the byte 0xea after '20.5,a,fen'",
    ),
    Situation("semicolons", "converted", table(text(";")), "separated by semicolons", right),
    Situation("bars", "converted", table(text("|")), "separated by bars", right),
    Situation("tabs in a file called .csv", "converted", table(text("\t")), "separated by tabs", right),
    Situation("tabs in a file called .tsv or .tab", "read", table(text("\t"), "items.TAB"), "every row", right),
    Situation("commas in a file called .tsv", "converted", table(text(), "items.tsv"), "separated by commas", right),
    Situation("a line `sep=;` of a spreadsheet", "converted", table("sep=;\n" + text(";")), "separated by semicolons", right),
    Situation(
        "semicolons and decimal commas",
        "converted",
        table(text(";").replace(".5", ",5")),
        "commas were read as decimal signs, '0,5' as 0.5",
        right,
    ),
    Situation(
        "semicolons, and commas that may part thousands off",
        "refused",
        table(text(";").replace(".5", ",500")),
        "whose comma may be a decimal sign or part thousands off",
    ),
    Situation(
        "decimal commas in quotes between commas",
        "refused",
        table(text(rows=changed(0, 3, '"3,5"'))),
        "items.csv, row 4, column 'weight': expected a number, got '3,5': write it with a decimal point",
    ),
    Situation(
        "a quoted field with separators, quotes and line breaks",
        "read",
        table(text(rows=changed(2, 3, '"a cat, ""here""\nagain"'))),
        "one field",
        right,
    ),
    Situation(
        "a quote that is not closed",
        "refused",
        table(text(rows=changed(2, 3, '"a cat'))),
        "items.csv, line 5: expected a quote that closes the field before the end of the file",
    ),
    Situation(
        "a row with too many or too few fields",
        "refused",
        table(text(rows=changed(2, 3, "a cat, here"))),
        "items.csv, row 4: expected 3 fields separated by ',', as the titles 'weight,kind,note' are, got 4",
    ),
    Situation(
        "a separator at the end of each row, titles too",
        "read",
        table(text(end=",\n")),
        "a column without a title is not used",
        right,
    ),
    Situation(
        "a separator at the end of each row but the titles",
        "refused",
        table(",".join(TITLES) + "\n" + text(end=",\n").split("\n", 1)[1]),
        "row 1: expected 3 fields separated by ',', as the titles 'weight,kind,note' are, got 4",
    ),
    Situation(
        "a column of row numbers without a title",
        "read",
        table(text(titles=("", *TITLES), rows=[(str(n), *row) for n, row in enumerate(ROWS)])),
        "not used",
        right,
    ),
    Situation("blank lines between rows", "read", table(text(end="\n\n")), "left out", right),
    Situation(
        "a blank line in a table of one column",
        "read",
        table("note\na cat\n\na dog\na cow\n", tabular=(), labels=()),
        "a row without a value",
        lambda data: whole(data).mask("note").tolist() == [True, False, True, True],
    ),
    Situation(
        "a remark before the titles",
        "refused",
        table("# made in May\n" + text()),
        "row 1: expected 1 fields separated by ',', as the titles '# made in May' are, got 3",
    ),
    Situation("no titles", "refused", table(text().split("\n", 1)[1]), "no column 'note'"),
    Situation(
        "blanks around titles", "read", table(text(titles=("weight ", " kind", "note"))), "by the title without them", right
    ),
    Situation(
        "titles in decomposed Unicode (NFD)",
        "read",
        table(text(titles=("weight", "kind", "cafe\u0301")), texts=("caf\u00e9",)),
        "by the same title in another form",
        lambda data: data.spec.names == ("caf\u00e9", "tabular"),
    ),
    Situation("titles in other letters", "refused", table(text(titles=("Weight", "kind", "note"))), 'did you mean "Weight"?'),
    Situation(
        "the same title twice",
        "refused",
        table(text(titles=("weight", "kind", "kind"))),
        "expected titles that differ in the first row, got 'kind' twice",
    ),
    Situation(
        "a column that a setting names twice", "refused", table(text(), tabular=("weight", "weight")), "got 'weight' twice"
    ),
    Situation("titles alone", "refused", table(text(rows=[])), "expected at least 3 samples, one for each split, got 0"),
    Situation("nothing", "refused", table(""), "expected a table in delimited text with titles"),
    Situation("one row", "refused", table(text(rows=ROWS[:1])), "expected at least 3 samples, one for each split, got 1"),
    Situation("a suffix in capital letters", "read", table(text(), "items.CSV"), "as in small ones", right),
    Situation("a spreadsheet", "refused", table(b"PK", "items.xlsx"), "store it as CSV or Parquet"),
    Situation("a compressed table", "refused", table(b"\x1f\x8b", "items.csv.gz"), "store it as CSV or Parquet"),
    Situation("JSON Lines", "read", table(LINES, "items.jsonl"), "an object in each line is a row", right),
    Situation(
        "JSON Lines where rows lack keys or have null",
        "read",
        table("\n".join([*LINES.splitlines()[:22], '{"weight": null, "kind": "a"}', '{"kind": "b"}', ""]), "items.ndjson"),
        "values that are missing",
        lambda data: whole(data).mask("note").tolist() == [True] * 22 + [False] * 2,
    ),
    Situation(
        "JSON Lines where a key has numbers and words",
        "refused",
        table(LINES.replace("3.5", '"heavy"', 1), "items.jsonl"),
        "items.jsonl, line 4: expected 'weight' as float, as in the first line, got str 'heavy'",
    ),
    Situation(
        "JSON Lines with a line that is no object", "refused", table(LINES + "[1]\n", "items.jsonl"), "items.jsonl, line 25"
    ),
    Situation("a folder: `train.csv`, `val.csv`, `test.csv`", "read", files(NAMED), "the splits", tested(4)),
    Situation(
        "a folder: `test.CSV`",
        "read",
        files({"train.csv": PARTS["train"], "val.csv": PARTS["val"], "Test.CSV": PARTS["test"]}),
        "the split test",
        tested(4),
    ),
    Situation(
        "a folder: the word within the name, `cars_train.csv`",
        "read",
        files({f"cars_{name}.csv": content for name, content in PARTS.items()}),
        "the splits",
        tested(4),
    ),
    Situation(
        "a folder without a test file",
        "converted",
        files({"train.csv": PARTS["train"], "val.csv": PARTS["val"]}),
        "no sample is named as of the split test: 2 of 16 training samples were drawn for it",
        tested(2),
    ),
    Situation(
        "a folder with a file of no split beside others",
        "refused",
        files({**NAMED, "more.csv": PARTS["test"]}),
        "more.csv: expected a file of train, validation or test",
    ),
    Situation(
        "a folder with a name of two splits",
        "refused",
        files({**NAMED, "my_train_or_test.csv": PARTS["test"]}),
        "expected a name of one split, got words for test and train",
    ),
    Situation(
        "a folder with a table in another format",
        "refused",
        files({**NAMED, "test.xlsx": b"PK"}),
        "test.xlsx: expected tables",
    ),
    Situation(
        "a folder with a split in a file that is no table",
        "refused",
        files({**NAMED, "test.json": "[]"}),
        "test.json: expected tables",
    ),
    Situation(
        "a folder with hidden files and a README",
        "read",
        files({**NAMED, ".x.csv": "a", "README.txt": "b"}),
        "not used",
        tested(4),
    ),
    Situation(
        "files with columns in another order",
        "read",
        files({**NAMED, "test.csv": text(titles=TITLES[::-1], rows=[row[::-1] for row in ROWS[20:]])}),
        "by their titles",
        lambda data: sorted(whole(data).views["tabular"][:, 0].tolist()) == [row + 0.5 for row in range(24)],
    ),
    Situation(
        "files with other columns",
        "refused",
        files({**NAMED, "test.csv": text(titles=("weight", "kind", "remark"), rows=ROWS[20:])}),
        "train.csv: expected the columns of test.csv, weight, kind, remark, got weight, kind, note",
    ),
    Situation(
        "Parquet or Arrow that was cut",
        "refused",
        table(b"PAR1 and no more", "items.parquet"),
        "items.parquet: expected a table in the format Parquet",
    ),
]
