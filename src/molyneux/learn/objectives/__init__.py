"""Objectives: what a model minimises, as named terms in nats per sample, and the schedules of their weights."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.checks import levels_below_zero
    from molyneux.learn.objectives.bounds import (
        ELBO,
        IWAE,
        Bound,
        Criterion,
        ElboTerms,
        Estimates,
        LogWeights,
        Objective,
        Sampled,
    )
    from molyneux.learn.objectives.dreg import DReG
    from molyneux.learn.objectives.mat import MAT
    from molyneux.learn.objectives.penalties import CCI, DIP, BetaVAE, Penalty, frozen
    from molyneux.learn.objectives.total_correlation import BetaTCVAE, FactorVAE
    from molyneux.learn.objectives.weights import Cyclical, Warmup, WarmupSteps, Weight, weight_at, weight_problems

__all__ = [
    "CCI",
    "DIP",
    "ELBO",
    "IWAE",
    "MAT",
    "BetaTCVAE",
    "BetaVAE",
    "Bound",
    "Criterion",
    "Cyclical",
    "DReG",
    "ElboTerms",
    "Estimates",
    "FactorVAE",
    "LogWeights",
    "Objective",
    "Penalty",
    "Sampled",
    "Warmup",
    "WarmupSteps",
    "Weight",
    "frozen",
    "levels_below_zero",
    "weight_at",
    "weight_problems",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
