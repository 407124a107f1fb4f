"""Joint posteriors: pure functions of stacked expert parameters."""

from molyneux.learn.posteriors.combinations import all_subsets, mixture_of_experts, mixture_of_products, product_of_experts
from molyneux.learn.posteriors.diagonal import Diagonal, DiagonalLaplace, DiagonalNormal, expert_parameters
from molyneux.learn.posteriors.hierarchical import HierarchicalSparse, SpikePrior
from molyneux.learn.posteriors.mixture import Mixture, draw_component
from molyneux.learn.posteriors.normal_mixture import NormalMixture, standard_log_density, whiten
from molyneux.learn.posteriors.point import Point
from molyneux.learn.posteriors.sparse_normal import SparseNormal

__all__ = [
    "Diagonal",
    "DiagonalLaplace",
    "DiagonalNormal",
    "HierarchicalSparse",
    "Mixture",
    "NormalMixture",
    "Point",
    "SparseNormal",
    "SpikePrior",
    "all_subsets",
    "draw_component",
    "expert_parameters",
    "mixture_of_experts",
    "mixture_of_products",
    "product_of_experts",
    "standard_log_density",
    "whiten",
]
