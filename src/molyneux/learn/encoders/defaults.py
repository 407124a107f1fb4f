"""The encoder that a modality has where none is chosen, by its kind."""

from __future__ import annotations

from molyneux.core import Modality
from molyneux.learn.encoders.encoding import ViewEncoder
from molyneux.learn.encoders.general import MLP, DeepSets
from molyneux.learn.encoders.pictures.convolutional import ResNet
from molyneux.learn.encoders.sequences import RecurrentSteps
from molyneux.learn.encoders.sounds import Spectrogram
from molyneux.learn.encoders.texts import RecurrentWords
from molyneux.learn.encoders.videos import Stepwise

_SHORTEST_SOUND = 1024
"""Samples from which on a sound is read as a spectrogram; shorter ones as a series."""


def default_encoder(modality: Modality) -> ViewEncoder:
    """A strong encoder of 64 to 128 numbers for each kind of modality, that trains on a CPU."""
    if modality.kind == "audio" and modality.shape[1] >= _SHORTEST_SOUND:
        return Spectrogram()
    encoders: dict[str, ViewEncoder] = {
        "audio": RecurrentSteps(),
        "image": ResNet(),
        "label": MLP((), 32),
        "series": RecurrentSteps(),
        "set": DeepSets(),
        "tabular": MLP((128,), 128),
        "text": RecurrentWords("gru", embedding=64, width=128),
        "video": Stepwise(),
    }
    return encoders[modality.kind]
