"""Encoders and decoders by kind of modality."""

from molyneux.learn.nets.averaging import Averaging
from molyneux.learn.nets.causal import CausalTransformer
from molyneux.learn.nets.convolutional import Convolutional
from molyneux.learn.nets.default import default_net
from molyneux.learn.nets.dense import Dense
from molyneux.learn.nets.net import Decoder, Net
from molyneux.learn.nets.patches import Patches
from molyneux.learn.nets.recurrent import Recurrent
from molyneux.learn.nets.series import Series
from molyneux.learn.nets.slots import Slots
from molyneux.learn.nets.transformer import CharacterTransformer

__all__ = [
    "Averaging",
    "CausalTransformer",
    "CharacterTransformer",
    "Convolutional",
    "Decoder",
    "Dense",
    "Net",
    "Patches",
    "Recurrent",
    "Series",
    "Slots",
    "default_net",
]
