"""Features: networks in files by whose features of views sets of views are compared."""

from molyneux.learn.features.inception import Inception
from molyneux.learn.features.network import InceptionFeatures, load_features

__all__ = ["Inception", "InceptionFeatures", "load_features"]
