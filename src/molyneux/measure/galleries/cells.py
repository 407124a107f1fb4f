"""Views as the cells of a gallery, with what the reader reads in them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from torch import Tensor

from molyneux.core import Cell, Modality, views
from molyneux.measure.coherence import words
from molyneux.measure.coherence.reading import read
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
    shown = [_cell(modality, view) for view in made.cpu()]
    if modality.kind == "text":
        shown = [Cell(text=said) for said in views.text_strings(modality, made)]
    if reader is None:
        return shown
    reading = reader.read(made.cpu())
    said = [words(reading, evaluation.spec.factors, row) for row in range(len(shown))]
    verdicts: Sequence[bool | None] = [None] * len(shown) if correct is None else correct
    if correct is None and truth is not None and asked:
        verdicts = read(reader, made, truth, evaluation.spec).select(list(asked)).strict.tolist()
    return [Cell(cell.view, cell.text, told, verdict) for cell, told, verdict in zip(shown, said, verdicts, strict=True)]


def _cell(modality: Modality, view: Tensor) -> Cell:
    """A cell that shows one view: pictures as they are, numbers as a series (T, D), labels by their symbol."""
    if modality.kind == "text":
        return Cell()
    if modality.symbols:
        return Cell(text=modality.symbols[int(view)])
    if modality.kind == "image":
        return Cell(view.numpy() if modality.dtype == "uint8" else (255 * view.clamp(0, 1)).round().numpy().astype(np.uint8))
    series = view.float().numpy()
    return Cell({"audio": series.T, "tabular": series[..., None]}.get(modality.kind, series))
