"""Encoders and decoders by kind of modality."""

from molyneux.learn.nets.default import default_net
from molyneux.learn.nets.dense import Dense
from molyneux.learn.nets.net import Decoder, Net
from molyneux.learn.nets.patches import Patches

__all__ = ["Decoder", "Dense", "Net", "Patches", "default_net"]
