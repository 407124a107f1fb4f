"""Nets of generative models: an encoder and a decoder for each kind of modality."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.encoders.nets.contour import Contour
    from molyneux.learn.encoders.nets.general import Dense, Series, Video, default_net
    from molyneux.learn.encoders.nets.grid import GridConvolutional
    from molyneux.learn.encoders.nets.images import Convolutional, Patches
    from molyneux.learn.encoders.nets.lenet import MirroredLeNet
    from molyneux.learn.encoders.nets.net import Decoder, Net, NetEncoder
    from molyneux.learn.encoders.nets.normalised import NormalisedConvolutional
    from molyneux.learn.encoders.nets.pixels import PixelGrid
    from molyneux.learn.encoders.nets.pooled_series import PooledSeries
    from molyneux.learn.encoders.nets.recurrent import Recurrent
    from molyneux.learn.encoders.nets.recurrent_series import RecurrentSeries
    from molyneux.learn.encoders.nets.text_encoders import Averaging, Slots
    from molyneux.learn.encoders.nets.transformer import CausalTransformer, CharacterTransformer
    from molyneux.learn.encoders.nets.what_where import WhatWhere

__all__ = [
    "Averaging",
    "CausalTransformer",
    "CharacterTransformer",
    "Contour",
    "Convolutional",
    "Decoder",
    "Dense",
    "GridConvolutional",
    "MirroredLeNet",
    "Net",
    "NetEncoder",
    "NormalisedConvolutional",
    "Patches",
    "PixelGrid",
    "PooledSeries",
    "Recurrent",
    "RecurrentSeries",
    "Series",
    "Slots",
    "Video",
    "WhatWhere",
    "default_net",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
