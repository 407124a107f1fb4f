"""Models whose codes are made by other objectives than a likelihood."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.representations.contrastive_encoders import ContrastiveEncoders
    from molyneux.learn.representations.masked_transformer import MaskedTransformer

__all__ = ["ContrastiveEncoders", "MaskedTransformer"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
