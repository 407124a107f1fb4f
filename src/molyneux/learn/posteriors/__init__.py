"""Joint posteriors: pure functions of stacked expert parameters."""

from molyneux.learn.posteriors.combinations import all_subsets, mixture_of_experts, mixture_of_products, product_of_experts
from molyneux.learn.posteriors.diagonal import Diagonal, DiagonalLaplace, DiagonalNormal, expert_parameters
from molyneux.learn.posteriors.mixture import Mixture, draw_component

__all__ = [
    "Diagonal",
    "DiagonalLaplace",
    "DiagonalNormal",
    "Mixture",
    "all_subsets",
    "draw_component",
    "expert_parameters",
    "mixture_of_experts",
    "mixture_of_products",
    "product_of_experts",
]
