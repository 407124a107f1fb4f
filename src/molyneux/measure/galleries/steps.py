"""What changes from one view of a row to the next: the factors that a reader reads in both."""

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

    Args:
        factors: the factors that are read, F of them.
        codes: (..., S, F) what was read in each of S views of a row; -1 = absent or unreadable.
        readable: (..., S) whether the reader had nothing to object to.
    """

    factors: tuple[Factor, ...]
    codes: np.ndarray
    readable: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """(..., S - 1) whether both views of a step are readable."""
        known: np.ndarray = self.readable[..., 1:] & self.readable[..., :-1]
        return known

    @property
    def changed(self) -> np.ndarray:
        """(..., S - 1, F) whether a factor changes in a step; False where a view of the step is unreadable."""
        changed: np.ndarray = (self.codes[..., 1:, :] != self.codes[..., :-1, :]) & self.known[..., None]
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

    Nothing is said of the first view, of one that is read like the view before, and where one of the two is unreadable.
    """
    said: list[list[str]] = [[] for _ in walk.readable]
    for step, column in np.argwhere(walk.changed):
        factor = walk.factors[column]
        old, new = (_value(factor, walk.codes[row, column]) for row in (step, step + 1))
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
