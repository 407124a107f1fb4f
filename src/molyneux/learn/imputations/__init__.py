"""Imputations: what stands in for the encodings of missing modalities, one file per method."""

from molyneux.learn.imputations.fills import MeanImputation, TokenImputation
from molyneux.learn.imputations.imputation import Imputation, Imputer, drop_modalities
from molyneux.learn.imputations.shaspec import ShaSpec
from molyneux.learn.imputations.smil import SMIL
from molyneux.learn.imputations.vae_imputation import VAEImputation

__all__ = [
    "SMIL",
    "Imputation",
    "Imputer",
    "MeanImputation",
    "ShaSpec",
    "TokenImputation",
    "VAEImputation",
    "drop_modalities",
]
