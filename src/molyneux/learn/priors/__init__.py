"""Priors over codes: their contract, priors known before training, and a prior that is fitted to the codes of a trained model."""

from molyneux.learn.priors.fitted import CodeDensity, ExPostMixture, FittedPrior, collect_codes
from molyneux.learn.priors.prior import IndependentPrior, LatentDims, Prior, SpikeAndSlab

__all__ = [
    "CodeDensity",
    "ExPostMixture",
    "FittedPrior",
    "IndependentPrior",
    "LatentDims",
    "Prior",
    "SpikeAndSlab",
    "collect_codes",
]
