"""Fidelity: how alike generated and true views are as sets, by features of a network."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.measure.fidelity.distances import frechet_distance, kernel_distance
    from molyneux.measure.fidelity.fidelity import Fidelity
    from molyneux.measure.fidelity.neighbours import Neighbourhoods, neighbourhoods

__all__ = ["Fidelity", "Neighbourhoods", "frechet_distance", "kernel_distance", "neighbourhoods"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
