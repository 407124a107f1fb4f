"""Complexity: what a model costs in parameters, operations, time, memory and energy."""

from molyneux.measure.complexity.complexity import Complexity

__all__ = ["Complexity"]
