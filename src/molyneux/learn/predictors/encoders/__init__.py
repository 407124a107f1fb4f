"""Encoders of predictors: views of one modality to a vector of the whole view and vectors of its parts."""

from molyneux.learn.predictors.encoders.convolutional import CAMERA, DEPTH, VGG11, LeNet, PushLayers, ResNet, RobotCamera
from molyneux.learn.predictors.encoders.defaults import default_encoder
from molyneux.learn.predictors.encoders.encoding import (
    Encoder,
    Encoding,
    EncodingSpec,
    NetVector,
    ViewEncoder,
    attended,
    attention_weights,
)
from molyneux.learn.predictors.encoders.general import MLP, DeepSets, Identity, Maxout
from molyneux.learn.predictors.encoders.pictures import PaperCNN, PixelPatches, StridedCNN
from molyneux.learn.predictors.encoders.projected import Projected
from molyneux.learn.predictors.encoders.sequences import CausalConvolution, RecurrentSteps, TransformerSteps
from molyneux.learn.predictors.encoders.sounds import ForceConvolution, Spectrogram
from molyneux.learn.predictors.encoders.symbol_trees import SymbolTrees
from molyneux.learn.predictors.encoders.texts import BagOfWords, RecurrentWords
from molyneux.learn.predictors.encoders.two_streams import OutlinesAndColours
from molyneux.learn.predictors.encoders.videos import ResNet3D, Stepwise
from molyneux.learn.predictors.encoders.vision_transformer import ViT

__all__ = [
    "CAMERA",
    "DEPTH",
    "MLP",
    "VGG11",
    "BagOfWords",
    "CausalConvolution",
    "DeepSets",
    "Encoder",
    "Encoding",
    "EncodingSpec",
    "ForceConvolution",
    "Identity",
    "LeNet",
    "Maxout",
    "NetVector",
    "OutlinesAndColours",
    "PaperCNN",
    "PixelPatches",
    "Projected",
    "PushLayers",
    "RecurrentSteps",
    "RecurrentWords",
    "ResNet",
    "ResNet3D",
    "RobotCamera",
    "Spectrogram",
    "Stepwise",
    "StridedCNN",
    "SymbolTrees",
    "TransformerSteps",
    "ViT",
    "ViewEncoder",
    "attended",
    "attention_weights",
    "default_encoder",
]
