"""Measures: a model and samples in, scores and exhibits out."""

from molyneux.measure.coherence import Coherence
from molyneux.measure.evaluation import Evaluation, Measure, Measurement, evaluate
from molyneux.measure.intervals import apart, over_seeds

__all__ = ["Coherence", "Evaluation", "Measure", "Measurement", "apart", "evaluate", "over_seeds"]
