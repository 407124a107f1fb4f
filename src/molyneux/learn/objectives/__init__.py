"""Objectives: what is minimised, as named terms in nats per sample, and the schedules of their weights."""

from molyneux.learn.objectives.adversarial import Adversarial
from molyneux.learn.objectives.capacity import Capacity
from molyneux.learn.objectives.covariance_match import CovarianceMatch
from molyneux.learn.objectives.cyclical import Cyclical
from molyneux.learn.objectives.divergence import Divergence
from molyneux.learn.objectives.elbo import Evidence, negative_elbo
from molyneux.learn.objectives.frozen import frozen
from molyneux.learn.objectives.objective import Objective, Penalty, Sampled
from molyneux.learn.objectives.sparse_match import SparseMatch
from molyneux.learn.objectives.total_correlation import TotalCorrelation
from molyneux.learn.objectives.warmup import Warmup, WarmupSteps
from molyneux.learn.objectives.weight import Weight, weight_at, weight_problems

__all__ = [
    "Adversarial",
    "Capacity",
    "CovarianceMatch",
    "Cyclical",
    "Divergence",
    "Evidence",
    "Objective",
    "Penalty",
    "Sampled",
    "SparseMatch",
    "TotalCorrelation",
    "Warmup",
    "WarmupSteps",
    "Weight",
    "frozen",
    "negative_elbo",
    "weight_at",
    "weight_problems",
]
