"""Joint posteriors: pure functions of stacked expert parameters."""

from molyneux.learn.posteriors.combinations import all_subsets, mixture_of_experts, mixture_of_products, product_of_experts
from molyneux.learn.posteriors.diagonal import Diagonal, DiagonalLaplace, DiagonalNormal, expert_parameters
from molyneux.learn.posteriors.mixture import Mixture, draw_component
from molyneux.learn.posteriors.normal_mixture import NormalMixture, standard_log_density, whiten

__all__ = [
    "Diagonal",
    "DiagonalLaplace",
    "DiagonalNormal",
    "Mixture",
    "NormalMixture",
    "all_subsets",
    "draw_component",
    "expert_parameters",
    "mixture_of_experts",
    "mixture_of_products",
    "product_of_experts",
    "standard_log_density",
    "whiten",
]
