"""Encoders and decoders by kind of modality."""

from molyneux.learn.nets.contour import Contour
from molyneux.learn.nets.general import Dense, Series, Video, default_net
from molyneux.learn.nets.grid import GridConvolutional
from molyneux.learn.nets.images import Convolutional, Patches
from molyneux.learn.nets.lenet import MirroredLeNet
from molyneux.learn.nets.net import Decoder, Encoder, Net
from molyneux.learn.nets.normalised import NormalisedConvolutional
from molyneux.learn.nets.recurrent import Recurrent
from molyneux.learn.nets.recurrent_series import RecurrentSeries
from molyneux.learn.nets.text_encoders import Averaging, Slots
from molyneux.learn.nets.transformer import CausalTransformer, CharacterTransformer
from molyneux.learn.nets.what_where import WhatWhere

__all__ = [
    "Averaging",
    "CausalTransformer",
    "CharacterTransformer",
    "Contour",
    "Convolutional",
    "Decoder",
    "Dense",
    "Encoder",
    "GridConvolutional",
    "MirroredLeNet",
    "Net",
    "NormalisedConvolutional",
    "Patches",
    "Recurrent",
    "RecurrentSeries",
    "Series",
    "Slots",
    "Video",
    "WhatWhere",
    "default_net",
]
