"""Cells of galleries: views with what a reader reads in them, and what changes from one view of a row to the next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Cell, Factor, Modality, Reader, Spec, views
from molyneux.measure.coherence.answers import read, reading_text
from molyneux.measure.evaluation import Evaluation


def view_cells(
    evaluation: Evaluation,
    name: str,
    made: Tensor,
    *,
    truth: Tensor | None = None,
    asked: Collection[str] = (),
    correct: Sequence[bool] | None = None,
) -> list[Cell]:
    """One cell for each view.

    Args:
        evaluation: whose reader reads.
        name: the modality.
        made: (N, *shape) stored views.
        truth: (N, all factors) true codes that a reading is compared with.
        asked: the factors that count; without any, nothing is said to be right or wrong.
        correct: verdicts known beforehand, in place of the comparison.
    """
    modality, reader = evaluation.spec.modality(name), evaluation.reader(name)
    if modality.kind == "text":
        cells = [Cell(text=text) for text in views.text_strings(modality, made)]
    else:
        cells = [_cell(modality, view) for view in made.cpu()]
    if reader is None:
        return cells
    reading = reader.read(made.cpu())
    texts = [reading_text(reading, evaluation.spec.factors, row) for row in range(len(cells))]
    verdicts: Sequence[bool | None] = [None] * len(cells) if correct is None else correct
    if correct is None and truth is not None and asked:
        verdicts = read(reader, made, evaluation.spec, truth).select(list(asked)).strict.tolist()
    return [Cell(cell.view, cell.text, text, verdict) for cell, text, verdict in zip(cells, texts, verdicts, strict=True)]


def _cell(modality: Modality, view: Tensor) -> Cell:
    """A cell with one view: images as they are, four frames of a video, numbers as a series (T, D), labels by their symbol."""
    if modality.symbols:
        return Cell(text=modality.symbols[int(view)])
    if modality.kind == "video":
        frames = view[torch.linspace(0, len(view) - 1, min(4, len(view))).round().long()]
        view = frames.permute(1, 2, 0, 3).flatten(2)
    if modality.kind in ("image", "video"):
        return Cell(view.numpy() if modality.dtype == "uint8" else (255 * view.clamp(0, 1)).round().numpy().astype(np.uint8))
    series = view.float().numpy()
    return Cell({"audio": series.T, "tabular": series[..., None]}.get(modality.kind, series))


@dataclass(frozen=True)
class ReadSequence:
    """What a reader read in views that follow one another in rows.

    A step ends at a readable view and begins at the last readable one before it: a change that happens behind unreadable views
    is a change of the step that comes out of them.

    Args:
        factors: the factors that are read, F of them.
        codes: (..., S, F) what was read in each of S views of a row; -1 = absent or unreadable.
        readable: (..., S) whether the reader could read the view.
    """

    factors: tuple[Factor, ...]
    codes: np.ndarray
    readable: np.ndarray

    @property
    def before(self) -> np.ndarray:
        """(..., S - 1) number of the last readable view before each view but the first; -1 where there is none."""
        numbers = np.where(self.readable[..., :-1], np.arange(self.readable.shape[-1] - 1), -1)
        return np.asarray(np.maximum.accumulate(numbers, axis=-1))

    @property
    def known(self) -> np.ndarray:
        """(..., S - 1) whether a step ends at each view but the first: it is readable, and so is one before it."""
        return np.asarray(self.readable[..., 1:] & (self.before >= 0))

    @property
    def changed(self) -> np.ndarray:
        """(..., S - 1, F) whether a factor changes in the step that ends at a view; False where none does."""
        begun = np.take_along_axis(self.codes, np.maximum(self.before, 0)[..., None], axis=-2)
        return np.asarray((self.codes[..., 1:, :] != begun) & self.known[..., None])


def read_sequence(reader: Reader, spec: Spec, made: Tensor, *, shape: Sequence[int]) -> ReadSequence:
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
    return ReadSequence(factors, codes.reshape(*shape, len(factors)), readable.reshape(*shape))


def changes(sequence: ReadSequence) -> list[str]:
    """For each view of one row (S,), the factors that its step changed, such as `A: A9 → A1`.

    Empty for an unreadable view, for the first readable one, and for one that is read like the last readable one before.
    """
    found: list[list[str]] = [[] for _ in sequence.readable]
    before = sequence.before
    for step, column in np.argwhere(sequence.changed):
        factor = sequence.factors[column]
        old, new = (_value(factor, sequence.codes[row, column]) for row in (before[step], step + 1))
        found[step + 1].append(f"{factor.name}: {old} → {new}")
    return [", ".join(parts) for parts in found]


def stepped_cells(evaluation: Evaluation, name: str, made: Tensor) -> list[Cell]:
    """The views of one row (S, *shape) as cells, each with what its step changed after what is read."""
    cells, reader = view_cells(evaluation, name, made), evaluation.reader(name)
    if reader is None:
        return cells
    found = changes(read_sequence(reader, evaluation.spec, made, shape=(len(made),)))
    return [_with_change(cell, text) if text else cell for cell, text in zip(cells, found, strict=True)]


def _with_change(cell: Cell, change: str) -> Cell:
    """The cell with the change after its reading, which is left out where it is the text itself."""
    return replace(cell, reading=change if cell.reading == cell.text else f"{cell.reading}; {change}")


def _value(factor: Factor, code: int) -> str:
    return factor.values[code] if code >= 0 else "absent"
