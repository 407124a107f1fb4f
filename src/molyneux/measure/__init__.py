"""Measures: a model and samples in, scores and exhibits out."""

from molyneux.measure.coherence import Coherence
from molyneux.measure.disentanglement import CodeUse, Disentanglement
from molyneux.measure.evaluation import Evaluation, Measure, Measurement, evaluate
from molyneux.measure.galleries import Galleries, Traversals
from molyneux.measure.homotopy import Homotopy
from molyneux.measure.intervals import apart, over_seeds
from molyneux.measure.latents import LatentProbe, PosteriorGap, Projection
from molyneux.measure.likelihood import Likelihood
from molyneux.measure.prediction import Downstream
from molyneux.measure.reconstruction import Reconstruction

__all__ = [
    "CodeUse",
    "Coherence",
    "Disentanglement",
    "Downstream",
    "Evaluation",
    "Galleries",
    "Homotopy",
    "LatentProbe",
    "Likelihood",
    "Measure",
    "Measurement",
    "PosteriorGap",
    "Projection",
    "Reconstruction",
    "Traversals",
    "apart",
    "evaluate",
    "over_seeds",
]
