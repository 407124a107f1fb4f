"""Galleries and traversals: exhibits of what a model makes."""

from molyneux.measure.galleries.cells import view_cells
from molyneux.measure.galleries.galleries import Galleries, Traversals

__all__ = ["Galleries", "Traversals", "view_cells"]
