"""Views as cells of galleries, for pages without a server."""

from __future__ import annotations

from torch import Tensor

from molyneux.core import Cell, Modality, values_of


def cell_of(item: Modality, view: Tensor) -> Cell:
    """One view (*shape) in stored form as a cell: a picture, a series, a text, or its shape where it is none of these."""
    if item.kind == "image" and view.shape[0] in (1, 3):
        return Cell(view.numpy())
    if item.kind == "series" and view.dim() == 2:
        return Cell(view.numpy(), channels=item.channels)
    return Cell(text=str(values_of(item, view[None])[0]) if item.symbols else f"{tuple(view.shape)}")
