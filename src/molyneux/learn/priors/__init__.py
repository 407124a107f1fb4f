"""Priors over codes: that of the loss, those given another code, and densities that are fitted after training."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.priors.conditional import (
        ConditionalFlow,
        ConditionalMixture,
        ConditionalNormal,
        PrivateDensity,
        PrivatePrior,
    )
    from molyneux.learn.priors.fitted_flow import ExPostFlow, FlowDensity
    from molyneux.learn.priors.prior import (
        CodeDensity,
        ExPostMixture,
        ExPostPrior,
        FittedDensity,
        FittedPrior,
        IndependentPrior,
        LatentDims,
        Prior,
        SpikeAndSlab,
        collect_codes,
    )

__all__ = [
    "CodeDensity",
    "ConditionalFlow",
    "ConditionalMixture",
    "ConditionalNormal",
    "ExPostFlow",
    "ExPostMixture",
    "ExPostPrior",
    "FittedDensity",
    "FittedPrior",
    "FlowDensity",
    "IndependentPrior",
    "LatentDims",
    "Prior",
    "PrivateDensity",
    "PrivatePrior",
    "SpikeAndSlab",
    "collect_codes",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
