"""The history of a training: one row per epoch. It is stored as `history.csv`, which `learn` writes and `report` reads."""

from __future__ import annotations

import csv
import io
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from molyneux.core import files, store
from molyneux.core.errors import CorruptFileError, StoreError

if TYPE_CHECKING:  # histories are read where torch is not needed
    from torch import nn

    from molyneux.core.batch import Batch

Row = Mapping[str, float]
"""`epoch` (1 is the first), `stage` (1 is the first; only where a training has stages), `step` (optimiser steps so far),
`seconds` (of training and validation so far; in the last row also of what is fitted after them, `core.PostFit`),
`samples_per_second` (training alone), `learning_rate`, and a column `train/<term>` or `validation/<term>` for every term of the
loss, in nats per sample; `train/loss` and `validation/loss` are the totals."""

MONITORED = "validation/loss"
_WHOLE = ("epoch", "stage", "step")


@dataclass(frozen=True)
class TrainingStep(ABC):
    """What one optimiser step of a training is, so that it can be measured by who knows nothing of trainings.

    Args:
        batch_size: samples of a step.
    """

    batch_size: int

    @abstractmethod
    def of(self, model: nn.Module, *, steps: int, seed: int) -> AbstractContextManager[Callable[[Batch, int], None]]:
        """A function that makes step `number`, from 0, of `steps` with a batch on the device of the model."""


@dataclass(frozen=True)
class History:
    """The rows of a training, oldest first.

    Args:
        rows: one for each epoch.
        step: what a step of the training was; None where it is not known, as of a history that was read from a file.
        samples: how many samples it learned from; 0 where that is not known.
        fit_seconds: of the fit after a training of no steps, which has no row.
    """

    rows: tuple[Row, ...] = ()
    step: TrainingStep | None = field(default=None, compare=False, repr=False)
    samples: int = field(default=0, compare=False, repr=False)
    fit_seconds: float = field(default=0.0, compare=False, repr=False)

    def __add__(self, row: Row) -> History:
        return replace(self, rows=(*self.rows, dict(row)))

    def prolonged(self, seconds: float) -> History:
        """With so many seconds of a fit more, in the last row where there is one."""
        if not self.rows:
            return replace(self, fit_seconds=self.fit_seconds + seconds)
        return replace(self, rows=(*self.rows[:-1], {**self.rows[-1], "seconds": self.rows[-1]["seconds"] + seconds}))

    @property
    def epochs(self) -> int:
        """Number of epochs done."""
        return len(self.rows)

    @property
    def steps(self) -> int:
        """Number of optimiser steps at the end of the last epoch."""
        return int(self.rows[-1]["step"]) if self.rows else 0

    @property
    def best_epoch(self) -> int:
        """The row (from 1) of the lowest validation loss, the earlier of two; the last where nothing was validated."""
        losses = [row.get(MONITORED, math.inf) for row in self.rows]
        return losses.index(min(losses)) + 1 if any(map(math.isfinite, losses)) else self.epochs

    def since(self, epochs: int) -> History:
        """The rows after the first `epochs` ones."""
        return History(self.rows[epochs:])

    def out_of_patience(self, patience: int | None) -> bool:
        """Whether the validation loss has not improved for `patience` epochs."""
        validated = bool(self.rows) and MONITORED in self.rows[-1]
        return patience is not None and validated and self.epochs - self.best_epoch >= patience

    def columns(self) -> dict[str, tuple[float, ...]]:
        """The columns by name, in the order of their first appearance; NaN where a row lacks a term."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        return {name: tuple(row.get(name, math.nan) for row in self.rows) for name in names}

    def write_csv(self, path: Path | str) -> None:
        """Write all rows atomically; a term that a row lacks is left empty."""
        path = Path(path)
        text = io.StringIO()
        writer = csv.DictWriter(text, list(self.columns()), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        store.write_text(path, text.getvalue())

    @classmethod
    def read_csv(cls, path: Path | str) -> History:
        """Read what `write_csv` wrote.

        Raises:
            StoreError: the file is not there.
            CorruptFileError: an entry is not a number, or a row is longer or shorter than the header.
        """
        path = Path(path)
        try:
            text = io.StringIO(files.read_plain(path).decode(), newline="")
            names, *rows = list(csv.reader(text, strict=True)) or [[]]
            return cls(tuple(_row(zip(names, row, strict=True)) for row in rows))
        except FileNotFoundError as error:
            raise StoreError(f"expected the file {path}, which is not there") from error
        except (ValueError, csv.Error) as error:
            raise CorruptFileError(f"{path} is damaged ({error}): run the same command again, which writes it anew") from error

    def to_json(self) -> dict[str, Any]:
        """Plain data that keeps the order of the columns."""
        names = list(self.columns())
        return {"columns": names, "rows": [[row.get(name) for name in names] for row in self.rows]}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> History:
        """Read what `to_json` wrote."""
        pairs = (zip(record["columns"], row, strict=True) for row in record["rows"])
        return cls(tuple({name: value for name, value in row if value is not None} for row in pairs))


def _row(entries: Iterable[tuple[str, str]]) -> dict[str, float]:
    return {name: int(text) if name in _WHOLE else float(text) for name, text in entries if text != ""}
