"""Likelihoods: what decoders return, as torch distributions over whole views, in nats."""

from molyneux.learn.likelihoods.bernoulli import Bernoulli
from molyneux.learn.likelihoods.categorical import Categorical
from molyneux.learn.likelihoods.decoding import Writer
from molyneux.learn.likelihoods.default import default_likelihood
from molyneux.learn.likelihoods.likelihood import Head, ViewDistribution, ViewLikelihood
from molyneux.learn.likelihoods.location_scale import Laplace, Normal
from molyneux.learn.likelihoods.scaling import Scales, likelihood_scales
from molyneux.learn.likelihoods.stepwise import WrittenTexts

__all__ = [
    "Bernoulli",
    "Categorical",
    "Head",
    "Laplace",
    "Normal",
    "Scales",
    "ViewDistribution",
    "ViewLikelihood",
    "Writer",
    "WrittenTexts",
    "default_likelihood",
    "likelihood_scales",
]
