"""Features: networks in files by whose features of views sets of views are compared."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.features.inception import Inception
    from molyneux.learn.features.network import InceptionFeatures, load_features

__all__ = ["Inception", "InceptionFeatures", "load_features"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
