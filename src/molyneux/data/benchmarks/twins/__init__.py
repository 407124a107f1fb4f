"""Twins of data sets: small random files in their published layouts."""

from molyneux.data.benchmarks.twins.twins import twin_kinds, write_twin

__all__ = ["twin_kinds", "write_twin"]
