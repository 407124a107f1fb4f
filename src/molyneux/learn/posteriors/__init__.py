"""Distributions over codes, and the functions that combine the experts of several modalities into a joint posterior."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.posteriors.combinations import (
        MOST_ENUMERATED,
        MOST_SUBSETS,
        MixturePosterior,
        NormalMixture,
        WhereConditional,
        WhereDistribution,
        all_subsets,
        draw_component,
        mixture_of_experts,
        mixture_of_products,
        product_of_experts,
        sampled_subsets,
        subsets_of,
    )
    from molyneux.learn.posteriors.diagonal import Diagonal, DiagonalLaplace, DiagonalNormal, Point, expert_parameters
    from molyneux.learn.posteriors.pooling import consensus_of_experts, hellinger_pool, moment_matched, weighted_product
    from molyneux.learn.posteriors.sparse import HierarchicalSparse, SparseNormal, SpikePrior

__all__ = [
    "MOST_ENUMERATED",
    "MOST_SUBSETS",
    "Diagonal",
    "DiagonalLaplace",
    "DiagonalNormal",
    "HierarchicalSparse",
    "MixturePosterior",
    "NormalMixture",
    "Point",
    "SparseNormal",
    "SpikePrior",
    "WhereConditional",
    "WhereDistribution",
    "all_subsets",
    "consensus_of_experts",
    "draw_component",
    "expert_parameters",
    "hellinger_pool",
    "mixture_of_experts",
    "mixture_of_products",
    "moment_matched",
    "product_of_experts",
    "sampled_subsets",
    "subsets_of",
    "weighted_product",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
