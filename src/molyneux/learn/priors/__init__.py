"""Priors that are fitted to the codes of a trained model."""

from molyneux.learn.priors.density import CodeDensity
from molyneux.learn.priors.ex_post import ExPostMixture, collect_codes
from molyneux.learn.priors.fitted import FittedPrior
from molyneux.learn.priors.somewhere import Rows, Somewhere

__all__ = ["CodeDensity", "ExPostMixture", "FittedPrior", "Rows", "Somewhere", "collect_codes"]
