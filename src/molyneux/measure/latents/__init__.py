"""Latents: what codes know, where they lie, and how far from the prior."""

from molyneux.measure.latents.codes import CodeTable, collect_codes
from molyneux.measure.latents.distances import active_units, gaussian_kl, marginal_kl, sliced_wasserstein
from molyneux.measure.latents.posterior_gap import PosteriorGap
from molyneux.measure.latents.probe import LatentProbe
from molyneux.measure.latents.projection import Projection, principal_directions

__all__ = [
    "CodeTable",
    "LatentProbe",
    "PosteriorGap",
    "Projection",
    "active_units",
    "collect_codes",
    "gaussian_kl",
    "marginal_kl",
    "principal_directions",
    "sliced_wasserstein",
]
