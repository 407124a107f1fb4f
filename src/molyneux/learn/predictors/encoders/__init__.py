"""Encoders of predictors: views of one modality to a vector of the whole view and vectors of its parts."""

from molyneux.learn.predictors.encoders.encoding import (
    Encoder,
    Encoding,
    EncodingSpec,
    NetVector,
    ViewEncoder,
    attended,
    attention_weights,
)
from molyneux.learn.predictors.encoders.pictures import PaperCNN, PixelPatches, StridedCNN
from molyneux.learn.predictors.encoders.symbol_trees import SymbolTrees
from molyneux.learn.predictors.encoders.texts import BagOfWords, RecurrentWords

__all__ = [
    "BagOfWords",
    "Encoder",
    "Encoding",
    "EncodingSpec",
    "NetVector",
    "PaperCNN",
    "PixelPatches",
    "RecurrentWords",
    "StridedCNN",
    "SymbolTrees",
    "ViewEncoder",
    "attended",
    "attention_weights",
]
