"""Objectives: pure functions that return named terms, in nats per sample."""

from molyneux.learn.objectives.elbo import Evidence, negative_elbo
from molyneux.learn.objectives.warmup import Warmup, weight_at

__all__ = ["Evidence", "Warmup", "negative_elbo", "weight_at"]
