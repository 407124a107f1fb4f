"""Complexity: what a model costs in parameters, operations, time, memory and energy."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.measure.complexity.complexity import Complexity

__all__ = ["Complexity"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
