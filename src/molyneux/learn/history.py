"""What happened in training: one row an epoch."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from molyneux.core import CorruptFileError, StoreError, store

Row = Mapping[str, float]
"""`epoch` (1 is the first), `step` (optimiser steps so far), `seconds` (of training and validation so far),
`samples_per_second` (training alone), `learning_rate`, and a column `train/<term>` or `validation/<term>` for every term of
the loss, in nats per sample; `train/loss` and `validation/loss` are the totals."""

MONITORED = "validation/loss"


@dataclass(frozen=True)
class History:
    """The rows of a training, oldest first."""

    rows: tuple[Row, ...] = ()

    def __add__(self, row: Row) -> History:
        return History((*self.rows, dict(row)))

    @property
    def epochs(self) -> int:
        """Number of epochs done."""
        return len(self.rows)

    @property
    def steps(self) -> int:
        """Number of optimiser steps done."""
        return int(self.rows[-1]["step"]) if self.rows else 0

    @property
    def best_epoch(self) -> int:
        """The epoch (1-based) with the lowest validation loss, the earlier of two; the last where nothing was validated."""
        losses = [row.get(MONITORED, math.inf) for row in self.rows]
        return losses.index(min(losses)) + 1 if any(map(math.isfinite, losses)) else self.epochs

    def out_of_patience(self, patience: int | None) -> bool:
        """Whether the validation loss has not become better for `patience` epochs."""
        validated = bool(self.rows) and MONITORED in self.rows[-1]
        return patience is not None and validated and self.epochs - self.best_epoch >= patience

    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in the order of their first appearance."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row))

    def write_csv(self, path: Path) -> None:
        """Write all rows atomically; a term that a row lacks is left empty."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        store.write_text(path, text.getvalue())

    @classmethod
    def read_csv(cls, path: Path) -> History:
        """Read what `write_csv` wrote.

        Raises:
            StoreError: the file is not there. CorruptFileError: it is no such table.
        """
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            return cls(tuple(_numbers(row) for row in csv.DictReader(lines, strict=True)))
        except FileNotFoundError as error:
            raise StoreError(f"expected the file {path}, which is not there") from error
        except (ValueError, TypeError, csv.Error) as error:
            raise CorruptFileError(f"{path} is damaged ({error}): run the same command again, which writes it anew") from error

    def to_json(self) -> dict[str, Any]:
        """Plain data that keeps the order of the columns."""
        columns = self.columns()
        return {"columns": list(columns), "rows": [[row.get(name) for name in columns] for row in self.rows]}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> History:
        """Read what `to_json` wrote."""
        pairs = (zip(record["columns"], row, strict=True) for row in record["rows"])
        return cls(tuple({name: value for name, value in row if value is not None} for row in pairs))


def _numbers(row: Mapping[str, str]) -> dict[str, float]:
    whole = ("epoch", "step")
    return {name: int(text) if name in whole else float(text) for name, text in row.items() if text != ""}
