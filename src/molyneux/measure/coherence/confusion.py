"""What was read where something else was asked for, as a table of text cells."""

from __future__ import annotations

import numpy as np

from molyneux.core import Cell, Factor, Gallery
from molyneux.measure.coherence.answers import Answers
from molyneux.measure.coherence.directions import Direction

_SHOWN = 4


def confusion(codes: np.ndarray, truth: np.ndarray, values: int) -> np.ndarray:
    """Counts of (true, read) pairs, (V, V + 1); the last column counts the unreadable. Absent ones are left out.

    Args:
        codes: (N,) codes read, -1 = unreadable.
        truth: (N,) true codes, -1 = absent.
        values: V, number of values of the factor.
    """
    asked = truth >= 0
    read = np.where(codes < 0, values, codes)[asked]
    return np.bincount(truth[asked] * (values + 1) + read, minlength=values * (values + 1)).reshape(values, values + 1)


def confusion_gallery(answers: Answers, direction: Direction) -> Gallery:
    """One row for each value asked for: what was read in its place, most frequent first."""
    rows = [row for column, factor in enumerate(answers.factors) for row in _rows(answers, column, factor)]
    source, target = direction.about["source"], direction.target
    return Gallery(
        name=f"confusion_{'_'.join(direction.observed)}_to_{target}",
        title=f"What is read in {target} made from {source}",
        note="Each row is a true value; the cells say what was read in its place and how often, most frequent first.",
        columns=("asked for", *(f"read {place}" for place in range(1, _SHOWN + 1))),
        rows=tuple(rows),
    )


def _rows(answers: Answers, column: int, factor: Factor) -> list[tuple[Cell, ...]]:
    counts = confusion(answers.read[:, column], answers.truth[:, column], len(factor.values))
    names = (*factor.values, "unreadable")
    rows = []
    for code, row in enumerate(counts):
        if not row.sum():
            continue
        cells = [Cell(text=f"{factor.name}: {factor.values[code]}")]
        for place in np.argsort(-row, kind="stable")[:_SHOWN]:
            text = f"{names[place]} {100 * row[place] / row.sum():.1f} %" if row[place] else ""
            cells.append(Cell(text=text, correct=bool(place == code) if row[place] else None))
        rows.append((*cells, *[Cell()] * (_SHOWN + 1 - len(cells))))
    return rows
