"""The version of this package, and the first one that computes the same numbers."""

__version__ = "0.2.0"

NUMBERS = "0.1.0"
"""Since this version the same settings give the same samples, models and scores: records of runs are compared by it, so that a
release that changes no number parts no record from its study. Raise it where numbers change that no version of a world or a
reader tells."""
