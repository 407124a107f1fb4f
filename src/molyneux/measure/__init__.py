"""Measures: a model and samples in, scores and exhibits out."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.measure.clustering import Clustering
    from molyneux.measure.coherence import Coherence
    from molyneux.measure.complexity import Complexity
    from molyneux.measure.disentanglement import CodeUse, Disentanglement
    from molyneux.measure.evaluation import Evaluation
    from molyneux.measure.fidelity import Fidelity
    from molyneux.measure.galleries import Galleries
    from molyneux.measure.homotopy import Homotopy
    from molyneux.measure.likelihood import Likelihood
    from molyneux.measure.measures import Measure, Measurement, evaluate
    from molyneux.measure.posterior_gap import PosteriorGap
    from molyneux.measure.prediction import (
        Breakdown,
        Calibration,
        Consistency,
        Contrasts,
        Downstream,
        Emap,
        ForcedChoice,
        LatentProbe,
        Leakage,
        Prediction,
        Shapley,
        Systematicity,
        WrongAnswers,
    )
    from molyneux.measure.projection import Projection
    from molyneux.measure.reconstruction import Reconstruction
    from molyneux.measure.robustness import Robustness
    from molyneux.measure.samplers import Samplers
    from molyneux.measure.scores import apart, over_seeds
    from molyneux.measure.synergy import Synergy
    from molyneux.measure.trained_control import TrainedControl
    from molyneux.measure.transfer import Transfer
    from molyneux.measure.traversals import Traversals
    from molyneux.measure.two_way_choice import TwoWayChoice

__all__ = [
    "Breakdown",
    "Calibration",
    "Clustering",
    "CodeUse",
    "Coherence",
    "Complexity",
    "Consistency",
    "Contrasts",
    "Disentanglement",
    "Downstream",
    "Emap",
    "Evaluation",
    "Fidelity",
    "ForcedChoice",
    "Galleries",
    "Homotopy",
    "LatentProbe",
    "Leakage",
    "Likelihood",
    "Measure",
    "Measurement",
    "PosteriorGap",
    "Prediction",
    "Projection",
    "Reconstruction",
    "Robustness",
    "Samplers",
    "Shapley",
    "Synergy",
    "Systematicity",
    "TrainedControl",
    "Transfer",
    "Traversals",
    "TwoWayChoice",
    "WrongAnswers",
    "apart",
    "evaluate",
    "over_seeds",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
