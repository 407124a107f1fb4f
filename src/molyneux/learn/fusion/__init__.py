"""Fusions: how encodings of any number of modalities are joined, one file per published method."""

from molyneux.learn.fusion.fusion import Fusion, FusionLayer
from molyneux.learn.fusion.pooled import Concatenation, Pooling
from molyneux.learn.fusion.tensor import LowRank, TensorFusion

__all__ = [
    "Concatenation",
    "Fusion",
    "FusionLayer",
    "LowRank",
    "Pooling",
    "TensorFusion",
]
