"""Twins of data sets: small random files in their published layouts. Of these names, `molyneux.data` exports `write_twin`."""

from molyneux.data.benchmarks.twins.twins import twin_kinds as twin_kinds
from molyneux.data.benchmarks.twins.twins import write_twin as write_twin
