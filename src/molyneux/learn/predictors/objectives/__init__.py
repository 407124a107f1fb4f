"""Auxiliary objectives of predictors: what is added to the loss of the targets."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.predictors.objectives.auxiliary import (
        AuxiliaryLoss,
        AuxiliaryObjective,
        InStages,
        PredictorStep,
        UnimodalHeads,
    )
    from molyneux.learn.predictors.objectives.canonical_correlation import CanonicalCorrelation
    from molyneux.learn.predictors.objectives.contrastive import Contrastive, MultiSimilarity
    from molyneux.learn.predictors.objectives.functional_entropy import RMFE
    from molyneux.learn.predictors.objectives.gradient_modulation import OGMGE
    from molyneux.learn.predictors.objectives.mfm import MFM, PublishedMFM
    from molyneux.learn.predictors.objectives.mvae import PublishedMVAE, SupervisedMVAE
    from molyneux.learn.predictors.objectives.refnet import RefNet, RefNetReconstruction

__all__ = [
    "MFM",
    "OGMGE",
    "RMFE",
    "AuxiliaryLoss",
    "AuxiliaryObjective",
    "CanonicalCorrelation",
    "Contrastive",
    "InStages",
    "MultiSimilarity",
    "PredictorStep",
    "PublishedMFM",
    "PublishedMVAE",
    "RefNet",
    "RefNetReconstruction",
    "SupervisedMVAE",
    "UnimodalHeads",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
