"""Imputations: what stands in for the encodings of missing modalities, one file per method."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.predictors.imputations.fills import MeanImputation, TokenImputation
    from molyneux.learn.predictors.imputations.imputation import Imputation, Imputer, drop_modalities
    from molyneux.learn.predictors.imputations.shaspec import ShaSpec
    from molyneux.learn.predictors.imputations.smil import SMIL
    from molyneux.learn.predictors.imputations.vae_imputation import VAEImputation

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

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
