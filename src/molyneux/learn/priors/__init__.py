"""Priors other than the standard one: sparse, or fitted to the codes of a trained model."""

from molyneux.learn.priors.density import CodeDensity
from molyneux.learn.priors.ex_post import ExPostMixture, collect_codes
from molyneux.learn.priors.fitted import FittedPrior
from molyneux.learn.priors.somewhere import Rows, Somewhere
from molyneux.learn.priors.spike_and_slab import SpikeAndSlab

__all__ = ["CodeDensity", "ExPostMixture", "FittedPrior", "Rows", "Somewhere", "SpikeAndSlab", "collect_codes"]
