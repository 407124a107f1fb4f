"""Views become numbers: encoders of predictors here, encoders and decoders of generative models in `nets`."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.encoders.composed import NetVector, Projected
    from molyneux.learn.encoders.defaults import default_encoder
    from molyneux.learn.encoders.encoding import (
        Encoder,
        Encoding,
        EncodingSpec,
        ViewEncoder,
        attended,
        attention_weights,
    )
    from molyneux.learn.encoders.general import MLP, DeepSets, Identity, Maxout
    from molyneux.learn.encoders.pictures.convolutional import CAMERA, DEPTH, VGG11, LeNet, PushLayers, ResNet, RobotCamera
    from molyneux.learn.encoders.pictures.small import OutlinesAndColours, PaperCNN, PixelPatches, StridedCNN
    from molyneux.learn.encoders.pictures.vision_transformer import ViT
    from molyneux.learn.encoders.sequences import CausalConvolution, RecurrentSteps, TransformerSteps
    from molyneux.learn.encoders.sounds import ForceConvolution, Spectrogram
    from molyneux.learn.encoders.symbol_trees import SymbolTrees
    from molyneux.learn.encoders.texts import BagOfWords, RecurrentWords
    from molyneux.learn.encoders.videos import ResNet3D, Stepwise

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

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
