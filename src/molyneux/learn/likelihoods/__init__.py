"""Likelihoods: what decoders return, as torch distributions over whole views, in nats."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.likelihoods.chromatic import ChromaticNormal
    from molyneux.learn.likelihoods.correlated import CorrelatedNormal
    from molyneux.learn.likelihoods.defaults import Scales, default_likelihood, likelihood_scales
    from molyneux.learn.likelihoods.independent import Bernoulli, Laplace, Normal
    from molyneux.learn.likelihoods.likelihood import LikelihoodHead, ViewDistribution, ViewLikelihood
    from molyneux.learn.likelihoods.symbols import AutoregressiveDecoder, AutoregressiveTexts, Categorical, CategoricalViews

__all__ = [
    "AutoregressiveDecoder",
    "AutoregressiveTexts",
    "Bernoulli",
    "Categorical",
    "CategoricalViews",
    "ChromaticNormal",
    "CorrelatedNormal",
    "Laplace",
    "LikelihoodHead",
    "Normal",
    "Scales",
    "ViewDistribution",
    "ViewLikelihood",
    "default_likelihood",
    "likelihood_scales",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
