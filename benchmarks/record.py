"""The record of a benchmark: a description, the machine, and one row for each setting, stored as JSON.

`docs/tables.py` turns it into a table. It contains no name of a host, a user or a folder.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path

from molyneux.core import store

Value = str | float

RESULTS = Path(__file__).parent / "results"


class Record:
    """Rows of one benchmark: printed as they are measured, written at the end.

    Args:
        name: of the file, `<name>.json`.
        what: one sentence that describes the numbers.
        folder: folder of the file.
    """

    def __init__(self, name: str, what: str, folder: Path) -> None:
        self.path, self.what = folder / f"{name}.json", what
        self.rows: list[Mapping[str, Value]] = []
        self._load = os.getloadavg()[0]

    def add(self, row: Mapping[str, Value]) -> None:
        """One row, by column. Numbers are kept with three digits; what does not apply is left out."""
        self.rows.append({column: rounded(value) for column, value in row.items()})
        print(", ".join(f"{column}: {value}" for column, value in self.rows[-1].items()), flush=True)

    def write(self) -> None:
        """Write the record whole or not at all; columns keep their order."""
        from molyneux.run.run.stored import machine  # here, because new processes import benchmarks and need nothing of `run`

        record = {"what": self.what, "machine": described(machine(), self._load), "rows": self.rows}
        store.write_text(self.path, json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def options(description: str) -> argparse.ArgumentParser:
    """Command-line options of every benchmark: `--quick` and `--out FOLDER`."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for a few seconds: only to test that it runs")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the record (default: %(default)s)")
    return parser


def described(facts: Mapping[str, object], load: float) -> dict[str, str]:
    """Description of the machine, with its load before the benchmark."""
    versions = facts["versions"]
    assert isinstance(versions, Mapping)
    words = {
        "processor": f"{facts['processor']}, {facts['cores']} cores",
        "memory": f"{facts['memory_gib']} GiB",
        "system": str(facts["system"]).partition(" ")[0],
        "python": facts["python"],
        **{name: versions[name] for name in ("torch", "numpy", "numba") if name in versions},
        "molyneux": versions.get("molyneux"),
        "wait policy of OpenMP": facts["wait_policy"] or "not set",
        "load before": f"{load:.1f}",
    }
    return {name: str(word) for name, word in words.items() if word is not None}


def rounded(value: Value) -> Value:
    """A number with three significant digits, whole from 100 on.

    >>> rounded(1234.5), rounded(0.012345), rounded("4 + 6")
    (1234, 0.0123, '4 + 6')
    """
    if isinstance(value, str | int):
        return value
    digits = 2 - math.floor(math.log10(abs(value))) if value else 0
    return round(value, digits) if digits > 0 else round(value)
