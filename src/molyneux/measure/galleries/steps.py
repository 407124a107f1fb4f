"""What changes from one readable view of a row to the next: the factors that a reader reads in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from molyneux.core import Cell, Factor, Reader, Spec
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.galleries.cells import view_cells


@dataclass(frozen=True)
class Walk:
    """What a reader read in views that follow each other in rows.

    A step ends at a readable view and begins at the last readable one before it: a change that happens behind unreadable views
    is a change of the step that comes out of them.

    Args:
        factors: the factors that are read, F of them.
        codes: (..., S, F) what was read in each of S views of a row; -1 = absent or unreadable.
        readable: (..., S) whether the reader had nothing to object to.
    """

    factors: tuple[Factor, ...]
    codes: np.ndarray
    readable: np.ndarray

    @property
    def before(self) -> np.ndarray:
        """(..., S - 1) number of the last readable view before each view but the first; -1 where there is none."""
        numbers = np.where(self.readable[..., :-1], np.arange(self.readable.shape[-1] - 1), -1)
        before: np.ndarray = np.maximum.accumulate(numbers, axis=-1)
        return before

    @property
    def known(self) -> np.ndarray:
        """(..., S - 1) whether a step ends at each view but the first: it is readable, and so is one before it."""
        known: np.ndarray = self.readable[..., 1:] & (self.before >= 0)
        return known

    @property
    def changed(self) -> np.ndarray:
        """(..., S - 1, F) whether a factor changes in the step that ends at a view; False where none does."""
        begun = np.take_along_axis(self.codes, np.maximum(self.before, 0)[..., None], axis=-2)
        changed: np.ndarray = (self.codes[..., 1:, :] != begun) & self.known[..., None]
        return changed


def read_walk(reader: Reader, spec: Spec, made: Tensor, *, shape: Sequence[int]) -> Walk:
    """Read stored views.

    A view is unreadable if the reader gives a reason or reads nothing; -1 beside other codes, without a reason, is a factor that
    the view does not have.

    Args:
        reader: who reads.
        spec: names the factors.
        made: (N, *modality.shape) views.
        shape: the axes that N stands for, the last of which are the views of a row.
    """
    reading = reader.read(made.cpu())
    codes: np.ndarray = reading.codes.cpu().numpy()
    readable = np.asarray((codes >= 0).any(1))
    readable[list(reading.reasons)] = False
    factors = tuple(spec.factor(name) for name in reading.factors)
    return Walk(factors, codes.reshape(*shape, len(factors)), readable.reshape(*shape))


def changes(walk: Walk) -> list[str]:
    """For each view of one row (S,), the factors that its step changed, such as `A: A9 → A1`.

    Nothing is said of an unreadable view, of the first readable one, and of one that is read like the last readable one before.
    """
    said: list[list[str]] = [[] for _ in walk.readable]
    before = walk.before
    for step, column in np.argwhere(walk.changed):
        factor = walk.factors[column]
        old, new = (_value(factor, walk.codes[row, column]) for row in (before[step], step + 1))
        said[step + 1].append(f"{factor.name}: {old} → {new}")
    return [", ".join(parts) for parts in said]


def stepped_cells(evaluation: Evaluation, name: str, made: Tensor) -> list[Cell]:
    """The views of one row (S, *shape) as cells, with what each step changed after what is read."""
    cells, reader = view_cells(evaluation, name, made), evaluation.reader(name)
    if reader is None:
        return cells
    found = changes(read_walk(reader, evaluation.spec, made, shape=(len(made),)))
    return [_with_change(cell, said) if said else cell for cell, said in zip(cells, found, strict=True)]


def _with_change(cell: Cell, said: str) -> Cell:
    """A text that says itself what is read in it is not repeated."""
    return replace(cell, reading=said if cell.reading == cell.text else f"{cell.reading}; {said}")


def _value(factor: Factor, code: int) -> str:
    return factor.values[code] if code >= 0 else "absent"
