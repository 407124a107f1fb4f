"""Homotopies: paths between the codes of two samples."""

from molyneux.measure.homotopy.homotopy import Homotopy
from molyneux.measure.homotopy.paths import dimensionwise_codes, homotopy_codes

__all__ = ["Homotopy", "dimensionwise_codes", "homotopy_codes"]
