"""Fusions: how encodings of any number of modalities are joined, one file per published method."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.fusion.bottleneck import BottleneckAttention, Perceiver
    from molyneux.learn.fusion.crossmodal import MulT
    from molyneux.learn.fusion.early import AtEachStep, EarlyFusion
    from molyneux.learn.fusion.fusion import Fusion, FusionLayer
    from molyneux.learn.fusion.gated import DynamicFusion, ProductOfExperts
    from molyneux.learn.fusion.kalman import KalmanFilter
    from molyneux.learn.fusion.multiplicative import FiLMFusion, MultiplicativeInteractions
    from molyneux.learn.fusion.nonlocal_gate import NLGate
    from molyneux.learn.fusion.pooled import Concatenation, Pooling
    from molyneux.learn.fusion.searched import MFAS, Candidate, LayerSearch
    from molyneux.learn.fusion.tensor import LowRank, TensorFusion

__all__ = [
    "MFAS",
    "AtEachStep",
    "BottleneckAttention",
    "Candidate",
    "Concatenation",
    "DynamicFusion",
    "EarlyFusion",
    "FiLMFusion",
    "Fusion",
    "FusionLayer",
    "KalmanFilter",
    "LayerSearch",
    "LowRank",
    "MulT",
    "MultiplicativeInteractions",
    "NLGate",
    "Perceiver",
    "Pooling",
    "ProductOfExperts",
    "TensorFusion",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
